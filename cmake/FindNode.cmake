# Node.js with npm, new enough for viewer/: Node_EXECUTABLE, Node_NPM, Node_VERSION.
find_program(Node_EXECUTABLE NAMES node nodejs)
find_program(Node_NPM npm)
mark_as_advanced(Node_EXECUTABLE Node_NPM)
set(Node_VERSION "")
if(Node_EXECUTABLE)
    execute_process(COMMAND ${Node_EXECUTABLE} --version OUTPUT_VARIABLE Node_VERSION
                    OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET)
    string(REGEX REPLACE "^v" "" Node_VERSION "${Node_VERSION}")
endif()

include(FindPackageHandleStandardArgs)
find_package_handle_standard_args(Node REQUIRED_VARS Node_EXECUTABLE Node_NPM
                                  VERSION_VAR Node_VERSION)
