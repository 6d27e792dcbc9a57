"""pytorch-phases: memory that grows and shrinks, and additions to some of it, phase by phase.

The phases of a scenario of the simulator, as far as PyTorch can do them: memory, copy_in,
iterations and touch, all in bytes and in whole blocks. An iteration is one operation per block.
"""

import argparse

import torch
from tqdm import tqdm


def fields(text: str) -> dict[str, int]:
    """Read "memory=1073741824,iterations=100"."""
    pairs = (word.split("=") for word in text.split(","))
    return {name: int(value) for name, value in pairs}


def resize(blocks: list[torch.Tensor], block: int, wanted: int) -> None:
    """Have so many blocks on the GPU, and no others in the allocator's cache."""
    if wanted < len(blocks):
        del blocks[wanted:]
        torch.cuda.empty_cache()
    while len(blocks) < wanted:
        blocks.append(torch.empty(block // 4, device="cuda"))


def main() -> None:
    """Go through the phases."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--block", type=int, required=True, help="bytes in a tensor")
    parser.add_argument("--phase", type=fields, action="append", required=True)
    arguments = parser.parse_args()

    size = arguments.block
    blocks: list[torch.Tensor] = []
    for phase in arguments.phase:
        resize(blocks, size, phase["memory"] // size)
        newest = blocks[::-1]
        for block in newest[: phase["copy_in"] // size]:
            block.copy_(torch.ones(size // 4))
        for _ in tqdm(range(phase["iterations"])):
            for block in newest[: phase["touch"] // size]:
                block.add_(1)
        torch.cuda.synchronize()


if __name__ == "__main__":
    main()
