"""pytorch-add: z = x + y, again and again, with one synchronisation at the end.

Needs PyTorch, tqdm and a GPU with 12 GB. The two smaller workloads are the same with other numbers.
"""

import argparse
import time

import torch
from tqdm import tqdm


def main(size: int = 28_000, iterations: int = 4_000, sleep: float = 0.0) -> None:
    """Add two matrices of ones on the GPU, and print the time it took."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--size", type=int, default=size, help="rows and columns")
    parser.add_argument("--iterations", type=int, default=iterations)
    parser.add_argument("--sleep", type=float, default=sleep, help="seconds after each iteration")
    arguments = parser.parse_args()

    began = time.monotonic()
    device = torch.device("cuda")
    shape = (arguments.size, arguments.size)
    x = torch.ones(shape, dtype=torch.float32).to(device)
    y = torch.ones(shape, dtype=torch.float32).to(device)
    for _ in tqdm(range(arguments.iterations)):
        z = torch.add(x, y)
        if arguments.sleep:
            torch.cuda.synchronize()
            time.sleep(arguments.sleep)
    torch.cuda.synchronize()
    print(f"{z.device}: {time.monotonic() - began:.1f} s")


if __name__ == "__main__":
    main()
