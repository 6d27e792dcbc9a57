# Cross-compiles for aarch64 with Debian's compiler (gcc-aarch64-linux-gnu, libc6-dev-arm64-cross):
#     cmake -S . -B build/aarch64 -DCMAKE_TOOLCHAIN_FILE=$PWD/cmake/aarch64.cmake
# The headers of CUDA are the same for every machine, and come from the Python that builds, as always.
set(CMAKE_SYSTEM_NAME Linux)
set(CMAKE_SYSTEM_PROCESSOR aarch64)
set(CMAKE_C_COMPILER aarch64-linux-gnu-gcc)

# Libraries and headers of the C library are those of the other machine; programs that the build runs are of this one.
set(CMAKE_FIND_ROOT_PATH /usr/aarch64-linux-gnu)
set(CMAKE_FIND_ROOT_PATH_MODE_PROGRAM NEVER)
set(CMAKE_FIND_ROOT_PATH_MODE_LIBRARY ONLY)
set(CMAKE_FIND_ROOT_PATH_MODE_INCLUDE ONLY)
