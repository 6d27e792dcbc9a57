"""Print the folders that hold the header files named as arguments, separated by semicolons.

Run by CMake with the Python that builds. Looks where NVIDIA's PyPI packages put headers
(``nvidia/cu13/include``, or the folder given with ``--in``) and nowhere else; a toolkit of the
system is given to CMake by hand.
"""

import argparse
import sys
from pathlib import Path


def folder_of(header: str, include: str) -> Path | None:
    """Return the first such folder on the module path that has this header."""
    for entry in sys.path:
        folder = Path(entry or ".") / include
        if (folder / header).is_file():
            return folder.resolve()
    return None


def main() -> int:
    """Print each folder once, in the order of the headers; fail if one header is missing."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("headers", nargs="+", metavar="HEADER")
    parser.add_argument("--in", dest="include", default="nvidia/cu13/include", metavar="FOLDER")
    options = parser.parse_args()
    folders: dict[str, None] = {}
    for header in options.headers:
        folder = folder_of(header, options.include)
        if folder is None:
            print(f"{header}: not found under {options.include}", file=sys.stderr)
            return 1
        folders[folder.as_posix()] = None
    print(";".join(folders))
    return 0


if __name__ == "__main__":
    sys.exit(main())
