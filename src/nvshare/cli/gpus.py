"""GPUs as the command line names them, and a check of memory limits against their size."""

from collections.abc import Iterable, Sequence
from typing import Protocol

import click

from nvshare.daemon.gpus.survey import Gpu, find_gpus
from nvshare.errors import BadInputError
from nvshare.quantity import format_quantity

_GIB = 1 << 30


class Sized(Protocol):
    """The index and the size of a GPU."""

    @property
    def index(self) -> int:
        """Its number."""

    @property
    def memory(self) -> int:
        """Bytes that programs can allocate in all."""


def choose_gpus(names: str | None) -> list[Gpu]:
    """Return the GPUs that a list names, in its order; all of them if there is no list.

    A name is an index as `nvshare status` shows it, a UUID, or the beginning of one. CUDA counts
    GPUs in an order of its own, so programs are given UUIDs.
    """
    known = find_gpus()
    if names is None:
        return known
    chosen = [_find(name.strip(), names, known) for name in names.split(",")]
    if len(set(chosen)) < len(chosen):
        raise BadInputError(
            f'"{names}" names a GPU twice', why=_listed(known), do="name each GPU once"
        )
    return chosen


def warn_of_large_limit(limit: int | None, gpus: Sequence[Sized]) -> None:
    """Warn if a memory limit exceeds the memory of GPUs: it has no effect there."""
    small = [gpu for gpu in gpus if limit is not None and limit > gpu.memory]
    if limit is None or not small:
        return
    sizes = ", ".join(f"GPU {gpu.index} ({gpu.memory / _GIB:.1f} GiB)" for gpu in small)
    click.echo(
        f"nvshare: a limit of {format_quantity(limit)} is more than the memory of {sizes}: it "
        "limits nothing there",
        err=True,
    )


def _find(name: str, names: str, known: Iterable[Gpu]) -> Gpu:
    found = [gpu for gpu in known if _is_called(gpu, name)]
    if len(found) == 1:
        return found[0]
    problem = f'"{name}" can mean several GPUs' if found else f'there is no GPU "{name}"'
    raise BadInputError(
        problem if name == names else f'{problem} (in "{names}")',
        why=_listed(known),
        do="name GPUs by index or UUID, separated by commas: 0 or 0,1",
    )


def _is_called(gpu: Gpu, name: str) -> bool:
    return name == str(gpu.index) or (len(name) >= 5 and gpu.uuid.startswith(name))


def _listed(known: Iterable[Gpu]) -> str:
    return "the GPUs are " + ", ".join(f"{one.index} ({one.name}, {one.uuid})" for one in known)
