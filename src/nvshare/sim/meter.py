"""What a program reports of its busy time, as the interposer does, but seldom.

The interposer reports several times a second as long as there is something to report. Here, a
report that could change nothing is left out: while a program does what the core takes it to do, it
is not looked at, so that a day of computing costs no events.
"""

from typing import TYPE_CHECKING

from nvshare.core.events import Used

if TYPE_CHECKING:
    from nvshare.sim.site import Site


class Meter:
    """Counts the time in which one program has work on the GPU."""

    def __init__(self, site: "Site", key: int) -> None:
        self._site = site
        self._key = key
        self._busy = 0.0
        self._since: float | None = None
        self._is_looking = False

    def begin(self) -> None:
        """The program has work on the GPU from now on."""
        self._since = self._site.now
        self._look_if_news()

    def pause(self) -> None:
        """The program's gate is closed, and its work has drained."""
        if self._since is not None:
            self._busy += self._site.now - self._since
            self._since = None

    def end(self) -> None:
        """The program has nothing on the GPU any more, by its own will."""
        self.pause()
        self._look_if_news()

    def _look_if_news(self) -> None:
        if not self._is_looking and self._is_news and self._site.slice_seconds:
            self._is_looking = True
            self._site.after(self._site.slice_seconds, self._look)

    @property
    def _is_news(self) -> bool:
        """Whether the program does something else than the core takes it to do."""
        return self._site.is_busy(self._key) != (self._since is not None)

    def _look(self) -> None:
        self._is_looking = False
        if self._site.is_open(self._key) and self._is_news:
            self._report()
            self._look_if_news()

    def _report(self) -> None:
        now = self._site.now
        busy = self._busy + (0.0 if self._since is None else now - self._since)
        self._site.send(Used(now=now, client=self._key, busy_seconds=busy))
