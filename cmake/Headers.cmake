# Gives three targets: nvshare_headers, the folders with cuda.h, cudaTypedefs.h and nvml.h; and nvshare_runtime12_headers and
# nvshare_runtime13_headers, those of the CUDA runtime in its two major versions, with the cuda.h that belongs to each.
#
# The headers are PyPI packages, so the Python that builds is the one to ask where they are. That holds in pip's isolated
# build environment (found through PYTHONPATH, which a child process inherits) as well as in a virtual environment.
# Whoever has the CUDA toolkits says -DNVSHARE_CUDA_INCLUDE=/usr/local/cuda-13/include and
# -DNVSHARE_CUDA12_INCLUDE=/usr/local/cuda-12/include, and no Python is asked.

set(NVSHARE_CUDA_INCLUDE "" CACHE STRING "Folder(s) with cuda.h, cuda_runtime_api.h and nvml.h of CUDA 13; empty: ask Python")
set(NVSHARE_CUDA12_INCLUDE "" CACHE STRING "Folder(s) with cuda.h and cuda_runtime_api.h of CUDA 12; empty: ask Python")

find_package(Python 3.10 REQUIRED COMPONENTS Interpreter)

# find_headers(VARIABLE PACKAGES ARGUMENT…): the folders, or an end that says which packages are missing.
function(find_headers variable packages)
    execute_process(
        COMMAND "${Python_EXECUTABLE}" "${CMAKE_CURRENT_FUNCTION_LIST_DIR}/find_headers.py" ${ARGN}
        OUTPUT_VARIABLE found
        OUTPUT_STRIP_TRAILING_WHITESPACE
        RESULT_VARIABLE result)
    if(NOT result EQUAL 0)
        message(FATAL_ERROR
            "The CUDA and NVML headers were not found by ${Python_EXECUTABLE}.\n"
            "Install them there (pip install ${packages}), or give their folders with "
            "-DNVSHARE_CUDA_INCLUDE=/path/to/include and -DNVSHARE_CUDA12_INCLUDE=/path/to/include.")
    endif()
    set(${variable} "${found}" PARENT_SCOPE)
endfunction()

set(nvshare_include ${NVSHARE_CUDA_INCLUDE})
if(NOT nvshare_include)
    find_headers(nvshare_include "'nvidia-cuda-runtime==13.4.*' 'nvidia-cuda-crt==13.4.*' 'nvidia-nvml-dev==13.4.*'"
        cuda.h cudaTypedefs.h nvml.h cuda_runtime_api.h crt/host_defines.h)
endif()
set(nvshare_include12 ${NVSHARE_CUDA12_INCLUDE})
if(NOT nvshare_include12)
    find_headers(nvshare_include12 "'nvidia-cuda-runtime-cu12==12.9.*'"
        --in nvidia/cuda_runtime/include cuda.h cudaTypedefs.h cuda_runtime_api.h)
endif()
message(STATUS "CUDA headers: ${nvshare_include} ${nvshare_include12}")

# SYSTEM: warnings inside the vendor's headers are not ours to fix.
add_library(nvshare_headers INTERFACE)
target_include_directories(nvshare_headers SYSTEM INTERFACE ${nvshare_include})
add_library(nvshare_runtime13_headers INTERFACE)
target_include_directories(nvshare_runtime13_headers SYSTEM INTERFACE ${nvshare_include})
# The runtime of CUDA 12 comes without crt/host_defines.h, and does with that of 13: it has nothing but macros for attributes.
add_library(nvshare_runtime12_headers INTERFACE)
target_include_directories(nvshare_runtime12_headers SYSTEM INTERFACE ${nvshare_include12} ${nvshare_include})
