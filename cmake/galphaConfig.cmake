# find_package(galpha)                      gives galpha::galpha, the shared library
# find_package(galpha COMPONENTS static)    gives galpha::galpha_static as well, and looks for
#                                           what it must be linked with: KLU, libfyaml, HDF5,
#                                           Cairo, zlib
include(CMakeFindDependencyMacro)

set(galpha_shared_FOUND TRUE)
include(${CMAKE_CURRENT_LIST_DIR}/galpha-shared.cmake)

if("static" IN_LIST galpha_FIND_COMPONENTS)
    list(PREPEND CMAKE_MODULE_PATH ${CMAKE_CURRENT_LIST_DIR})
    find_dependency(KLU)
    find_dependency(LibFyaml)
    find_dependency(HDF5C)
    find_dependency(Cairo)
    find_dependency(ZLIB)
    find_dependency(Threads)
    list(POP_FRONT CMAKE_MODULE_PATH)
    include(${CMAKE_CURRENT_LIST_DIR}/galpha-static.cmake)
    set(galpha_static_FOUND TRUE)
endif()

foreach(component IN LISTS galpha_FIND_COMPONENTS)
    if(galpha_FIND_REQUIRED_${component} AND NOT galpha_${component}_FOUND)
        set(galpha_FOUND FALSE)
        set(galpha_NOT_FOUND_MESSAGE "galpha has no component '${component}'; it has shared, static")
    endif()
endforeach()
