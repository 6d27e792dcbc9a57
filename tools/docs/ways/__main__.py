"""Records all ways, and writes docs/ways/*.calls."""

from pathlib import Path
from tempfile import TemporaryDirectory

from tools.docs.ways.native_calls import build_traced
from tools.docs.ways.scenes import SCENES, record
from tools.docs.ways.way import FOLDER, as_text, read


def main() -> None:
    """Record, and say how many files each way has."""
    with TemporaryDirectory() as folder:
        library = build_traced(Path(folder))
        for name in SCENES:
            text = as_text(record(name, library))
            (FOLDER / f"{name}.calls").write_text(text, encoding="utf-8")
            print(f"{name}: {len(read(name).files)} files")


if __name__ == "__main__":
    main()
