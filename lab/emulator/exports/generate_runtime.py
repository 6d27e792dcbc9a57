"""Write files for an emulated CUDA runtime, so that every symbol of the vendor's headers exists.

Run by CMake at build time, once per major version; nothing it writes is committed. The output
folder then holds

    stubs.c        every runtime function: weak and "not implemented", or a flavour of another
    error_names.c  results as text
    exports.map    the exported names, for the linker, with the version that programs ask for
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

_HERE = Path(__file__).resolve().parent
# The modules that read the vendor's headers are shared with the interposer.
sys.path.insert(0, str(_HERE.parents[2] / "native" / "headers"))

import declarations  # noqa: E402
import rendering  # noqa: E402

RUNTIME_HEADERS = ("cuda_runtime_api.h", _HERE.parent / "runtime" / "undeclared.h")


def generate(compiler: str, folders: list[Path], soname: str) -> dict[str, str]:
    """Return the text of every file by name."""
    text = declarations.preprocess(compiler, folders, RUNTIME_HEADERS)
    functions = declarations.functions(text)
    errors = declarations.tagged_enumerators(text, "cudaError")
    return {
        "stubs.c": rendering.runtime_stubs(functions),
        "error_names.c": rendering.runtime_error_names(errors),
        # The vendor's library gives all its symbols one version, which is its own name.
        "exports.map": rendering.export_map(functions, version=soname),
    }


def main() -> int:
    """Read the command line and write the files; report each fault in one line."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--cuda-include", type=Path, nargs="+", required=True, metavar="DIR")
    parser.add_argument("--soname", required=True, metavar="NAME")
    parser.add_argument("--output", type=Path, required=True, metavar="DIR")
    parser.add_argument("--cc", default="cc", help="the C compiler whose preprocessor to use")
    options = parser.parse_args()
    try:
        files = generate(options.cc, options.cuda_include, options.soname)
    except (declarations.HeaderError, OSError) as error:
        print(f"generate_runtime.py: {error}", file=sys.stderr)
        return 1
    options.output.mkdir(parents=True, exist_ok=True)
    for name, text in files.items():
        (options.output / name).write_text(text, encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
