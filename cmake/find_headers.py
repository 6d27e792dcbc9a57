"""Print the folders that hold the header files named as arguments, separated by semicolons.

Run by CMake with the Python that builds. Looks where NVIDIA's PyPI packages put headers
(``nvidia/cu13/include``) and nowhere else; a toolkit of the system is given to CMake by hand.
"""

import sys
from pathlib import Path


def folder_of(header: str) -> Path | None:
    """Return the first include folder on the module path that has this header."""
    for entry in sys.path:
        candidate = Path(entry or ".") / "nvidia" / "cu13" / "include" / header
        if candidate.is_file():
            return candidate.parent.resolve()
    return None


def main(headers: list[str]) -> int:
    """Print each folder once, in the order of the headers; fail if one header is missing."""
    folders: dict[str, None] = {}
    for header in headers:
        folder = folder_of(header)
        if folder is None:
            print(f"{header}: not found under nvidia/cu13/include", file=sys.stderr)
            return 1
        folders[folder.as_posix()] = None
    print(";".join(folders))
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
