"""A recording in the Trace Event Format, as Perfetto and chrome://tracing read it.

A GPU is a process, and a program is two threads of it: its states inside its turns, and the moves
of its memory. Memory is a counter of the GPU. Times are microseconds from the beginning of the
recording, with the nanoseconds as decimals.
"""

from collections.abc import Iterator, Sequence
from itertools import count
from typing import Any

from nvshare.telemetry.trace.items import Gpu, Level, Move
from nvshare.telemetry.trace.recording import STARTING, Life, Recording

_NAMES = {
    "computing": "computing",
    "waiting": "waiting for a turn",
    "held_back": "held back by its share",
    "memory_in": "memory in",
    "memory_out": "memory out",
    "thrashing": "thrashing",
    "idle": "idle",
    STARTING: "starting",
}
# Colour names of the viewers.
_COLOURS = {
    "computing": "good",
    "waiting": "bad",
    "held_back": "terrible",
    "memory_in": "rail_load",
    "memory_out": "rail_animation",
    "thrashing": "black",
    "idle": "white",
    STARTING: "grey",
}


def trace_events(recordings: Sequence[Recording], title: str) -> dict[str, Any]:
    """Return the file as a JSON object. Each recording has processes of its own."""
    return {
        "traceEvents": list(_events(recordings)),
        "displayTimeUnit": "ms",
        "otherData": {
            "title": title,
            "seconds": max(one.seconds for one in recordings),
            "began_unix_seconds": recordings[0].unix,
            "dropped": sum(one.dropped for one in recordings),
        },
    }


def _events(recordings: Sequence[Recording]) -> Iterator[dict[str, Any]]:
    # Process 0 has a special meaning in some viewers.
    processes = count(1)
    for recording in recordings:
        prefix = f"{recording.title}: " if len(recordings) > 1 else ""
        for gpu in recording.gpus:
            process = next(processes)
            name = f"{prefix}GPU {gpu.index} {gpu.name}".rstrip()
            yield _named("process_name", process, 0, name)
            yield _sorted("process_sort_index", process, 0, process)
            for level in recording.levels.get(gpu.uuid, ()):
                yield _memory(recording, process, gpu, level)
            for place, life in enumerate(recording.on(gpu)):
                yield from _program(recording, process, place, life)


def _program(
    recording: Recording, process: int, place: int, life: Life
) -> Iterator[dict[str, Any]]:
    thread, moving = 2 * life.program.id, 2 * life.program.id + 1
    name = name_of(life)
    yield _named("thread_name", process, thread, name)
    yield _sorted("thread_sort_index", process, thread, 2 * place)
    if life.moves:
        yield _named("thread_name", process, moving, f"{name}: memory")
        yield _sorted("thread_sort_index", process, moving, 2 * place + 1)
    # Turns enclose the states in them, so they come first.
    for turn in life.turns:
        yield {
            **_slice(recording, process, thread, "turn", turn.begin, turn.end),
            "cat": "turn",
            "args": {"turn": turn.number},
        }
    for spent in life.spent:
        event = _slice(recording, process, thread, _NAMES[spent.state], spent.begin, spent.end)
        yield {**event, "cat": spent.state, "cname": _COLOURS[spent.state]}
    for move in life.moves:
        yield {
            **_slice(recording, process, moving, _direction(move), move.begin, move.end),
            "cat": "move",
            "args": {"bytes_in": move.bytes_in, "bytes_out": move.bytes_out},
        }


def name_of(life: Life) -> str:
    """Return the name of a program, with its pid to tell several of one name apart."""
    program = life.program
    who = f"{program.user}/{program.name}" if program.user else program.name
    named = program.pod or who
    return f"{named} (pid {program.pid})" if program.pid else named


def _direction(move: Move) -> str:
    if move.bytes_in and move.bytes_out:
        return "in and out"
    return "in" if move.bytes_in else "out"


def _slice(
    recording: Recording, process: int, thread: int, name: str, begin: int, end: int
) -> dict[str, Any]:
    return {
        "ph": "X",
        "pid": process,
        "tid": thread,
        "name": name,
        "ts": (begin - recording.begin) / 1000,
        "dur": (end - begin) / 1000,
    }


def _memory(recording: Recording, process: int, gpu: Gpu, level: Level) -> dict[str, Any]:
    return {
        "ph": "C",
        "pid": process,
        "tid": 0,
        "name": "memory in bytes",
        "ts": max(0, level.at - recording.begin) / 1000,
        "args": {
            "on the GPU": level.on_gpu,
            "free": max(0, gpu.usable - level.on_gpu),
            "away": level.away,
        },
    }


def _named(kind: str, process: int, thread: int, name: str) -> dict[str, Any]:
    return {"ph": "M", "pid": process, "tid": thread, "name": kind, "args": {"name": name}}


def _sorted(kind: str, process: int, thread: int, place: int) -> dict[str, Any]:
    return {"ph": "M", "pid": process, "tid": thread, "name": kind, "args": {"sort_index": place}}
