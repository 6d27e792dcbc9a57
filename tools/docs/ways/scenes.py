"""What is recorded for each way: a scene in the daemon, and one in a program."""

from collections.abc import Callable, Iterable
from pathlib import Path
from tempfile import TemporaryDirectory

from tools.docs.ways import in_daemon, in_program
from tools.docs.ways.in_program import MOVER, PROGRAM, SESSION
from tools.docs.ways.way import Stretch


def record(name: str, library: Path) -> list[Stretch]:
    """Record a way, with a build of the interposer that notes its calls."""
    with TemporaryDirectory() as folder:
        return _first(SCENES[name](library, Path(folder)))


def _launch(library: Path, folder: Path) -> list[Stretch]:
    program, daemon = in_program.launch(library, folder), in_daemon.launch(folder)
    return [
        Stretch(0, _files(program, PROGRAM, 1)),
        Stretch(1, _files(program, SESSION, 1)),
        Stretch(2, tuple(daemon), "WANT"),
        Stretch(1, _files(program, SESSION, 2), "GRANT"),
        Stretch(0, _files(program, PROGRAM, 2)),
    ]


def _annotation(library: Path, folder: Path) -> list[Stretch]:
    program, daemon = in_program.annotation(library, folder), in_daemon.annotation(folder)
    return [
        Stretch(0, tuple(daemon), "kubectl annotate, then a watch of the API server"),
        Stretch(1, _files(program, SESSION, 1), "LIMITS"),
        Stretch(2, _files(program, PROGRAM, 2), "and the next allocation"),
    ]


def _managed(library: Path, folder: Path) -> list[Stretch]:
    return _memory(library, folder, "managed")


def _explicit(library: Path, folder: Path) -> list[Stretch]:
    return _memory(library, folder, "explicit")


def _memory(library: Path, folder: Path, kind: str) -> list[Stretch]:
    program, (before, after) = in_program.memory(library, folder, kind), in_daemon.memory(folder)
    return [
        Stretch(0, tuple(before)),
        Stretch(1, _files(program, SESSION, 1), "REVOKE"),
        Stretch(2, _files(program, MOVER, 1), "an order"),
        Stretch(0, tuple(after), "RELEASED, MOVED"),
    ]


SCENES: dict[str, Callable[[Path, Path], list[Stretch]]] = {
    "annotation": _annotation,
    "explicit": _explicit,
    "launch": _launch,
    "memory": _managed,
}


def _files(program: in_program.Files, thread: str, phase: int) -> tuple[str, ...]:
    return tuple(program.get((thread, phase), []))


def _first(stretches: Iterable[Stretch]) -> list[Stretch]:
    """Leave each file where its lane enters it first."""
    seen: set[tuple[int, str]] = set()
    left = []
    for one in stretches:
        files = tuple(file for file in one.files if (one.lane, file) not in seen)
        seen |= {(one.lane, file) for file in files}
        left.append(Stretch(one.lane, files, one.frames))
    return [one for one in left if one.files]
