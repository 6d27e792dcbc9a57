"""pytorch-add-idle-small: as pytorch-add-small, but it waits for each result, and then sleeps."""

from pytorch_add import main

if __name__ == "__main__":
    main(size=14_000, iterations=4_000, sleep=0.1)
