"""The generator of hooks, and programs around single files of native/interposer."""

import importlib
import subprocess
import sys
from collections.abc import Callable
from functools import cache
from pathlib import Path
from types import ModuleType

import pytest

ROOT = Path(__file__).parents[3]
INTERPOSER = ROOT / "native" / "interposer"

Build = Callable[..., Path]


def source_file(name: str) -> Path:
    """Find a file of the interposer by its name alone, or by a path from there."""
    (found,) = INTERPOSER.rglob(name) if "/" not in name else [INTERPOSER / name]
    return found


@pytest.fixture(scope="session")
def include() -> list[Path]:
    """The folders with the vendor's headers."""
    command = [sys.executable, str(ROOT / "cmake" / "find_headers.py")]
    command += ["cuda.h", "cudaTypedefs.h", "nvml.h"]
    output = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    return [Path(folder) for folder in output.strip().split(";")]


@pytest.fixture(scope="session")
def modules() -> dict[str, ModuleType]:
    """The generator's modules, by name."""
    paths = [str(INTERPOSER / "generator"), str(ROOT / "native" / "headers")]
    before = list(sys.path)
    sys.path[:0] = paths
    names = ("declarations", "pairing", "hook_list", "hook_text", "generate_hooks")
    found = {name: importlib.import_module(name) for name in names}
    sys.path[:] = before
    return found


@pytest.fixture(scope="session")
def build(
    include: list[Path], modules: dict[str, ModuleType], tmp_path_factory: pytest.TempPathFactory
) -> Build:
    """Compile a program of native/tests with some files of the interposer, under a sanitizer."""
    generated = tmp_path_factory.mktemp("generated")
    hooks_def = (INTERPOSER / "hooks.def").read_text(encoding="utf-8")
    for name, text in modules["generate_hooks"].generate("cc", include, hooks_def).items():
        (generated / name).write_text(text, encoding="utf-8")

    native = ROOT / "native"
    folders = [INTERPOSER, native / "common", native / "machine", generated]
    flags = ["-std=gnu11", "-D_GNU_SOURCE", "-g", "-O1", "-Wall", "-Wextra", "-Werror"]
    flags += ["-D__CUDA_API_VERSION_INTERNAL=", "-DNVML_NO_UNVERSIONED_FUNC_DEFS="]
    flags += [f"-I{folder}" for folder in folders]
    flags += [f"-isystem{folder}" for folder in include]

    def compiler(sanitizer: str) -> list[str]:
        if not sanitizer:
            return ["cc", *flags, "-O2"]
        return ["cc", *flags, f"-fsanitize={sanitizer}", "-fno-sanitize-recover=all"]

    # Many programs have the same files in them, and many tests run the same program.
    @cache
    def compile_file(source: Path, sanitizer: str) -> str:
        made = tmp_path_factory.mktemp("object") / f"{source.stem}.o"
        command = [*compiler(sanitizer), "-c", str(source), "-o", str(made)]
        subprocess.run(command, check=True, timeout=120)
        return str(made)

    @cache
    def compile_program(name: str, *sources: str, sanitizer: str = "address,undefined") -> Path:
        files = [ROOT / "native" / "tests" / f"{name}.c", *map(source_file, sources)]
        objects = [compile_file(file, sanitizer) for file in files]
        program = tmp_path_factory.mktemp("program") / name
        command = [*compiler(sanitizer), *objects, "-lpthread", "-o", str(program)]
        subprocess.run(command, check=True, timeout=120)
        return program

    return compile_program
