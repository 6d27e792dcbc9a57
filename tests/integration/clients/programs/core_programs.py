"""cuda.core: C++ compiled to PTX and to machine code, linked, and launched.

Nothing here checks the results of kernels: on an emulated GPU they take time and have no effect.
"""

import numpy as np
from cuda.core import (
    Device,
    LaunchConfig,
    Linker,
    LinkerOptions,
    Program,
    ProgramOptions,
    VirtualMemoryResource,
    launch,
)

SOURCE = """
extern "C" __global__ void stretch(float *data, char step, double scale, int count) {
    __shared__ float tile[128];
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    tile[threadIdx.x] = i < count ? data[i] : 0;
    __syncthreads();
    if (i < count)
        data[i] = tile[blockDim.x - 1 - threadIdx.x] * scale + step;
}

template <typename T> __global__ void set(T *data, T value) { data[threadIdx.x] = value; }
"""

device = Device(0)
device.set_current()
stream = device.create_stream()
architecture = f"sm_{device.arch}"
COUNT = 2**20
data = device.allocate(COUNT * 4, stream=stream)


def show(what: str, code: object) -> None:
    """Describe the kernel of a program, and launch it."""
    kernel = code.get_kernel("stretch")
    print(f"{what}:", [(each.offset, each.size) for each in kernel.arguments_info])
    print("  shared memory:", kernel.attributes.shared_size_bytes)
    print("  uses registers:", kernel.attributes.num_regs > 0)
    fit = kernel.occupancy.max_active_blocks_per_multiprocessor(128, 0)
    print("  blocks that fit a multiprocessor:", fit)
    config = LaunchConfig(grid=COUNT // 128, block=128)
    launch(stream, config, kernel, data, np.int8(1), 2.0, np.int32(COUNT))
    stream.sync()


for kind in ("ptx", "cubin"):
    program = Program(SOURCE, "c++", ProgramOptions(arch=architecture))
    show(kind, program.compile(kind))
program = Program(SOURCE, "c++", ProgramOptions(arch=architecture, relocatable_device_code=True))
show(
    "linked", Linker(program.compile("ptx"), options=LinkerOptions(arch=architecture)).link("cubin")
)

program = Program(SOURCE, "c++", ProgramOptions(arch=architecture))
code = program.compile("cubin", name_expressions=("set<double>", "set<char>"))
for name in ("set<double>", "set<char>"):
    kernel = code.get_kernel(name)
    print(f"{name}:", [each.size for each in kernel.arguments_info])
launch(stream, LaunchConfig(grid=1, block=32), kernel, data, np.int8(1))
stream.sync()

virtual = VirtualMemoryResource(device).allocate(2**21, stream=stream)
print("virtual memory:", virtual.size)
virtual.close()
data.close(stream)
stream.sync()
