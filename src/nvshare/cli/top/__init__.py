"""``nvshare top``: the board again and again, with keys to sort, filter, look closer and change.

    keys.py      bytes of a terminal to keys
    state.py     what a key does; knows no terminal and no daemon
    frame.py     a snapshot and that state as lines
    screen.py    lines to a terminal, only those that have changed
    command.py   the verb: goes round

Rich draws, because `nvshare status` is drawn with it already and both have to look the same. What a
toolkit such as Textual has beyond that, keys and a screen, is two short files here.
"""

from nvshare.cli.top.command import top

__all__ = ["top"]
