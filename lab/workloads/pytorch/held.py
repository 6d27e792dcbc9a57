"""Runs a PyTorch program as it is, but held: as `--held` does for the programs of ../driver.

PyTorch is loaded, "ready" is printed, and the program begins on the GPU and at the instant that a
line on standard input names. At its end a line of JSON says how many emulated seconds it took.

One thing differs: tensors of ones on the CPU are not filled. Filling takes a machine some seconds,
which at speed 20 are minutes, and an emulated GPU without data reads none of it.
`--startup` stands for everything that a program does before it reaches the GPU.
"""

import argparse
import contextlib
import json
import os
import runpy
import sys
import time
from pathlib import Path

import torch
import tqdm  # noqa: F401  # the program will want it, and loading takes time


def main() -> None:
    """Wait, run the program, and print its time."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--startup", type=float, default=0.0, help="emulated seconds")
    parser.add_argument("program")
    parser.add_argument("arguments", nargs=argparse.REMAINDER)
    told = parser.parse_args()
    speed = float(os.environ.get("NVSHARE_EMULATOR_SPEED", "1"))

    print("ready", flush=True)
    gpu, instant = sys.stdin.readline().split()
    os.environ["CUDA_VISIBLE_DEVICES"] = gpu
    time.sleep(max(0.0, float(instant) + told.startup / speed - time.monotonic()))
    run(told.program, told.arguments)
    seconds = (time.monotonic() - float(instant)) * speed
    print(json.dumps({"seconds": round(seconds, 3)}), flush=True)
    # The time that a machine takes to shut PyTorch down would be multiplied by the speed, too.
    os._exit(0)


def run(program: str, arguments: list[str]) -> None:
    """Run the program in this process. Its output goes to the same place as its progress."""
    torch.ones = torch.empty
    sys.argv = [program, *arguments]
    sys.path.insert(0, str(Path(program).parent))
    with contextlib.redirect_stdout(sys.stderr):
        runpy.run_path(program, run_name="__main__")


if __name__ == "__main__":
    main()
