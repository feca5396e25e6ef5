# The three libraries, each compiled once and archived twice:
#
#     libgalpha-core   base, lie, la, system, integrate, handle, analysis   KLU if wanted, threads
#     libgalpha        data, element, model, api                            libfyaml
#     libgalpha-io     plot, io                                             HDF5, Cairo, zlib
#
# A library uses functions of those below it that are not public. The shared libraries export
# these under a version of their own, GALPHA_PRIVATE_<version>, so that libraries of different
# versions do not load together; public functions have the version GALPHA_<major>.<minor>.

# The functions that headers declare with GA_API.
function(galpha_public_functions result)
    set(names "")
    foreach(header IN LISTS ARGN)
        set(path ${PROJECT_SOURCE_DIR}/include/galpha/${header}.h)
        set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${path})
        file(READ ${path} text)
        string(REPLACE ";" "," text "${text}")
        string(REGEX MATCHALL "GA_API[^,(]*[ *]ga_[a-z0-9_]+\\(" found "${text}")
        foreach(declaration IN LISTS found)
            string(REGEX REPLACE ".*[ *](ga_[a-z0-9_]+)\\($" "\\1" name "${declaration}")
            list(APPEND names ${name})
        endforeach()
    endforeach()
    set(${result} ${names} PARENT_SCOPE)
endfunction()

# galpha_library(NAME FOLDERS ... HEADERS ... [USES targets ... FILES of these ...] [BELOW target]
#                [SOURCES more ...])
# gives galpha_NAME and galpha_NAME_static (galpha and galpha_static for the name "galpha").
function(galpha_library name)
    cmake_parse_arguments(arg "" "BELOW" "FOLDERS;HEADERS;USES;FILES;SOURCES" ${ARGN})
    if(name STREQUAL "galpha")
        set(shared galpha)
        set(output galpha)
        set(exported galpha)
    else()
        set(shared galpha_${name})
        set(output galpha-${name})
        set(exported ${name})
    endif()
    set(static ${shared}_static)
    set(objects ${shared}_objects)

    set(sources ${arg_SOURCES})
    foreach(folder IN LISTS arg_FOLDERS)
        file(GLOB_RECURSE found CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/src/${folder}/*.c)
        list(APPEND sources ${found})
    endforeach()
    # What takes KLU or its helpers, and what takes its place.
    if(GALPHA_KLU)
        list(FILTER sources EXCLUDE REGEX "/(klu|complex|row_order)_plain\\.c$")
    else()
        list(FILTER sources EXCLUDE REGEX "/(klu|complex_klu|row_order_colamd)\\.c$")
    endif()
    add_library(${objects} OBJECT ${sources})
    # Seen by the libraries above; within a library calls go straight to the function.
    set_target_properties(${objects} PROPERTIES POSITION_INDEPENDENT_CODE ON
                                                C_VISIBILITY_PRESET default)
    target_compile_options(${objects} PRIVATE -fno-semantic-interposition)
    target_include_directories(${objects} PRIVATE ${PROJECT_SOURCE_DIR}/include
                                                  ${PROJECT_SOURCE_DIR}/src)
    target_link_libraries(${objects} PRIVATE ${arg_USES})

    add_library(${shared} SHARED $<TARGET_OBJECTS:${objects}>)
    add_library(${static} STATIC $<TARGET_OBJECTS:${objects}>)
    add_library(galpha::${exported} ALIAS ${shared})
    add_library(galpha::${exported}_static ALIAS ${static})
    foreach(library ${shared} ${static})
        target_include_directories(
            ${library} PUBLIC $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}/include>
                              $<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}>)
        target_link_libraries(${library} PRIVATE ${arg_USES} Threads::Threads ${CMAKE_DL_LIBS} m)
        set_target_properties(${library} PROPERTIES LINKER_LANGUAGE C OUTPUT_NAME ${output})
    endforeach()
    if(arg_BELOW)
        target_link_libraries(${shared} PUBLIC ${arg_BELOW})
        target_link_libraries(${static} PUBLIC ${arg_BELOW}_static)
    endif()

    galpha_public_functions(public ${arg_HEADERS})
    string(REPLACE ";" "; " public "${public}")
    set(script ${CMAKE_BINARY_DIR}/${output}.map)
    file(
        CONFIGURE
        OUTPUT ${script}
        CONTENT
            "GALPHA_${PROJECT_VERSION_MAJOR}.${PROJECT_VERSION_MINOR} { global: ${public}; };
GALPHA_PRIVATE_${PROJECT_VERSION} { global: ga_*; local: *; };
")
    # Before 1.0 a minor version may change the binary interface, so it is part of the soname.
    set_target_properties(
        ${shared} PROPERTIES VERSION ${PROJECT_VERSION}
                             SOVERSION ${PROJECT_VERSION_MAJOR}.${PROJECT_VERSION_MINOR}
                             EXPORT_NAME ${exported} INSTALL_RPATH "$ORIGIN"
                             LINK_DEPENDS ${script})
    set_target_properties(${static} PROPERTIES EXPORT_NAME ${exported}_static)
    target_link_options(${shared} PRIVATE LINKER:--as-needed LINKER:-Bsymbolic
                        LINKER:--version-script=${script})
    if(NOT GALPHA_SANITIZE)
        target_link_options(${shared} PRIVATE LINKER:--no-undefined)
    endif()

    # pkg-config
    set(pc_name ${output})
    set(pc_requires "")
    if(arg_BELOW)
        get_target_property(below_output ${arg_BELOW} OUTPUT_NAME)
        set(pc_requires ${below_output})
    endif()
    set(pc_private_libs "")
    foreach(file IN LISTS arg_FILES)
        get_filename_component(file_name ${file} NAME_WE)
        string(REGEX REPLACE "^(lib|-l)" "-l" file_name ${file_name})
        string(APPEND pc_private_libs "${file_name} ")
    endforeach()
    configure_file(${PROJECT_SOURCE_DIR}/cmake/galpha.pc.in ${CMAKE_BINARY_DIR}/${output}.pc @ONLY)
    install(FILES ${CMAKE_BINARY_DIR}/${output}.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)

    # One file each, because only users of a static library need what it stands on.
    install(TARGETS ${shared} EXPORT galpha-${exported}-shared)
    install(TARGETS ${static} EXPORT galpha-${exported}-static)
    foreach(kind shared static)
        install(EXPORT galpha-${exported}-${kind} NAMESPACE galpha:: DESTINATION ${package_dir}
                FILE galpha-${exported}-${kind}.cmake)
    endforeach()
endfunction()
