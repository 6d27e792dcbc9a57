"""What a program takes alone, without nvshare, measured on an emulated node of its own."""

import time
from functools import lru_cache

from nvshare.cli.trial.actor import Actor
from nvshare.cli.trial.cast import Cast
from nvshare.cli.trial.stage import open_stage
from nvshare.emulator.profile import Profile
from nvshare.sim.scenario import Program

_AHEAD_S = 0.02


def alone_seconds(program: Program, profile: Profile, speed: float, cast: Cast) -> float:
    """Return how long a program takes on a GPU that is all its own."""
    same = {"name": "alone", "count": 1, "gpu": 0, "arrival": 0.0, "every": 0.0, "jitter": 0.0}
    return _measured(program.model_copy(update=same), profile, speed, cast)


# Many scenarios are made of the same few programs.
@lru_cache(maxsize=256)
def _measured(program: Program, profile: Profile, speed: float, cast: Cast) -> float:
    with open_stage([profile], speed) as stage:
        actor = Actor(cast.command(program, managed=False, seed=0), stage.environ)
        try:
            actor.wait_until_ready()
            actor.begin(0, time.monotonic() + _AHEAD_S)
            return actor.ending().seconds
        finally:
            actor.stop()
