"""pytorch-add-small: as pytorch-add, with a quarter of the memory and ten times the iterations."""

from pytorch_add import main

if __name__ == "__main__":
    main(size=14_000, iterations=40_000)
