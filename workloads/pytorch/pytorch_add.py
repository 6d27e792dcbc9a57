"""z = x + y, again and again, with one synchronisation at the end. Needs PyTorch and a GPU.

Three programs in one: --size and --iterations choose between pytorch-add (the defaults),
pytorch-add-small (14000, 40000) and, with --sleep 0.1, pytorch-add-idle-small (14000, 4000).
"""

import argparse
import time

import torch
from tqdm import tqdm


def main() -> None:
    """Add two matrices on the GPU and say how long it took."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--size", type=int, default=28000)
    parser.add_argument("--iterations", type=int, default=4000)
    parser.add_argument("--sleep", type=float, default=0.0, help="seconds after each iteration")
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
