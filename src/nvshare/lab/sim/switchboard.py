"""The core of a node and the GPUs that it decides about: what one tells may concern another.

Where no program uses several GPUs, every GPU has a switchboard of its own.
"""

from typing import TYPE_CHECKING

from nvshare.core.core import Core
from nvshare.core.effects import CancelHandover, CancelTimer, Effect, Handover, SetTimer
from nvshare.core.time_log import TimeLog

if TYPE_CHECKING:
    from nvshare.lab.sim.site import Site

# Errors show the last events; nobody reads more of a simulated journal.
JOURNAL_EVENTS = 64
# Far more than ever happens at one moment, even with hundreds of programs.
MOST_AT_ONCE = 100_000


class Switchboard:
    """Takes what happens on GPUs to the core, and orders to the GPU that they are for."""

    def __init__(self, *, check: bool, follow: bool = False) -> None:
        self.core = Core(check=check, journal_events=JOURNAL_EVENTS)
        # What the time of programs goes to, if somebody wants to know.
        self.times = TimeLog(self.core) if follow else None
        self._sites: list[Site] = []

    def add(self, site: "Site") -> None:
        """Have one GPU more."""
        self._sites.append(site)

    def deliver(self, site: "Site") -> None:
        """Let the core have all that has happened, and carry out what it orders."""
        touched, before = [site], site.events
        while (teller := next((one for one in touched if one.outbox), None)) is not None:
            teller.events += 1
            if site.events > before + MOST_AT_ONCE:
                raise RuntimeError(f"core and programs answer each other for ever: {teller.outbox}")
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
