"""The core of a node and the GPUs that it decides about: an event of one may concern another.

If no program uses several GPUs, every GPU has a switchboard of its own.
"""

from typing import TYPE_CHECKING

from nvshare.core.core import Core
from nvshare.core.effects import CancelHandover, CancelTimer, Effect, Handover, SetTimer
from nvshare.telemetry.time.time_log import TimeLog

if TYPE_CHECKING:
    from nvshare.lab.sim.site import Site

# Errors show the last events; the rest of a simulated journal is never read.
JOURNAL_EVENTS = 64
# Far more than ever happens at one moment, even with hundreds of programs.
MOST_AT_ONCE = 100_000


class Switchboard:
    """Takes events of GPUs to the core, and orders to the GPU that they are for."""

    def __init__(self, *, check: bool, follow: bool = False) -> None:
        self.core = Core(check=check, journal_events=JOURNAL_EVENTS)
        # The attribution of the programs' time, if it is wanted.
        self.times = TimeLog(self.core) if follow else None
        self._sites: list[Site] = []

    def add(self, site: "Site") -> None:
        """Add a GPU."""
        self._sites.append(site)

    def deliver(self, site: "Site") -> None:
        """Give the core all events so far, and carry out its orders."""
        touched, before = [site], site.events
        while (teller := next((one for one in touched if one.outbox), None)) is not None:
            teller.events += 1
            if site.events > before + MOST_AT_ONCE:
                raise RuntimeError(
                    f"the core and the programs answer each other endlessly: {teller.outbox}"
                )
            event = teller.outbox.popleft()
            effects = self.core.handle(event)
            if self.times is not None:
                self.times.hear(event, effects)
            for effect in effects:
                target = self._target(effect, teller)
                if target not in touched:
                    target.gpu.catch_up(target.now)
                    touched.append(target)
                target.carry_out(effect)
        for one in touched:
            one.announce()

    def _target(self, effect: Effect, teller: "Site") -> "Site":
        if len(self._sites) == 1:
            return teller
        if isinstance(effect, SetTimer | CancelTimer):
            return next(site for site in self._sites if site.device == effect.timer.device)
        if isinstance(effect, Handover | CancelHandover):
            client: int | None = effect.from_client
        else:
            client = getattr(effect, "client", None)
        return next((site for site in self._sites if client in site.programs), teller)
