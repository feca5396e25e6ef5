# The page of `galpha view` as a C array: installs what viewer/package-lock.json names, bundles
# viewer/, and embeds the page.
#
#   cmake -DSOURCE=viewer -DBUILD=dir -DOUTPUT=file.c -DVERSION=0.1.0 [-DNPM=npm] [-DREQUIRED=ON]
#         -P build_viewer.cmake
#
# Without NPM the array is empty. Where npm fails, because there is no network for instance, the
# program is built without the viewer, loudly; with REQUIRED that is an error. BUILD/done says
# that the page is in.

set(page "")
set(embedded "")
set(length 0)

function(run what)
    execute_process(COMMAND ${NPM} ${ARGN} WORKING_DIRECTORY ${SOURCE} RESULT_VARIABLE result
                    OUTPUT_VARIABLE output ERROR_VARIABLE output)
    if(NOT result EQUAL 0)
        set(problem "${what} failed:\n${output}" PARENT_SCOPE)
    endif()
endfunction()

file(MAKE_DIRECTORY ${BUILD})
file(REMOVE ${BUILD}/done)
if(NPM)
    set(problem "")
    set(installed ${SOURCE}/node_modules/.galpha-installed)
    if(NOT EXISTS ${installed} OR ${SOURCE}/package-lock.json IS_NEWER_THAN ${installed})
        run("npm ci" ci --no-audit --no-fund --ignore-scripts --loglevel=error)
        if(NOT problem)
            file(TOUCH ${installed})
        endif()
    endif()
    if(NOT problem)
        run("npm run build" run build --silent -- --outDir ${BUILD}/dist --emptyOutDir
            --logLevel warn)
    endif()
    if(NOT problem AND NOT EXISTS ${BUILD}/dist/index.html)
        set(problem "npm run build made no dist/index.html")
    endif()
    if(NOT problem)
        file(READ ${BUILD}/dist/index.html page HEX)
        string(REPEAT "[0-9a-f]" 32 row)
        string(REGEX REPLACE "(${row})" "\\1\n" embedded "${page}")
        string(REGEX REPLACE "([0-9a-f][0-9a-f])" "0x\\1," embedded "${embedded}")
        string(LENGTH "${page}" length)
        math(EXPR length "${length} / 2")
        file(TOUCH ${BUILD}/done)
    elseif(REQUIRED)
        message(FATAL_ERROR "${problem}\n(-DGALPHA_VIEWER=OFF builds without the viewer)")
    else()
        message(WARNING "${problem}\n`galpha view` is left out of this build.")
    endif()
endif()

file(WRITE ${OUTPUT} "/* Made from viewer/. */
#include \"io/viewer.h\"

const unsigned char ga_viewer_page[] = {
${embedded}0};
const size_t ga_viewer_length = ${length};
const char ga_viewer_generator[] = \"galpha ${VERSION}\";
")
