"""Where on the clock the parts of one client's time lie. client_time.py says how much there is.

Some parts are known when they pass. Time with an open gate, or with a closed gate and no waiting
work, is kept as pieces until its parts are known. Then each piece gets its proportion of them.
Where exactly in a piece a client computed is unknown: computing comes first, then held back, then
idle. The sums equal those of client_time.py, to the nanosecond.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from nvshare.telemetry.time.client_time import Part

Emit = Callable[[Part, int, int], None]


@dataclass(slots=True)
class _Piece:
    """Time that is not divided yet."""

    begin: int
    end: int
    is_open: bool

    @property
    def length(self) -> int:
        return self.end - self.begin


class Track:
    """One client's time, from when it is first followed."""

    def __init__(self, emit: Emit) -> None:
        self._emit = emit
        self._pieces: list[_Piece] = []

    def passed(self, part: Part, begin: int, end: int) -> None:
        """Take time that is known to belong to a part."""
        self._emit(part, begin, end)

    def undecided(self, begin: int, end: int, *, is_open: bool) -> None:
        """Take time whose parts are not known yet."""
        last = self._pieces[-1] if self._pieces else None
        if last is not None and last.end == begin and last.is_open == is_open:
            last.end = end
        else:
            self._pieces.append(_Piece(begin, end, is_open))

    def filled(self, length: int) -> None:
        """Note that the last time with an open gate was spent on memory that came in."""
        for piece in reversed(self._pieces):
            if length and piece.is_open:
                taken = min(length, piece.length)
                self._emit(Part.MEMORY_IN, piece.end - taken, piece.end)
                piece.end -= taken
                length -= taken
        self._pieces = [piece for piece in self._pieces if piece.length]

    def divided(self, computing: int, held_back: int) -> None:
        """Divide all kept time: so much was computing, so much held back, and the rest idle."""
        pieces, self._pieces = self._pieces, []
        parts = _spread(computing, [piece.length if piece.is_open else 0 for piece in pieces])
        left = [piece.length - taken for piece, taken in zip(pieces, parts, strict=True)]
        for piece, computed, held in zip(pieces, parts, _spread(held_back, left), strict=True):
            at = piece.begin
            for part, length in ((Part.COMPUTING, computed), (Part.HELD_BACK, held)):
                if length:
                    self._emit(part, at, at + length)
                    at += length
            if at < piece.end:
                self._emit(Part.IDLE, at, piece.end)


def _spread(amount: int, rooms: Sequence[int]) -> list[int]:
    """Divide a whole number in proportion to ``rooms``, so that the parts add up."""
    total, before, given = sum(rooms), 0, 0
    parts = []
    for room in rooms:
        before += room
        until = amount * before // total if total else 0
        parts.append(until - given)
        given = until
    return parts
