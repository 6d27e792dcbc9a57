"""pytorch-train: a training loop of elementwise operations that fills the GPU's memory.

Batches come in all sizes, so that the caching allocator seldom has a block that fits, and has to
give cached ones back and ask for others. A batch that is too large is halved, as people do.
Needs PyTorch and tqdm; no matrix multiplication, so that it runs on emulated GPUs too.
"""

import argparse

import torch
from tqdm import tqdm

WIDTH = 1 << 16
# One sample of one layer keeps two tensors for the backward pass: its input, and the argument of
# its nonlinearity.
BYTES_PER_SAMPLE = 2 * WIDTH * 4
# Fractions of the largest batch, without a pattern that the allocator could adapt to.
SIZES = (1.0, 0.31, 0.83, 0.47, 0.97, 0.13, 0.71, 0.59)


class Model(torch.nn.Module):
    """Layers that scale, shift and apply a nonlinearity."""

    def __init__(self, layers: int) -> None:
        super().__init__()
        self.scales = torch.nn.ParameterList([torch.ones(WIDTH) for _ in range(layers)])
        self.shifts = torch.nn.ParameterList([torch.zeros(WIDTH) for _ in range(layers)])

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        """Apply all layers, and keep the tensors that the backward pass needs."""
        for scale, shift in zip(self.scales, self.shifts, strict=True):
            x = torch.nn.functional.silu(x * scale + shift)
        return x


def main() -> None:
    """Train, and print the statistics of the allocator."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--steps", type=int, default=200)
    parser.add_argument("--layers", type=int, default=24)
    parser.add_argument("--fill", type=float, default=1.0, help="largest batch, of free memory")
    arguments = parser.parse_args()

    model = Model(arguments.layers).to("cuda")
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01, momentum=0.9)
    free, _ = torch.cuda.mem_get_info()
    largest = int(arguments.fill * free / (arguments.layers * BYTES_PER_SAMPLE))
    halved = 0
    for step in tqdm(range(arguments.steps)):
        batch = max(1, int(largest * SIZES[step % len(SIZES)]))
        while True:
            try:
                train(model, optimizer, batch)
                break
            except torch.OutOfMemoryError:
                halved += 1
                batch //= 2
    stats = torch.cuda.memory_stats()
    peak, retries = stats["allocated_bytes.all.peak"], stats["num_alloc_retries"]
    print(f"{arguments.steps} steps, {halved} batches halved")
    print(f"peak {peak >> 20} MiB, retries {retries}")


def train(model: Model, optimizer: torch.optim.Optimizer, batch: int) -> None:
    """Take one step."""
    x = torch.ones(batch, WIDTH, device="cuda")
    optimizer.zero_grad()
    loss = (model(x) - 1).square().mean()
    loss.backward()
    optimizer.step()


if __name__ == "__main__":
    main()
