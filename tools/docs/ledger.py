"""Writes docs/hooks.md: every function of the driver, its first CUDA, and what nvshare does.

The functions and their releases are those of the newest headers (native/headers).
native/interposer/hooks.def and not_hooked.toml say how nvshare treats them. `make reference` writes
the page, and a test compares.
"""

import re
import subprocess
import sys
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

from nvshare.parsing import parse_toml
from tools.docs.pages import ROOT

_INTERPOSER = ROOT / "native" / "interposer"
sys.path[:0] = [str(_INTERPOSER / "generator"), str(ROOT / "native" / "headers")]

import declarations  # noqa: E402
import generate_hooks  # noqa: E402
import hook_list  # noqa: E402
import pairing  # noqa: E402

# Older releases are listed under this one.
OLDEST = 11080
# What each kind of hooks.def means to a program.
_KINDS = {
    "launch": "waits for the turn, and counts as work",
    "copy": "waits for the turn, and counts as work",
    "wait": "waits for the turn",
    "fetch": "waits for the turn, and its time counts as busy",
    "set": "waits for the turn, and counts as work",
    "move": "waits for the turn",
    "sync": "its time counts as busy",
    "many": "waits for the turns on all GPUs that it launches on",
    "alloc": "memory is counted and limited, and made movable where possible",
    "free": "memory is no longer counted",
    "info": "answers for this program alone",
    "context": "contexts are tracked",
    "stream": "streams are tracked",
    "function": "nvshare notices when the program's function is called",
    "lookup": "returns nvshare's functions",
}
_HEAD = """\
# Every function of the driver

<!-- Written by `make reference` from native/interposer. Do not edit. -->

This page says how nvshare treats each function of the CUDA driver API, up to CUDA {newest}. A
function is either hooked, and the page says what for, or passed through: the program calls the
driver directly, for the reason given. No function is refused in general. A hooked function refuses
a request that exceeds a limit, or that [explicit memory](explicit.md) does not support. A function
of a newer CUDA release is passed through, and `NVSHARE_LOG=info` names it when a program looks it
up.

"Since" is the CUDA release that introduced the function, or this revision of it (`_v2`, `_v3`),
according to `cudaTypedefs.h`. Programs that were built with an older CUDA call functions of that
release, and all of these are listed: the headers of 11.8, 12.0 and 12.9 declare no function that
those of {newest} lack. Variants for the stream of a thread (`_ptsz`, `_ptds`) are treated like
their function. [The interposer](interposer.md) describes how calls are intercepted.
"""


@dataclass(frozen=True)
class Row:
    """A function of the driver: its first release, and how nvshare treats it."""

    symbol: str
    since: int
    kind: str = ""
    # Of not_hooked.toml, counted from 1; 0: it is hooked.
    reason: int = 0


def headers(*arguments: str) -> list[Path]:
    """Return the folders of the vendor's headers, as the build finds them."""
    command = [sys.executable, str(ROOT / "cmake" / "find_headers.py"), *arguments]
    found = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    return [Path(folder) for folder in found.strip().split(";")]


def entry_points(folders: list[Path]) -> dict[str, int]:
    """Return the functions that some headers declare, without flavours, and their releases."""
    text = declarations.preprocess("cc", folders, declarations.CUDA_HEADERS)
    found = pairing.pair(declarations.functions(text), declarations.pointer_types(text))
    return {one.symbol: one.version for one in found}


def reasons() -> list[tuple[str, list[str]]]:
    """Return the reasons why functions are not hooked, with the functions."""
    tree = parse_toml((_INTERPOSER / "not_hooked.toml").read_text(encoding="utf-8"))
    return [(group["reason"], group["functions"]) for group in tree["cuda"]]


def rows() -> list[Row]:
    """Return all functions of the newest headers, by name."""
    folders = headers("cuda.h", "cudaTypedefs.h", "nvml.h")
    hooks_def = (_INTERPOSER / "hooks.def").read_text(encoding="utf-8")
    functions = generate_hooks.read_functions("cc", folders)
    kinds = {h.name: h.kind for h in hook_list.wrapped(hook_list.read(hooks_def, functions))}
    why = {name: number for number, (_, names) in enumerate(reasons(), start=1) for name in names}
    return [
        Row(symbol, since, kinds.get(symbol, ""), 0 if symbol in kinds else why[symbol])
        for symbol, since in sorted(entry_points(folders).items())
    ]


def page() -> str:
    """Return the page."""
    every = rows()
    newest = _release(max(row.since for row in every))
    parts = [_HEAD.format(newest=newest), _by_release(every), _why(), _list(every)]
    return "\n".join(parts)


def _release(number: int) -> str:
    return f"{number // 1000}.{number % 1000 // 10}"


def _table(*lines: Iterable[str]) -> str:
    head, *rest = (f"| {' | '.join(line)} |" for line in lines)
    return "\n".join([head, re.sub(r"[^|]+", "---", head), *rest, ""])


def _by_release(every: list[Row]) -> str:
    releases: Mapping[int, list[Row]] = {
        since: [row for row in every if max(row.since, OLDEST) == since]
        for since in sorted({max(row.since, OLDEST) for row in every})
    }
    lines = [
        (
            f"{_release(since)}{' and before' if since == OLDEST else ''}",
            str(len(new)),
            str(sum(not row.reason for row in new)),
            str(sum(bool(row.reason) for row in new)),
        )
        for since, new in releases.items()
    ]
    total = (
        f"{_release(max(releases))} in all",
        str(len(every)),
        str(sum(not row.reason for row in every)),
        str(sum(bool(row.reason) for row in every)),
    )
    head = ("CUDA", "new functions", "hooked", "passed through")
    return "## By release\n\n" + _table(head, *lines, total)


def _why() -> str:
    lines = [(str(number), why) for number, (why, _) in enumerate(reasons(), start=1)]
    return "## Why functions are passed through\n\n" + _table(("", "reason"), *lines)


def _list(every: list[Row]) -> str:
    lines = [
        (
            f"`{row.symbol}`",
            _release(row.since),
            f"passed through ({row.reason})"
            if row.reason
            else f"hooked ({row.kind}): {_KINDS[row.kind]}",
        )
        for row in every
    ]
    return "## All functions\n\n" + _table(("function", "since", "what nvshare does"), *lines)


def main() -> None:
    """Write it."""
    (ROOT / "docs" / "hooks.md").write_text(page(), encoding="utf-8")


if __name__ == "__main__":
    main()
