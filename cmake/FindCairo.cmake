# Cairo: Cairo::Cairo, Cairo_LIBRARIES.
find_path(Cairo_INCLUDE_DIR cairo.h PATH_SUFFIXES cairo)
find_library(Cairo_LIBRARY cairo)
mark_as_advanced(Cairo_INCLUDE_DIR Cairo_LIBRARY)

include(FindPackageHandleStandardArgs)
find_package_handle_standard_args(
    Cairo REQUIRED_VARS Cairo_LIBRARY Cairo_INCLUDE_DIR
    REASON_FAILURE_MESSAGE "(Debian: apt-get install libcairo2-dev)")

if(Cairo_FOUND)
    set(Cairo_LIBRARIES ${Cairo_LIBRARY})
    if(NOT TARGET Cairo::Cairo)
        add_library(Cairo::Cairo INTERFACE IMPORTED)
        set_target_properties(
            Cairo::Cairo PROPERTIES INTERFACE_LINK_LIBRARIES "${Cairo_LIBRARY}"
                                    INTERFACE_INCLUDE_DIRECTORIES "${Cairo_INCLUDE_DIR}")
    endif()
endif()
