"""Writes docs/files.md, every source file in one line, and the tree of ARCHITECTURE.md.

`make reference`; a test compares. The line of a file is the first sentence of its docstring or of
the comment at its top; for a pair of .c and .h, that of the .h. Folders without a docstring have a
README, or a line here.
"""

import ast
import re
from collections.abc import Iterator
from pathlib import Path

from tools.docs.pages import ROOT

HEAD = """\
# Every file in one line

<!-- Written by `make reference` from docstrings and comments. Do not edit. -->

The first sentence of each file. [ARCHITECTURE.md](../ARCHITECTURE.md) shows how they work together.
"""
# First what runs on a node, then the laboratory: everything in folders called lab.
PARTS = {
    "What runs on a GPU node": (
        *("src/nvshare/core", "src/nvshare/daemon", "src/nvshare/wire", "src/nvshare/limits"),
        "src/nvshare/telemetry",
        *("src/nvshare/launch", "src/nvshare/cli", "src/nvshare/web", "src/nvshare/kubernetes"),
        *("src/nvshare/probe", "src/nvshare/machine", "src/nvshare"),
        *("native/interposer", "native/machine", "native/common", "native/headers"),
        *("native/otherlibc", "protocol"),
    ),
    "The laboratory: emulated GPUs, simulator, measurements": (
        "src/nvshare/lab",
        "src/nvshare/cli/lab",
        "lab",
    ),
}
# Beside the sources, for the tree only.
_AROUND = {
    "docs": "Tutorial, how-to, explanation, reference: README.md lists the pages.",
    "deploy": "systemd unit, Helm chart with alerts and a dashboard, manifests, Dockerfile.",
    "examples": "Programs that the commands in README run.",
    "tests/unit": "Mirrors src/nvshare; C parts under sanitizers, models in virtual time.",
    "tests/property": "Hypothesis: histories of events against the core.",
    "tests/replay": "Journals of scheduling bugs: events with the effects they must have.",
    "tests/integration": "Real programs, daemon and interposer on emulated GPUs.",
    "tests/kubernetes": "A real cluster of one node (make test-k8s).",
    "tests/pytorch": "PyTorch from PyPI, bare and under nvshare (make test-torch).",
    "tests/web": "The web page in Chromium (make test-web).",
    "tools": "Generates documentation and manifests, builds releases, adds up test results.",
}
_TREE = re.compile(r"(<!-- tree: .*? -->\n)(.*?)(<!-- end of tree -->)", re.DOTALL)
_FOLDERS = {
    "native/common": "Shared by native libraries: frames and their bytes, the log, quantities.",
    "native/headers": "Reads the declarations of the vendor's headers, for generators of C.",
    "native/machine": "The state machine of a client, as a table: inputs in, actions out.",
    "native/otherlibc": "The library that programs of musl images get instead of the interposer.",
    "native/interposer/generator": "Generates wrappers, table and exports from hooks.def.",
    "lab/emulator/api": "The driver's calls: each checks its arguments, and creates a task.",
    "lab/emulator/exports": "Every name of the vendor's headers, generated.",
    "lab/emulator/image": "Reads names, parameters and resources from PTX, cubins and fatbins.",
    "lab/emulator/kernels": "The few kernels that compute.",
    "lab/emulator/model": "The shared state of processes of a node: one file, one lock, one clock.",
    "lab/emulator/nvml": "libnvidia-ml.so.1.",
    "lab/emulator/process": "The state of one process: contexts, streams, memory, queues of work.",
    "lab/emulator/runtime": "libcudart.so.12 and .13, the CUDA runtime on the emulated driver.",
    "lab/workloads/driver": "In C, on the driver API.",
    "lab/workloads/pytorch": "On PyTorch.",
    "lab/bench": "Programs that `nvshare bench` runs.",
    "lab/tests": "Programs that test parts of the emulator; the tests compile them.",
    "lab/tests/kill_at_every_instruction": "Kills a process wherever it changes the node.",
    "protocol": "Tables from which C, Python and documentation are generated.",
    "protocol/kubernetes": "The protocols of kubelet, as .proto files.",
}
_SENTENCE = re.compile(r"(.+?[.!?])(\s|$)", re.DOTALL)
_COMMENT = re.compile(r"/\*(.*?)\*/", re.DOTALL)


def with_tree(text: str) -> str:
    """Return a page with its tree up to date."""
    lines = []
    for title, folders in PARTS.items():
        lines += ["", f"    # {title}"]
        elsewhere = {folder for every in PARTS.values() for folder in every}
        for folder in folders:
            lines += _tree(ROOT / folder, elsewhere - {folder})
    lines += ["", "    # Around it", *(_line(name, about) for name, about in _AROUND.items()), ""]
    return _TREE.sub(lambda found: found[1] + "\n".join(lines) + "\n" + found[3], text)


def _tree(folder: Path, elsewhere: set[str]) -> Iterator[str]:
    if any(_files(folder)):
        yield _line(folder.relative_to(ROOT).as_posix(), about_folder(folder))
    for below in _below(folder, elsewhere):
        yield from _tree(below, elsewhere)


def _line(name: str, about: str) -> str:
    return f"    {name + '/':<38} {about.replace('``', '`')}"


def page() -> str:
    """Return the page of all files."""
    every = {folder for folders in PARTS.values() for folder in folders}
    lines = [HEAD]
    for title, folders in PARTS.items():
        lines.append(f"## {title}\n")
        for folder in folders:
            lines += _section(ROOT / folder, every - {folder})
    return "\n".join(lines)


def _section(folder: Path, elsewhere: set[str]) -> Iterator[str]:
    name = folder.relative_to(ROOT).as_posix()
    files = [f"| `{path.name}` | {_cell(about(path))} |" for path in _files(folder)]
    if files:
        yield f"### {name}/\n"
        yield f"{about_folder(folder)}\n"
        yield "| file | |\n|---|---|"
        yield from [*files, ""]
    for below in _below(folder, elsewhere):
        yield from _section(below, elsewhere)


def _below(folder: Path, elsewhere: set[str]) -> Iterator[Path]:
    for path in sorted(folder.iterdir()):
        is_here = path.relative_to(ROOT).as_posix() not in elsewhere
        if path.is_dir() and is_here and path.name != "__pycache__":
            yield path


def _files(folder: Path) -> Iterator[Path]:
    """Sources, sorted by name. A .c and its header count as one."""
    for path in sorted(folder.iterdir()):
        is_told = path.suffix == ".c" and path.with_suffix(".h").exists()
        is_source = path.suffix in {".py", ".c", ".h"} and not path.stem.endswith(("_pb2", "_grpc"))
        if is_source and path.name != "__init__.py" and not is_told:
            yield path


def about_folder(folder: Path) -> str:
    """Return the first sentence about a folder."""
    if (init := folder / "__init__.py").exists():
        return about(init)
    if (readme := folder / "README.md").exists():
        title = readme.read_text(encoding="utf-8").splitlines()[0].removeprefix("# ")
        text = title.partition(": ")[2] or title
        return text[0].upper() + text[1:] + "."
    return _FOLDERS[folder.relative_to(ROOT).as_posix()]


def about(path: Path) -> str:
    """Return the first sentence of a file's docstring or comment."""
    text = path.read_text(encoding="utf-8")
    if path.suffix == ".py":
        said = ast.get_docstring(ast.parse(text)) or ""
    else:
        found = _COMMENT.search(text)
        said = re.sub(r"(?m)^\s*\*", "", found[1]) if found else ""
    sentence = _SENTENCE.match(" ".join(said.split("\n\n")[0].split()))
    if not sentence:
        raise ValueError(f"{path} has no sentence at its top that says what it is")
    return sentence[1]


def _cell(text: str) -> str:
    escaped = text.replace("``", "`").replace("|", "\\|").replace("<", "&lt;")
    return escaped.replace("__", "\\_\\_").replace("*", "\\*")
