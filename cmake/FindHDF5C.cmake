# HDF5's C library, serial: HDF5C::HDF5C, HDF5C_LIBRARIES.
#
# CMake's own FindHDF5 asks the compiler wrapper and hands on all that HDF5 itself was linked
# with. Debian's name for the library comes first: it lies where linkers look without being told.
find_path(HDF5C_INCLUDE_DIR hdf5.h PATH_SUFFIXES hdf5/serial)
find_library(HDF5C_LIBRARY NAMES hdf5_serial hdf5 PATH_SUFFIXES hdf5/serial)
mark_as_advanced(HDF5C_INCLUDE_DIR HDF5C_LIBRARY)

include(FindPackageHandleStandardArgs)
find_package_handle_standard_args(
    HDF5C REQUIRED_VARS HDF5C_LIBRARY HDF5C_INCLUDE_DIR
    REASON_FAILURE_MESSAGE "(Debian: apt-get install libhdf5-dev)")

if(HDF5C_FOUND)
    set(HDF5C_LIBRARIES ${HDF5C_LIBRARY})
    if(NOT TARGET HDF5C::HDF5C)
        add_library(HDF5C::HDF5C INTERFACE IMPORTED)
        set_target_properties(
            HDF5C::HDF5C PROPERTIES INTERFACE_LINK_LIBRARIES "${HDF5C_LIBRARIES}"
                                    INTERFACE_INCLUDE_DIRECTORIES "${HDF5C_INCLUDE_DIR}")
    endif()
endif()
