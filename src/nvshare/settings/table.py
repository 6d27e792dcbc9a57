"""Every setting that there is, and what to do instead of setting one that there was.

Generated from protocol/settings.toml by ``python -m protocol.generate``: do not edit.
"""

from nvshare.core.settings import Interactive, Mode
from nvshare.settings.kinds import Setting

GPU: tuple[Setting, ...] = (
    Setting(
        name="mode",
        brief="how the programs of a GPU share it",
        choices=("auto", "serial", "concurrent", "off"),
        is_for_core=True,
        enum=Mode,
    ),
    Setting(
        name="policy",
        brief="in which order programs have their turns that compute all the time",
        is_policy=True,
        is_for_core=True,
    ),
    Setting(
        name="turn_seconds",
        brief="the length of a turn while others wait",
        is_paced=True,
        is_for_core=True,
        nothing="auto",
    ),
    Setting(
        name="interactive",
        brief="how promptly programs that compute in bursts are served",
        choices=("prompt", "balanced", "throughput"),
        is_for_core=True,
        enum=Interactive,
    ),
    Setting(
        name="idle_park",
        brief="after how many idle seconds all memory of a program leaves the GPU",
        is_paced=True,
        is_for_core=True,
        nothing=0.0,
    ),
    Setting(
        name="revoke_patience",
        brief="how long a program may take to give way before others go on without it",
        is_for_core=True,
    ),
    Setting(
        name="wait_notice",
        brief="a program that waits for so long says so",
    ),
    Setting(
        name="reserve",
        brief="memory that programs are not to fill",
    ),
    Setting(
        name="allocation",
        brief="how memory is allocated if the program does not say it",
        choices=("managed", "explicit", "native", "auto"),
    ),
    Setting(
        name="gangs",
        brief="whether programs that use several GPUs have their turns on all of them together",
        choices=("true", "false"),
        is_for_core=True,
    ),
    Setting(
        name="swap_excess",
        brief="whether memory beyond a lowered limit is moved to the host",
        choices=("true", "false"),
        is_for_core=True,
    ),
    Setting(
        name="oversubscribe",
        brief="whether one program alone may allocate more than the GPU has",
        choices=("true", "false"),
    ),
)

LAB: tuple[Setting, ...] = (
    Setting(
        name="turn_min",
        brief="the shortest turn of automatic length",
        is_paced=True,
        is_for_core=True,
    ),
    Setting(
        name="turn_max",
        brief="the longest turn of automatic length",
        is_paced=True,
        is_for_core=True,
    ),
    Setting(
        name="batch_turn",
        brief="the longest turn with the policy batch",
        is_paced=True,
        is_for_core=True,
    ),
    Setting(
        name="slice_seconds",
        brief="turns of programs that fit together and compute all the time; 0: none",
        is_paced=True,
        is_for_core=True,
    ),
    Setting(
        name="share_slice_seconds",
        brief="the same where a program has a share of compute",
        is_paced=True,
        is_for_core=True,
    ),
    Setting(
        name="idle_grace",
        brief="how long a program that is asked to give way rests before it does",
        is_paced=True,
        is_for_core=True,
    ),
    Setting(
        name="inflight",
        brief="most work that a program has in flight",
        is_paced=True,
    ),
    Setting(
        name="context",
        brief="what a program holds beside the memory that it allocates",
    ),
)

NODE: tuple[Setting, ...] = (
    Setting(
        name="host_memory",
        brief="most host memory for memory that leaves the GPUs",
    ),
)

REMOVED: dict[str, str] = {
    "turn_min": "turns of automatic length last 30 s at least; for other turns, set turn_seconds",
    "turn_max": "turns of automatic length last 300 s at most; for other turns, set turn_seconds",
    "batch_turn": (
        "with the policy batch, a program runs for an hour at most while others wait; leave it out"
    ),
    "slice_seconds": (
        "programs that fit together and compute all the time take turns of a second; leave it out"
    ),
    "share_slice_seconds": "with shares of compute, turns last 50 ms; leave it out",
    "idle_grace": (
        "a program gives way after 50 ms without work, or longer if memory has to move; leave it "
        "out, or set interactive"
    ),
    "inflight": "a program has at most 20 ms of work in flight beside others; leave it out",
    "context": (
        "what programs hold beside their allocations is read from NVML; leave it out, or set a "
        "larger reserve"
    ),
    "make_room": (
        "the daemon tries both ways of making room, and takes the faster one; leave it out"
    ),
    "move_patience": (
        "nobody waits for longer than a second for memory that does not move; leave it out"
    ),
    "count_copies": "copies do not count towards a share of compute; leave it out",
    "move_budget": "set interactive instead: throughput for fewer moves, prompt for shorter waits",
    "high_move_budget": (
        "set interactive instead: throughput for fewer moves, prompt for shorter waits"
    ),
    "priority_floor": (
        "where priorities differ, a program gets a twentieth as much as one of the next higher "
        "priority; leave it out"
    ),
    "turn_multiplier": (
        "turns last five times as long as their move; for other turns, set turn_seconds"
    ),
    "steady_multiplier": (
        "where all compute all the time, turns last sixty times as long as their move; for other "
        "turns, set turn_seconds"
    ),
    "initial_bandwidth": "the bandwidth is measured; leave it out",
}
