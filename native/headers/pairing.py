"""Which symbol answers to which name and version in cuGetProcAddress.

A symbol of the driver is spelled base[_vN][_ptsz|_ptds]: N counts revisions of the function, the
suffix marks the flavour in which the stream 0 is the calling thread's own. cudaTypedefs.h lists
the same functions as base_vVERSION[_ptsz|_ptds], where VERSION is the CUDA release that brought
the revision (3020 is CUDA 3.2). No header says which revision is which release, but there are as
many of one as of the other, and both grow with time: sorted, they stand side by side.
"""

from __future__ import annotations

import re
from collections import defaultdict
from dataclasses import dataclass
from typing import TYPE_CHECKING

from declarations import HeaderError

if TYPE_CHECKING:
    from collections.abc import Iterable

_SPELLING = re.compile(r"(?P<base>\w+?)(?:_v(?P<number>\d+))?(?P<flavour>_ptsz|_ptds)?")

Key = tuple[str, str]
"""A base name and a flavour ("" for the ordinary one)."""


@dataclass(frozen=True, order=True)
class EntryPoint:
    """One row of the table of cuGetProcAddress."""

    name: str
    version: int
    symbol: str
    per_thread_version: int = 0
    per_thread: str | None = None


def base_of_flavour(symbol: str) -> str | None:
    """cuMemcpyHtoD_v2 for cuMemcpyHtoD_v2_ptds; None for a symbol that is no flavour."""
    for suffix in ("_ptsz", "_ptds"):
        if symbol.endswith(suffix):
            return symbol.removesuffix(suffix)
    return None


def pair(symbols: Iterable[str], pointer_types: Iterable[str]) -> list[EntryPoint]:
    """Pair the symbols with the typedefs; sorted by name, then version."""
    revisions = _grouped(symbols, number_if_absent=1)
    releases = _grouped(pointer_types, number_if_absent=None)
    _check_same_size(revisions, releases)

    release_of: dict[str, int] = {}
    for key, numbered in revisions.items():
        for (_, symbol), (release, _) in zip(numbered, releases[key], strict=True):
            release_of[symbol] = release

    per_thread = {base_of_flavour(symbol): symbol for symbol in release_of}
    per_thread.pop(None, None)
    for base, flavour in per_thread.items():
        if base not in release_of:
            raise HeaderError(f"{flavour} is a flavour of {base}, which is not declared")

    return sorted(
        _entry_point(symbol, release_of, per_thread.get(symbol))
        for symbol in release_of
        if base_of_flavour(symbol) is None
    )


def _entry_point(symbol: str, release_of: dict[str, int], per_thread: str | None) -> EntryPoint:
    base = _parse(symbol)["base"]
    if per_thread is None:
        return EntryPoint(base, release_of[symbol], symbol)
    return EntryPoint(base, release_of[symbol], symbol, release_of[per_thread], per_thread)


def _grouped(
    names: Iterable[str], number_if_absent: int | None
) -> dict[Key, list[tuple[int, str]]]:
    groups: defaultdict[Key, list[tuple[int, str]]] = defaultdict(list)
    for name in dict.fromkeys(names):
        match = _parse(name)
        number = int(match["number"]) if match["number"] else number_if_absent
        if number is None:
            raise HeaderError(f"the typedef PFN_{name} names no version")
        groups[match["base"], match["flavour"] or ""].append((number, name))
    return {key: sorted(group) for key, group in groups.items()}


def _check_same_size(
    revisions: dict[Key, list[tuple[int, str]]], releases: dict[Key, list[tuple[int, str]]]
) -> None:
    complaints = [
        f"{base}{flavour}: {len(revisions.get((base, flavour), []))} symbols, "
        f"{len(releases.get((base, flavour), []))} typedefs"
        for base, flavour in sorted(revisions.keys() | releases.keys())
        if len(revisions.get((base, flavour), [])) != len(releases.get((base, flavour), []))
    ]
    if complaints:
        raise HeaderError("cuda.h and cudaTypedefs.h do not pair up\n" + "\n".join(complaints))


def _parse(name: str) -> re.Match[str]:
    match = _SPELLING.fullmatch(name)
    if match is None:
        raise HeaderError(f"not the name of a function: {name}")
    return match
