"""``nvshare top``: the board, updated, with keys to sort, filter, show details and set limits.

    keys.py      bytes of a terminal to keys
    state.py     what a key does; knows no terminal and no daemon
    frame.py     a snapshot and that state as lines
    screen.py    lines to a terminal, only those that have changed
    command.py   the verb, with the loop

Rich draws, because `nvshare status` uses it already and both have to look the same. A toolkit such
as Textual would add keys and a screen, which are two short files here.
"""

from nvshare.cli.top.command import top

__all__ = ["top"]
