"""Draws a snapshot for people: the GPUs with their memory, and the programs on them.

`nvshare status` prints it once, `nvshare top` repeatedly. It does not talk to the daemon.
"""

from nvshare.cli.board.board import Board

__all__ = ["Board"]
