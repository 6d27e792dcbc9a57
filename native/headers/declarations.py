"""What the vendor's headers declare, read from preprocessed C text.

The compiler's own preprocessor resolves every #if and every renaming macro first (preprocess), so
what is left is plain: prototypes, typedefs of function pointers, one enumeration. This module
does not know what the names mean; pairing.py does.
"""

from __future__ import annotations

import re
import subprocess
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

_HERE = Path(__file__).resolve().parent

# cudaTypedefs.h includes cuda.h.
CUDA_HEADERS = ("cudaTypedefs.h", _HERE / "profiler.h")
NVML_HEADERS = ("nvml.h",)

# cuda.h then declares old versions too, and declares each per-thread flavour under its own name.
# nvml.h then declares the unversioned names as functions instead of renaming them. The first of the
# two does for cuda_runtime_api.h what it does for cuda.h.
_DEFINED = ("__CUDA_API_VERSION_INTERNAL", "NVML_NO_UNVERSIONED_FUNC_DEFS")

_PROTOTYPE = re.compile(
    r"\b(?P<returns>CUresult|nvmlReturn_t|cudaError_t|const\s+char\s*\*"
    r"|struct\s+cudaChannelFormatDesc|void(?:\s*\*\s*\*)?|unsigned|char)\s*"
    r"\b(?P<name>(?:cu|nvml|cuda|__cuda)[A-Z]\w*)\s*"
    r"\((?P<parameters>[^;{}]*)\)\s*;"
)
_POINTER_TYPE = re.compile(r"\btypedef\s+CUresult\s*\(\s*\*\s*PFN_(cu\w+)\s*\)\s*\(")
_PARAMETER_NAME = re.compile(r"(\w+)\s*(?:\[\w*\]\s*)*$")


class HeaderError(Exception):
    """A header holds something that the generator does not understand."""


@dataclass(frozen=True)
class Function:
    """One prototype. The parameters are C text, each with its name."""

    returns: str
    name: str
    parameters: tuple[str, ...]

    @property
    def prototype(self) -> str:
        """The prototype as C text, without a semicolon."""
        return f"{self.returns} {self.name}({', '.join(self.parameters) or 'void'})"

    @property
    def arguments(self) -> str:
        """The names of the parameters, to pass them on in a call."""
        return ", ".join(self._name_of(parameter) for parameter in self.parameters)

    def _name_of(self, parameter: str) -> str:
        match = _PARAMETER_NAME.search(parameter)
        if match is None or match.start() == 0:
            raise HeaderError(f"{self.name}: parameter without a name: {parameter!r}")
        return match[1]


def preprocess(compiler: str, folders: Sequence[Path], headers: Sequence[Path | str]) -> str:
    """Run the C preprocessor over headers, each a path or a name to be found in the folders."""
    command = [compiler, "-E", "-P", "-x", "c", *(f"-D{name}=" for name in _DEFINED)]
    command += [f"-I{folder}" for folder in folders]
    source = "".join(f'#include "{header}"\n' for header in headers)
    result = subprocess.run(
        [*command, "-"], input=source, capture_output=True, text=True, check=False
    )
    if result.returncode != 0:
        raise HeaderError(f"the preprocessor failed\n{result.stderr}")
    return result.stdout


def functions(text: str) -> dict[str, Function]:
    """Every function that the text declares, by name, in the order of the text."""
    found: dict[str, Function] = {}
    for match in _PROTOTYPE.finditer(text):
        function = Function(
            " ".join(match["returns"].split()), match["name"], _parameters(match["parameters"])
        )
        if found.setdefault(function.name, function) != function:
            raise HeaderError(f"{function.name} is declared twice, with different parameters")
    return found


def pointer_types(text: str) -> list[str]:
    """The names of the PFN_ typedefs, without PFN_: cuMemAlloc_v3020, cuMemcpy_v7000_ptds."""
    return _POINTER_TYPE.findall(text)


def enumerators(text: str, typedef: str) -> list[str]:
    """The names in the enumeration that is typedef'd to the given name."""
    match = re.search(rf"typedef\s+enum\s+\w*\s*{{([^}}]*)}}\s*{typedef}\s*;", text)
    return _items(match, typedef)


def tagged_enumerators(text: str, tag: str) -> list[str]:
    """The names in the enumeration that is declared as ``enum tag``, without a typedef."""
    return _items(re.search(rf"\benum\s+{tag}\s*{{([^}}]*)}}\s*;", text), tag)


def _items(match: re.Match[str] | None, name: str) -> list[str]:
    if match is None:
        raise HeaderError(f"there is no enumeration {name}")
    return [item.split("=")[0].strip() for item in match[1].split(",") if item.strip()]


def _parameters(text: str) -> tuple[str, ...]:
    if "(" in text:
        raise HeaderError(f"a parameter is a function: ({text})")
    parameters = [" ".join(part.split()) for part in text.split(",")]
    return () if parameters in ([""], ["void"]) else tuple(parameters)
