"""Reports of a program's busy time, as the interposer makes them, but seldom.

The interposer reports several times a second while there is something to report. Here, a report
that could change nothing is left out: while a program does what the core assumes, it makes no
events, so that a day of computing costs none.
"""

from math import inf
from typing import TYPE_CHECKING

from nvshare.core.events import Used

if TYPE_CHECKING:
    from nvshare.lab.sim.site import Site

# How often the interposer reports (native/interposer/session/report.c).
USAGE_PAUSE = 0.25


class Meter:
    """Counts the time in which one program has work on the GPU."""

    def __init__(self, site: "Site", key: int) -> None:
        self._site = site
        self._key = key
        self._busy = 0.0
        self._since: float | None = None
        # When it last had work.
        self._ended = -inf
        self._throttled = 0.0
        self._throttled_since: float | None = None
        self._is_looking = False

    def begin(self) -> None:
        """The program has work on the GPU from now on."""
        self.count()
        self._since = self._site.now
        self._look_if_news()

    def pause(self) -> None:
        """The program's gate is closed, and its work has drained."""
        if self._since is not None:
            self._busy += self._site.now - self._since
            self._since, self._ended = None, self._site.now
            self.count()

    def hold_back(self) -> None:
        """The program has to wait for time of its share from now on."""
        self.pause()
        self._throttled_since = self._site.now
        self._look_if_news()

    def let_go(self) -> None:
        """It has waited."""
        self._throttled, self._throttled_since = self.throttled, None
        self.count()

    def count(self) -> None:
        """Record the counts; the core need not know."""
        self._site.count(self._key, self.busy, self.throttled)

    @property
    def busy(self) -> float:
        """The time in which it has had work on the GPU, including the present work."""
        return self._busy + (0.0 if self._since is None else self._site.now - self._since)

    @property
    def throttled(self) -> float:
        """The time in which it has waited for its share, including the present wait."""
        since = self._throttled_since
        return self._throttled + (0.0 if since is None else self._site.now - since)

    def end(self) -> None:
        """The program has nothing on the GPU any more, by its own will."""
        self.pause()
        self._look_if_news()

    def tell_work(self) -> None:
        """Report, if the interposer would have done so a moment ago, and this does not by itself.

        The core judges a program that has to give way by the time of its last report.
        """
        works = self._since is not None or self._site.now - self._ended < USAGE_PAUSE
        if works and not self._site.is_busy(self._key):
            self._report()

    def _look_if_news(self) -> None:
        if not self._is_looking and self._is_news and self._site.slice_seconds:
            self._is_looking = True
            self._site.after(self._site.slice_seconds, self._look)

    @property
    def _is_news(self) -> bool:
        """Whether the program does something else than the core assumes."""
        would_compute = self._since is not None or self._throttled_since is not None
        return self._site.is_busy(self._key) != would_compute

    def _look(self) -> None:
        self._is_looking = False
        if self._site.is_open(self._key) and self._is_news:
            self._report()
            self._look_if_news()

    def _report(self) -> None:
        self._site.send(
            Used(
                now=self._site.now,
                client=self._key,
                busy_seconds=self.busy,
                throttled_seconds=self.throttled,
            )
        )
