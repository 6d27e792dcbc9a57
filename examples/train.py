"""Computes all the time on one large array, like a training job.

nvshare run python examples/train.py --gib 10 --steps 10000
"""

import argparse
import time

from numba import cuda

BLOCK = 256


@cuda.jit
def step(weights, rate):
    """Add to every weight."""
    i = cuda.grid(1)
    if i < weights.size:
        weights[i] += rate


def main() -> None:
    """Allocate, compute, and print how long it took."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--gib", type=float, default=13.0, help="size of the array, in GiB")
    parser.add_argument("--steps", type=int, default=20_000, help="how often to compute on it")
    wanted = parser.parse_args()

    weights = cuda.device_array(int(wanted.gib * 2**30) // 4, dtype="float32")
    blocks = -(-weights.size // BLOCK)
    began = time.monotonic()
    for number in range(1, wanted.steps + 1):
        step[blocks, BLOCK](weights, 0.5)
        if number % 100 == 0:
            cuda.synchronize()
    seconds = time.monotonic() - began
    print(f"train: {wanted.steps} steps on {wanted.gib:g} GiB in {seconds:.1f} s")


if __name__ == "__main__":
    main()
