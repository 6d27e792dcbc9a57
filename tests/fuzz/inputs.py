"""The inputs that are kept: a folder for each target, a file for each input.

Files that end with .hex are bytes written in hexadecimal, with comments behind "#": there are no
binaries in the repository.
"""

from pathlib import Path

FOLDER = Path(__file__).parent / "corpus"


def kept(target: str) -> dict[str, bytes]:
    """Return the inputs that are kept for a target, by name."""
    files = sorted((FOLDER / target).glob("*"))
    return {path.name: _read(path) for path in files}


def _read(path: Path) -> bytes:
    if path.suffix != ".hex":
        return path.read_bytes()
    lines = path.read_text(encoding="ascii").splitlines()
    return bytes.fromhex(" ".join(line.partition("#")[0] for line in lines))


def write(folder: Path, inputs: dict[str, bytes]) -> list[Path]:
    """Write inputs as the files that a program can read."""
    folder.mkdir(parents=True, exist_ok=True)
    paths = []
    for name, content in inputs.items():
        path = folder / name
        path.write_bytes(content)
        paths.append(path)
    return paths
