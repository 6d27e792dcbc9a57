"""Computes in bursts and rests in between, like a user of a notebook.

nvshare run --memory 4Gi python examples/notebook.py --gib 3 --bursts 20
"""

import argparse
import time

from numba import cuda

BLOCK = 256


@cuda.jit
def scale(values, factor):
    """Multiply every value."""
    i = cuda.grid(1)
    if i < values.size:
        values[i] *= factor


def main() -> None:
    """Compute in bursts, and print how long the longest burst took."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--gib", type=float, default=3.0, help="size of the array, in GiB")
    parser.add_argument("--bursts", type=int, default=20, help="how often to compute")
    parser.add_argument("--think", type=float, default=0.1, help="seconds between bursts")
    wanted = parser.parse_args()

    values = cuda.device_array(int(wanted.gib * 2**30) // 4, dtype="float32")
    blocks = -(-values.size // BLOCK)
    longest = 0.0
    for _ in range(wanted.bursts):
        began = time.monotonic()
        for _ in range(10):
            scale[blocks, BLOCK](values, 1.01)
        cuda.synchronize()
        longest = max(longest, time.monotonic() - began)
        time.sleep(wanted.think)
    print(f"notebook: {wanted.bursts} bursts on {wanted.gib:g} GiB, the longest {longest:.2f} s")


if __name__ == "__main__":
    main()
