"""The variables of the dynamic linker, LD_PRELOAD and LD_LIBRARY_PATH, in a form it can parse."""

from collections.abc import Collection, Mapping, Sequence
from pathlib import Path

from nvshare.errors import NvshareError


def preload(libraries: Sequence[Path], inherited: Mapping[str, str]) -> dict[str, str]:
    """Return the variables that preload these libraries, before those preloaded already."""
    paths = [str(library) for library in libraries]
    others = preloaded(inherited, {library.name for library in libraries})
    # The linker splits LD_PRELOAD at spaces and colons, and there is no way to quote them. A bare
    # name is looked for in LD_LIBRARY_PATH, which splits at colons and semicolons only.
    if not any(set(path) & set(" :") for path in paths):
        return {"LD_PRELOAD": " ".join([*paths, *others])}
    for library in libraries:
        if set(str(library)) & set(":;"):
            raise NvshareError(
                f"{library.name} cannot be preloaded from where it is",
                why=f"there is a colon or semicolon in {library}, and LD_LIBRARY_PATH splits at it",
                do="install nvshare in a folder without one",
            )
    folders = dict.fromkeys(str(library.parent) for library in libraries)
    return {
        "LD_PRELOAD": " ".join([*(library.name for library in libraries), *others]),
        "LD_LIBRARY_PATH": library_path(folders, inherited),
    }


def preloaded(inherited: Mapping[str, str], but: Collection[str] = ()) -> list[str]:
    """Return the libraries that an environment preloads, without certain names."""
    names = inherited.get("LD_PRELOAD", "").replace(":", " ").split()
    return [name for name in names if Path(name).name not in but]


def library_path(folders: Collection[str], inherited: Mapping[str, str]) -> str:
    """Return LD_LIBRARY_PATH with these folders in front."""
    old = inherited.get("LD_LIBRARY_PATH")
    return ":".join([*folders, *([old] if old else [])])
