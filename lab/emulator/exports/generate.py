"""Write files for the emulated libraries, so that every symbol of the vendor's headers exists.

Run by CMake at build time; nothing it writes is committed. The output folder then holds

    cuda_stubs.c        every driver function: weak and "not implemented", or a flavour of another
    cuda_proc_table.c   name and version to symbol, for cuGetProcAddress
    cuda_error_names.c  results as text
    nvml_stubs.c        every NVML function, weak
    cuda_exports.map    the exported names, for the linker
    nvml_exports.map
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

# The modules that read the vendor's headers are shared with the interposer.
sys.path.insert(0, str(Path(__file__).resolve().parents[3] / "native" / "headers"))

import declarations
import pairing
import rendering
import twins

# The exports of our NVML library beyond NVML; nvml/report.h and nvml/faults.h declare them.
OWN_NVML = (
    "nvshareEmulatorFault",
    "nvshareEmulatorRefuse",
    "nvshareEmulatorReport",
    "nvshareEmulatorSteal",
)


def generate(compiler: str, folders: list[Path]) -> dict[str, str]:
    """Return the text of every file by name."""
    cuda_text = declarations.preprocess(compiler, folders, declarations.CUDA_HEADERS)
    nvml_text = declarations.preprocess(compiler, folders, declarations.NVML_HEADERS)
    cuda = rendering.with_undeclared(declarations.functions(cuda_text), twins.CUDA)
    nvml = rendering.with_undeclared(declarations.functions(nvml_text), twins.NVML)
    entry_points = pairing.pair(cuda, declarations.pointer_types(cuda_text))
    errors = declarations.enumerators(cuda_text, "CUresult")

    return {
        "cuda_stubs.c": rendering.cuda_stubs(cuda, twins.CUDA),
        "cuda_proc_table.c": rendering.proc_table(entry_points),
        "cuda_error_names.c": rendering.error_names(errors),
        "cuda_exports.map": rendering.export_map(cuda),
        "nvml_stubs.c": rendering.nvml_stubs(nvml, twins.NVML),
        "nvml_exports.map": rendering.export_map([*nvml, *OWN_NVML]),
    }


def main() -> int:
    """Read the command line and write the files; report each fault in one line."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--cuda-include", type=Path, nargs="+", required=True, metavar="DIR")
    parser.add_argument("--output", type=Path, required=True, metavar="DIR")
    parser.add_argument("--cc", default="cc", help="the C compiler whose preprocessor to use")
    options = parser.parse_args()
    try:
        files = generate(options.cc, options.cuda_include)
    except (declarations.HeaderError, OSError) as error:
        print(f"generate.py: {error}", file=sys.stderr)
        return 1
    options.output.mkdir(parents=True, exist_ok=True)
    for name, text in files.items():
        (options.output / name).write_text(text, encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
