# Gives the target nvshare_headers: the folders with cuda.h, cudaTypedefs.h and nvml.h.
#
# The headers are PyPI packages, so the Python that builds is the one to ask where they are. That holds in pip's isolated
# build environment (found through PYTHONPATH, which a child process inherits) as well as in a virtual environment.
# Whoever has the CUDA toolkit says -DNVSHARE_CUDA_INCLUDE=/usr/local/cuda/include, and no Python is asked.

set(NVSHARE_CUDA_INCLUDE "" CACHE STRING "Folder(s) with cuda.h and nvml.h; empty: ask Python")

find_package(Python 3.10 REQUIRED COMPONENTS Interpreter)

set(nvshare_include ${NVSHARE_CUDA_INCLUDE})
if(NOT nvshare_include)
    execute_process(
        COMMAND "${Python_EXECUTABLE}" "${CMAKE_CURRENT_LIST_DIR}/find_headers.py" cuda.h cudaTypedefs.h nvml.h
        OUTPUT_VARIABLE nvshare_include
        OUTPUT_STRIP_TRAILING_WHITESPACE
        RESULT_VARIABLE nvshare_result)
    if(NOT nvshare_result EQUAL 0)
        message(FATAL_ERROR
            "The CUDA and NVML headers were not found by ${Python_EXECUTABLE}.\n"
            "Install them there (pip install 'nvidia-cuda-runtime==13.4.*' 'nvidia-nvml-dev==13.4.*'), or give their "
            "folder with -DNVSHARE_CUDA_INCLUDE=/path/to/include.")
    endif()
endif()
message(STATUS "CUDA headers: ${nvshare_include}")

# SYSTEM: warnings inside the vendor's headers are not ours to fix.
add_library(nvshare_headers INTERFACE)
target_include_directories(nvshare_headers SYSTEM INTERFACE ${nvshare_include})
