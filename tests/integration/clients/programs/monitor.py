"""nvidia-ml-py lists the processes on GPUs: GPU, process, MiB."""

import pynvml

pynvml.nvmlInit()
for index in range(pynvml.nvmlDeviceGetCount()):
    device = pynvml.nvmlDeviceGetHandleByIndex(index)
    for process in pynvml.nvmlDeviceGetComputeRunningProcesses(device):
        print(index, process.pid, process.usedGpuMemory // 2**20)
pynvml.nvmlShutdown()
