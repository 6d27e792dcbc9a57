"""Bars and small curves made of characters. Knows nothing about GPUs."""

from collections.abc import Sequence
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Glyphs:
    """The characters that a terminal can show."""

    # From empty to full.
    levels: str
    full: str
    free: str
    away: str


UNICODE = Glyphs(levels=" ▁▂▃▄▅▆▇█", full="█", free="·", away="▒")
ASCII = Glyphs(levels=" .:-=+*%#", full="#", free=".", away="~")


def curve(percents: Sequence[int], length: int, glyphs: Glyphs) -> str:
    """Draw the latest percentages; cells without a value yet are blank."""
    most = len(glyphs.levels) - 1
    shown = percents[-length:]
    # Any value above zero must be visible.
    marks = [min(most, max(p > 0, round(p * most / 100))) for p in shown]
    return "".join(glyphs.levels[mark] for mark in marks).rjust(length)


def split_cells(sizes: Sequence[int], cells: int) -> list[int]:
    """Divide cells in proportion; every non-zero amount gets a cell, if there are enough."""
    total = sum(sizes)
    if not total:
        return [0] * len(sizes)
    found = [max(int(size > 0), round(size * cells / total)) for size in sizes]
    while sum(found) != cells:
        step = 1 if sum(found) < cells else -1
        found[found.index(max(found))] += step
    return found
