"""Tiny additions, as fast as they can be launched.

Each line on standard input is a number of additions; prints the processor time that they took.
"""

import sys
import time

import torch

x, y = torch.ones(16, device="cuda"), torch.ones(16, device="cuda")
for line in sys.stdin:
    count = range(int(line))
    began = time.thread_time()
    for _ in count:
        torch.add(x, y)
    taken = time.thread_time() - began
    torch.cuda.synchronize()
    print(taken, flush=True)
