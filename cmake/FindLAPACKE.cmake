# LAPACKE and the LAPACK and BLAS below it: LAPACKE::LAPACKE, LAPACKE_LIBRARIES.
#
# The plain names liblapack and libblas come first: liblapacke is linked with those, and Debian's
# alternatives point them at OpenBLAS. Asking for libopenblas by name would load it twice.
find_path(LAPACKE_INCLUDE_DIR lapacke.h PATH_SUFFIXES lapacke openblas)
find_library(LAPACKE_LIBRARY NAMES lapacke openblas)
mark_as_advanced(LAPACKE_INCLUDE_DIR LAPACKE_LIBRARY)

if(NOT DEFINED BLA_VENDOR)
    set(BLA_VENDOR Generic)
    find_package(LAPACK QUIET)
    unset(BLA_VENDOR)
endif()
if(NOT LAPACK_FOUND)
    find_package(LAPACK QUIET)
endif()

include(FindPackageHandleStandardArgs)
find_package_handle_standard_args(
    LAPACKE REQUIRED_VARS LAPACKE_LIBRARY LAPACKE_INCLUDE_DIR LAPACK_FOUND
    REASON_FAILURE_MESSAGE "(Debian: apt-get install liblapacke-dev libopenblas-dev)")

if(LAPACKE_FOUND)
    set(LAPACKE_LIBRARIES ${LAPACKE_LIBRARY} ${LAPACK_LIBRARIES})
    list(REMOVE_DUPLICATES LAPACKE_LIBRARIES)
    if(NOT TARGET LAPACKE::LAPACKE)
        add_library(LAPACKE::LAPACKE INTERFACE IMPORTED)
        set_target_properties(
            LAPACKE::LAPACKE PROPERTIES INTERFACE_LINK_LIBRARIES "${LAPACKE_LIBRARIES}"
                                        INTERFACE_INCLUDE_DIRECTORIES "${LAPACKE_INCLUDE_DIR}")
    endif()
endif()
