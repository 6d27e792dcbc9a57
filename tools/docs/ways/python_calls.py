"""Records which files of src/nvshare Python code comes through, in the order of its first calls."""

import sys
from pathlib import Path
from types import FrameType

from tools.docs.pages import ROOT

_PACKAGE = str(ROOT / "src" / "nvshare") + "/"


class Calls:
    """Records the calls of this thread from ``begin`` to ``end``."""

    def __init__(self) -> None:
        self._files: dict[str, None] = {}

    def begin(self) -> None:
        """Record from now on."""
        sys.setprofile(self._note)

    def end(self) -> list[str]:
        """Record no more; return the files, as paths in the tree."""
        sys.setprofile(None)
        return list(self._files)

    def _note(self, frame: FrameType, event: str, _: object) -> None:
        if event == "call" and (path := _path(frame)).startswith(_PACKAGE):
            self._files.setdefault(Path(path).relative_to(ROOT).as_posix())


def _path(frame: FrameType) -> str:
    """Return the file of a function. Those that dataclasses make are in none of their own."""
    if frame.f_code.co_filename.startswith("<"):
        return str(frame.f_globals.get("__file__", ""))
    return frame.f_code.co_filename
