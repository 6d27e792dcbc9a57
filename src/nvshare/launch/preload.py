"""The one place that builds LD_PRELOAD and the NVSHARE_* variables of a program."""

import secrets
from collections.abc import Mapping
from dataclasses import dataclass
from importlib.resources import files
from pathlib import Path

from nvshare.errors import NvshareError
from nvshare.wire import environment

LIBRARY = "libnvshare.so"


@dataclass(frozen=True, kw_only=True)
class Wishes:
    """What a program is to get. None: what it would have got anyway."""

    gpus: str | None = None
    memory_bytes: int | None = None
    compute_percent: int | None = None
    native: bool = False


def library() -> Path:
    """Return the path of libnvshare.so.

    Asked of importlib.resources and not derived from ``__file__``: in an editable install the
    Python files stay in the source tree while the library is elsewhere.
    """
    path = Path(str(files("nvshare") / "lib" / LIBRARY))
    if not path.is_file():
        raise NvshareError(
            f"{LIBRARY} is not installed",
            why=f"it was looked for at {path}",
            do="run `make build` in the source tree, or reinstall the nvshare package",
        )
    return path


def program_environment(
    wishes: Wishes, folder: Path, path: Path, inherited: Mapping[str, str]
) -> dict[str, str]:
    """Return the variables that put a program under a daemon, and nothing else.

    ``inherited`` is the environment that the program would have had: what it preloads is kept,
    behind ours.
    """
    variables = {
        **_preload(path, inherited),
        environment.SOCKET_DIR: str(folder),
        # One token for all that this command starts; nested commands share it.
        environment.GROUP: inherited.get(environment.GROUP) or secrets.token_hex(16),
    }
    if wishes.gpus is not None:
        variables["CUDA_VISIBLE_DEVICES"] = wishes.gpus
    if wishes.memory_bytes is not None:
        variables[environment.MEMORY_LIMIT] = str(wishes.memory_bytes)
    if wishes.compute_percent is not None:
        variables[environment.COMPUTE_PERCENT] = str(wishes.compute_percent)
    if wishes.native:
        variables[environment.ALLOCATION] = "native"
    return variables


def without_preload(inherited: Mapping[str, str]) -> dict[str, str]:
    """Return an environment for our own processes, which are no guests of themselves."""
    kept = dict(inherited)
    others = [name for name in _names(kept.pop("LD_PRELOAD", "")) if Path(name).name != LIBRARY]
    return {**kept, "LD_PRELOAD": " ".join(others)} if others else kept


def _preload(path: Path, inherited: Mapping[str, str]) -> dict[str, str]:
    # The linker splits LD_PRELOAD at spaces and colons, and there is no way to quote them. A bare
    # name is looked for in LD_LIBRARY_PATH, which splits at colons and semicolons only.
    others = [
        name for name in _names(inherited.get("LD_PRELOAD", "")) if Path(name).name != LIBRARY
    ]
    name = str(path)
    if not set(name) & set(" :"):
        return {"LD_PRELOAD": " ".join([name, *others])}
    if set(name) & set(":;"):
        raise NvshareError(
            f"{LIBRARY} cannot be preloaded from where it is",
            why=f"there is a colon or semicolon in {name}, and LD_LIBRARY_PATH splits at it",
            do="install nvshare in a folder without one",
        )
    folders = [str(path.parent)]
    if old := inherited.get("LD_LIBRARY_PATH"):
        folders.append(old)
    return {
        "LD_PRELOAD": " ".join([LIBRARY, *others]),
        "LD_LIBRARY_PATH": ":".join(folders),
    }


def _names(value: str) -> list[str]:
    return value.replace(":", " ").split()
