# libfyaml, a YAML parser (MIT): LibFyaml::LibFyaml, LibFyaml_LIBRARIES.
find_path(LibFyaml_INCLUDE_DIR libfyaml.h)
find_library(LibFyaml_LIBRARY fyaml)
mark_as_advanced(LibFyaml_INCLUDE_DIR LibFyaml_LIBRARY)

include(FindPackageHandleStandardArgs)
find_package_handle_standard_args(
    LibFyaml REQUIRED_VARS LibFyaml_LIBRARY LibFyaml_INCLUDE_DIR
    REASON_FAILURE_MESSAGE "(Debian: apt-get install libfyaml-dev)")

if(LibFyaml_FOUND)
    set(LibFyaml_LIBRARIES ${LibFyaml_LIBRARY})
    if(NOT TARGET LibFyaml::LibFyaml)
        add_library(LibFyaml::LibFyaml INTERFACE IMPORTED)
        set_target_properties(
            LibFyaml::LibFyaml PROPERTIES INTERFACE_LINK_LIBRARIES "${LibFyaml_LIBRARY}"
                                          INTERFACE_INCLUDE_DIRECTORIES "${LibFyaml_INCLUDE_DIR}")
    endif()
endif()
