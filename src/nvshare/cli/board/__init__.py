"""A snapshot as people see it: GPUs with their memory, and the programs on them.

`nvshare status` prints it once, `nvshare top` again and again. It asks nobody.
"""

from nvshare.cli.board.board import Board

__all__ = ["Board"]
