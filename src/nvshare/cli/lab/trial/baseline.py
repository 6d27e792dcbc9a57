"""How long a program takes alone, without nvshare, measured on an emulated node of its own."""

import contextlib
import time
from functools import lru_cache

from nvshare.cli.lab.trial.actor import Actor
from nvshare.cli.lab.trial.programs import Programs
from nvshare.cli.lab.trial.ranks import Rank
from nvshare.cli.lab.trial.stage import open_stage
from nvshare.lab.emulator.profile import Profile
from nvshare.lab.sim.scenario import Program

_AHEAD_S = 0.02


def alone_seconds(program: Program, profile: Profile, speed: float, programs: Programs) -> float:
    """Return how long a program takes on a GPU of its own, or on as many as it uses."""
    same = {"name": "alone", "count": 1, "gpu": 0, "arrival": 0.0, "every": 0.0, "jitter": 0.0}
    if program.ranks:
        same |= {"gpu": "least loaded", "ranks": tuple(range(len(program.ranks)))}
    return _measured(program.model_copy(update=same), profile, speed, programs)


# Many scenarios consist of the same few programs.
@lru_cache(maxsize=256)
def _measured(program: Program, profile: Profile, speed: float, programs: Programs) -> float:
    gpus = max(1, len(program.ranks))
    with open_stage([profile] * gpus, speed) as stage, contextlib.ExitStack() as stack:
        meet = stage.node.folder / "meet"
        ranks = [Rank(number, meet) if program.ranks else None for number in range(gpus)]
        actors = []
        for rank in ranks:
            command = programs.command(program, managed=False, seed=0, rank=rank)
            actors.append(Actor(command, stage.environ))
            stack.callback(actors[-1].stop)
        for actor in actors:
            actor.wait_until_ready()
        instant = time.monotonic() + _AHEAD_S
        for gpu, actor in enumerate(actors):
            actor.begin(gpu, instant)
        return max(actor.ending().seconds for actor in actors)
