"""pytorch-infer: requests in bursts, each answered by replaying a CUDA graph.

Needs PyTorch and tqdm; elementwise operations only, so that it runs on emulated GPUs too.
"""

import argparse
import itertools
import time

import torch
from tqdm import tqdm

WIDTH = 1 << 18
BATCHES = (1, 4, 16)


class Service:
    """The graph for one size of batch, with the memory that it always uses."""

    def __init__(self, batch: int, layers: int) -> None:
        self.input = torch.zeros(batch, WIDTH, device="cuda")
        self.weights = [torch.ones(WIDTH, device="cuda") for _ in range(layers)]
        self.request = torch.zeros(batch, WIDTH, pin_memory=True)
        self.answer = torch.zeros(batch, WIDTH, pin_memory=True)
        # A graph may not be captured before everything in it has run once.
        side = torch.cuda.Stream()
        side.wait_stream(torch.cuda.current_stream())
        with torch.cuda.stream(side):
            self._forward()
        torch.cuda.current_stream().wait_stream(side)
        self.graph = torch.cuda.CUDAGraph()
        with torch.cuda.graph(self.graph):
            self.output = self._forward()

    def _forward(self) -> torch.Tensor:
        x = self.input
        for weight in self.weights:
            x = torch.sigmoid(x * weight) + x
        return x

    def serve(self) -> float:
        """Answer one request; return the milliseconds that it took."""
        began = time.perf_counter()
        self.input.copy_(self.request, non_blocking=True)
        self.graph.replay()
        self.answer.copy_(self.output, non_blocking=True)
        torch.cuda.current_stream().synchronize()
        return (time.perf_counter() - began) * 1000


def main() -> None:
    """Serve bursts of requests, and print how long they had to wait."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--bursts", type=int, default=100)
    parser.add_argument("--requests", type=int, default=20, help="in each burst")
    parser.add_argument("--layers", type=int, default=12)
    parser.add_argument("--sleep", type=float, default=0.2, help="seconds between bursts")
    arguments = parser.parse_args()

    services = itertools.cycle([Service(batch, arguments.layers) for batch in BATCHES])
    times: list[float] = []
    for _ in tqdm(range(arguments.bursts)):
        times.extend(next(services).serve() for _ in range(arguments.requests))
        time.sleep(arguments.sleep)
    times.sort()
    print(f"{len(times)} requests")
    print(f"p50 {times[len(times) // 2]:.2f} ms, p99 {times[len(times) * 99 // 100]:.2f} ms")


if __name__ == "__main__":
    main()
