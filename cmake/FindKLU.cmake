# KLU, the sparse LU factorisation of SuiteSparse (LGPL): KLU::KLU, KLU_LIBRARIES.
# Only KLU and what it stands on; UMFPACK, CHOLMOD and SPQR are GPL and must stay out.
find_path(KLU_INCLUDE_DIR klu.h PATH_SUFFIXES suitesparse)
set(KLU_LIBRARIES "")
set(klu_library_variables "")
foreach(name klu btf amd colamd suitesparseconfig)
    find_library(KLU_${name}_LIBRARY ${name})
    mark_as_advanced(KLU_${name}_LIBRARY)
    list(APPEND KLU_LIBRARIES ${KLU_${name}_LIBRARY})
    list(APPEND klu_library_variables KLU_${name}_LIBRARY)
endforeach()
mark_as_advanced(KLU_INCLUDE_DIR)

include(FindPackageHandleStandardArgs)
find_package_handle_standard_args(
    KLU REQUIRED_VARS ${klu_library_variables} KLU_INCLUDE_DIR
    REASON_FAILURE_MESSAGE "(Debian: apt-get install libsuitesparse-dev)")

if(KLU_FOUND AND NOT TARGET KLU::KLU)
    add_library(KLU::KLU INTERFACE IMPORTED)
    set_target_properties(
        KLU::KLU PROPERTIES INTERFACE_LINK_LIBRARIES "${KLU_LIBRARIES}"
                            INTERFACE_INCLUDE_DIRECTORIES "${KLU_INCLUDE_DIR}")
endif()
