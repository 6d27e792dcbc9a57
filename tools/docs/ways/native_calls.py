"""Records which files of native/ a program comes through, thread by thread.

A build of the interposer notes each function as a thread enters it (native/tests/calls.c). The
debugger's data say which file that is in.
"""

import mmap
import struct
import subprocess
from dataclasses import dataclass
from pathlib import Path

from tests.integration.building import build_native
from tools.docs.pages import ROOT

VARIABLE = "CALLS_FILE"
_HEAD, _NOTE = struct.Struct("II"), struct.Struct("QII")
_MOST_NOTES = 1 << 14
# Wrappers are generated from it.
_HOOKS = "native/interposer/hooks.def"


def build_traced(folder: Path) -> Path:
    """Build the interposer so that it notes its calls; return the library."""
    folder.mkdir(parents=True, exist_ok=True)
    recorder = folder / "calls.o"
    source = ROOT / "native" / "tests" / "calls.c"
    command = ["cc", "-std=gnu11", "-D_GNU_SOURCE", "-O1", "-fPIC", "-c", str(source)]
    subprocess.run([*command, "-o", str(recorder)], check=True, timeout=120)
    build_native(
        folder,
        # In C, so that the first instructions of a call are noted as well.
        "-DNVSHARE_PORTABLE_GATE=ON",
        "-DCMAKE_BUILD_TYPE=None",
        "-DCMAKE_C_FLAGS=-O0 -g1 -finstrument-functions",
        f"-DCMAKE_SHARED_LINKER_FLAGS={recorder}",
        targets=["nvshare"],
    )
    return folder / "native" / "interposer" / "libnvshare.so"


@dataclass(frozen=True)
class Entered:
    """That a thread has entered a file, for the first time since a phase began."""

    file: str
    thread: int
    phase: int


class Notes:
    """The notes of one program. Give it ``variables``."""

    def __init__(self, library: Path, path: Path) -> None:
        self._library = library
        self.variables = {VARIABLE: str(path), "LD_PRELOAD": str(library)}
        path.write_bytes(bytes(_HEAD.size + _NOTE.size * _MOST_NOTES))
        with path.open("r+b") as file:
            self._map = mmap.mmap(file.fileno(), 0)

    def begin_phase(self, number: int) -> None:
        """Say which phase the next calls belong to. 0: they are not noted."""
        self._map[:4] = struct.pack("I", number)

    def entered(self) -> list[Entered]:
        """Return the files in the order in which they were entered; each once for each thread."""
        _, count = _HEAD.unpack_from(self._map)
        if count > _MOST_NOTES:
            raise RuntimeError(f"{count} functions were entered, more than there is room for")
        notes = [_NOTE.unpack_from(self._map, _HEAD.size + i * _NOTE.size) for i in range(count)]
        files = _files_of(self._library, [function for function, _, _ in notes])
        found: dict[tuple[str, int], Entered] = {}
        for file, (_, thread, phase) in zip(files, notes, strict=True):
            found.setdefault((file, thread), Entered(file, thread, phase))
        return list(found.values())


def _files_of(library: Path, functions: list[int]) -> list[str]:
    """Return the files in which functions are, as paths in the tree."""
    addresses = "".join(f"{function:#x}\n" for function in functions)
    command = ["addr2line", "-e", str(library)]
    done = subprocess.run(command, input=addresses, capture_output=True, text=True, check=True)
    paths = [Path(line.rpartition(":")[0]) for line in done.stdout.splitlines()]
    return [_HOOKS if "generated" in path.parts else _in_tree(path) for path in paths]


def _in_tree(path: Path) -> str:
    return path.resolve().relative_to(ROOT).as_posix()
