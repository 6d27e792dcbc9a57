"""Write the generated sources of libnvshare.so. Run by CMake at build time.

hooks.inc       HOOK(library, kind, name), one per symbol
wrappers.c      the wrappers that are not hand-written
hook_table.c    names to wrappers; names and versions to wrappers
exports.map     the exported names, for the linker
"""

from __future__ import annotations

import argparse
import re
import sys
from pathlib import Path

FOLDER = Path(__file__).resolve().parent
# The modules that read the vendor's headers are shared with the emulated GPU.
sys.path.insert(0, str(FOLDER.parents[1] / "headers"))

import declarations  # noqa: E402
import hook_list  # noqa: E402
import hook_text  # noqa: E402
import pairing  # noqa: E402


def read_functions(compiler: str, folders: list[Path]) -> dict[str, declarations.Function]:
    """Return every function of both headers, by name."""
    cuda = declarations.preprocess(compiler, folders, declarations.CUDA_HEADERS)
    nvml = declarations.preprocess(compiler, folders, declarations.NVML_HEADERS)
    return {**declarations.functions(cuda), **declarations.functions(nvml)}


def generate(compiler: str, folders: list[Path], hooks_def: str) -> dict[str, str]:
    """Return the text of every file by name."""
    cuda = declarations.preprocess(compiler, folders, declarations.CUDA_HEADERS)
    hooks = hook_list.read(hooks_def, read_functions(compiler, folders))
    entry_points = pairing.pair(declarations.functions(cuda), declarations.pointer_types(cuda))
    return {
        "hooks.inc": hook_text.hook_macros(hooks),
        "wrappers.c": hook_text.wrappers(hooks),
        "hook_table.c": hook_text.hook_table(hooks, entry_points, _cuda_version(folders)),
        "exports.map": hook_text.export_map(hooks),
    }


def _cuda_version(folders: list[Path]) -> int:
    for folder in folders:
        header = folder / "cuda.h"
        match = header.is_file() and re.search(
            r"^#define CUDA_VERSION (\d+)", header.read_text(encoding="utf-8"), re.MULTILINE
        )
        if match:
            return int(match[1])
    raise declarations.HeaderError("cuda.h does not say its version")


def main() -> int:
    """Read the command line, write the files, and report each fault in one line."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--cuda-include", type=Path, nargs="+", required=True, metavar="DIR")
    parser.add_argument("--output", type=Path, required=True, metavar="DIR")
    parser.add_argument("--cc", default="cc", help="the C compiler whose preprocessor to use")
    options = parser.parse_args()
    try:
        hooks_def = (FOLDER.parent / "hooks.def").read_text(encoding="utf-8")
        files = generate(options.cc, options.cuda_include, hooks_def)
    except (declarations.HeaderError, OSError) as error:
        print(f"generate_hooks.py: {error}", file=sys.stderr)
        return 1
    options.output.mkdir(parents=True, exist_ok=True)
    for name, text in files.items():
        (options.output / name).write_text(text, encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
