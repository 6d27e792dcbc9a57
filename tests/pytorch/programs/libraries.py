"""Functions of libraries with a CUDA runtime built in: they do not start on emulated GPUs.

A program gets an error, and lives on.
"""

from collections.abc import Callable

import torch


def attempt(name: str, call: Callable[[], object]) -> None:
    try:
        call()
        print(name, "works")
    except RuntimeError as error:
        print(name, str(error).split("\n")[0])


x = torch.ones(64, 64, device="cuda")
image, kernel = torch.ones(1, 3, 8, 8, device="cuda"), torch.ones(4, 3, 3, 3, device="cuda")
attempt("matmul", lambda: x @ x)
attempt("convolution", lambda: torch.nn.functional.conv2d(image, kernel))
attempt("solve", lambda: torch.linalg.solve(x, x))
attempt("fft", lambda: torch.fft.fft(x))
attempt("addition", lambda: x + x)
data = torch.arange(10.0)
print("goes on", torch.equal(data.cuda().cpu(), data))
