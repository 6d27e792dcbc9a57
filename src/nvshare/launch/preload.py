"""The one place that builds the variables which put a program under a daemon."""

import secrets
from collections.abc import Mapping
from dataclasses import dataclass
from importlib.resources import files
from pathlib import Path

from nvshare.errors import NvshareError
from nvshare.limits.table import LIMITS
from nvshare.limits.values import LimitValues
from nvshare.linker import preload, preloaded
from nvshare.wire import environment

LIBRARY = "libnvshare.so"
ALLOCATIONS = ("managed", "explicit", "native", "auto")


@dataclass(frozen=True, kw_only=True)
class Wishes(LimitValues):
    """What a program is to get. None: the default."""

    gpus: str | None = None
    allocation: str | None = None


def library() -> Path:
    """Return the path of libnvshare.so.

    It comes from importlib.resources and not from ``__file__``: in an editable install the Python
    files stay in the source tree while the library is elsewhere.
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

    ``inherited`` is the environment that the program would have had. The libraries that it preloads
    are kept, behind ours.
    """
    variables = {
        **preload([path], inherited),
        environment.SOCKET_DIR: str(folder),
        # One token for all processes of this command; nested commands share it.
        environment.GROUP: inherited.get(environment.GROUP) or secrets.token_hex(16),
    }
    if wishes.gpus is not None:
        variables["CUDA_VISIBLE_DEVICES"] = wishes.gpus
    variables.update(limit_variables(wishes))
    if wishes.memory_limit is not None:
        # So that a refusal can name the source of the limit.
        variables[environment.RUN_MEMORY_LIMIT] = str(wishes.memory_limit)
    if wishes.allocation is not None:
        variables[environment.ALLOCATION] = wishes.allocation
    return variables


def limit_variables(limits: LimitValues) -> dict[str, str]:
    """Return the variables that limit a program. Variables of other limits stay as they are."""
    values = ((one, getattr(limits, one.name)) for one in LIMITS)
    return {one.variable: one.variable_text(value) for one, value in values if value is not None}


def without_preload(inherited: Mapping[str, str]) -> dict[str, str]:
    """Return an environment for nvshare's own processes, which are not interposed."""
    kept = dict(inherited)
    others = preloaded(kept, {LIBRARY})
    kept.pop("LD_PRELOAD", None)
    return {**kept, "LD_PRELOAD": " ".join(others)} if others else kept
