"""A way as it is committed: the recorded calls, and what is said about them."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

from nvshare.parsing import parse_toml
from tools.docs.pages import ROOT

FOLDER = ROOT / "docs" / "ways"
_HEAD = "# Recorded by `make reference`: lane and file, in order; > frames. Do not edit.\n"


@dataclass(frozen=True)
class Stretch:
    """Files that were entered for the first time in a lane; and the frames that led to it."""

    lane: int
    files: tuple[str, ...]
    frames: str = ""


@dataclass(frozen=True)
class Way:
    """A title, the names of the lanes, and the stretches in their order."""

    name: str
    title: str
    lanes: tuple[str, ...]
    stretches: tuple[Stretch, ...]
    # Why files are on the way, by the ends of their paths.
    why: dict[str, str]

    @property
    def files(self) -> list[str]:
        """All files, each once."""
        return list(dict.fromkeys(file for one in self.stretches for file in one.files))

    def why_is(self, file: str) -> str:
        """Return why a file is on the way, if that is said."""
        return next((why for end, why in self.why.items() if f"/{file}".endswith(f"/{end}")), "")


def names() -> list[str]:
    """Return the names of all ways."""
    return sorted(path.stem for path in FOLDER.glob("*.toml"))


def read(name: str, folder: Path = FOLDER) -> Way:
    """Read a way."""
    told = parse_toml((folder / f"{name}.toml").read_text(encoding="utf-8"))
    stretches = tuple(_stretches((folder / f"{name}.calls").read_text(encoding="utf-8")))
    return Way(name, told["title"], tuple(told["lanes"]), stretches, told["why"])


def as_text(stretches: Iterable[Stretch]) -> str:
    """Return what has been recorded, as it is committed."""
    lines = []
    for one in stretches:
        lines += [f"> {one.frames}\n"] if one.frames else []
        lines += [f"{one.lane} {file}\n" for file in one.files]
    return _HEAD + "".join(lines)


def _stretches(text: str) -> Iterator[Stretch]:
    lane, files, frames = -1, list[str](), ""
    for line in text.removeprefix(_HEAD).splitlines():
        word, _, rest = line.partition(" ")
        if files and (word == ">" or int(word) != lane):
            yield Stretch(lane, tuple(files), frames)
            files, frames = [], ""
        if word == ">":
            frames = rest
        else:
            lane = int(word)
            files.append(rest)
    if files:
        yield Stretch(lane, tuple(files), frames)
