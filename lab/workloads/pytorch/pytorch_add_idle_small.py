"""pytorch-add-idle-small: as pytorch-add-small, waiting for each result, and then for a while."""

from pytorch_add import main

if __name__ == "__main__":
    main(size=14_000, iterations=4_000, sleep=0.1)
