"""hooks.def, checked against the vendor's headers. Knows nothing of C text; hook_text.py does."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from declarations import Function, HeaderError

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

GATED = ("launch", "copy", "wait", "set", "move")
TIMED = ("fetch", "sync")
BY_HAND = ("many", "alloc", "free", "info", "context", "stream", "function", "lookup")
NOT_WRAPPED = "use"
KINDS = (*GATED, *TIMED, *BY_HAND, NOT_WRAPPED)

_FLAVOURS = ("_ptsz", "_ptds")


@dataclass(frozen=True)
class Hook:
    """One symbol of the driver: a line of hooks.def, or a per-thread flavour of one."""

    kind: str
    function: Function
    stream: str | None = None
    """The C expression for its stream; None for the default stream."""
    per_thread: bool = False
    """The default stream is the calling thread's own."""

    @property
    def name(self) -> str:
        """The symbol."""
        return self.function.name

    @property
    def library(self) -> str:
        """The library that has the symbol: CUDA or NVML."""
        return "NVML" if self.name.startswith("nvml") else "CUDA"


def read(text: str, functions: Mapping[str, Function]) -> list[Hook]:
    """Return every hook, flavours included, in the order of the list."""
    hooks: dict[str, Hook] = {}
    for number, line in enumerate(text.splitlines(), start=1):
        fields = line.split("#")[0].split(maxsplit=2)
        if not fields:
            continue
        try:
            found = _hooks_of(fields, functions)
        except HeaderError as error:
            raise HeaderError(f"hooks.def, line {number}: {error}") from None
        for hook in found:
            if hooks.setdefault(hook.name, hook) is not hook:
                raise HeaderError(f"hooks.def, line {number}: {hook.name} is listed twice")
    return list(hooks.values())


def wrapped(hooks: Iterable[Hook]) -> list[Hook]:
    """Return the hooks that a program can call."""
    return [hook for hook in hooks if hook.kind != NOT_WRAPPED]


def generated(hooks: Iterable[Hook]) -> list[Hook]:
    """Return the hooks whose wrappers are generated."""
    return [hook for hook in hooks if hook.kind in (*GATED, *TIMED)]


def _hooks_of(fields: list[str], functions: Mapping[str, Function]) -> list[Hook]:
    kind, symbol, *rest = fields if len(fields) > 1 else (fields[0], "")
    if kind not in KINDS:
        raise HeaderError(f"{kind} is not one of {', '.join(KINDS)}")
    if symbol not in functions:
        raise HeaderError(f"the headers declare no {symbol or 'function'}")
    names = [symbol, *(symbol + flavour for flavour in _FLAVOURS if symbol + flavour in functions)]
    if kind == NOT_WRAPPED:
        names = [symbol]
    return [
        Hook(
            kind,
            functions[name],
            rest[0].strip() if rest else _stream_parameter(functions[name]),
            per_thread=name.endswith(_FLAVOURS),
        )
        for name in names
    ]


def _stream_parameter(function: Function) -> str | None:
    for parameter, argument in zip(
        function.parameters, function.arguments.split(", "), strict=False
    ):
        if parameter.removesuffix(argument).strip() == "CUstream":
            return argument
    return None
