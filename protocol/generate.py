"""Writes everything that is made from frames.toml and environment.toml.

    python -m protocol.generate            writes
    python -m protocol.generate --check    fails if a file is not as it would be written

The files are committed, so that a build needs no generator, and a change of the protocol can be
read in a diff.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from protocol import c_text, markdown_text, python_text
from protocol.model import read_environment, read_protocol

ROOT = Path(__file__).parents[1]


def generate() -> dict[str, str]:
    """Return every file, by its path in the repository."""
    protocol = read_protocol()
    variables = read_environment()
    return {
        "native/common/frames.h": c_text.frames_header(protocol),
        "native/common/frame_check.c": c_text.checks_source(protocol),
        "native/common/environment.h": c_text.environment_header(variables),
        "src/nvshare/wire/frames.py": python_text.frames_module(protocol),
        "src/nvshare/wire/environment.py": python_text.environment_module(variables),
        "docs/environment.md": markdown_text.environment_page(variables),
    }


def main() -> int:
    """Write the files, or compare them."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--check", action="store_true", help="write nothing, compare")
    check = parser.parse_args().check
    stale = []
    for name, text in generate().items():
        path = ROOT / name
        if path.is_file() and path.read_text(encoding="utf-8") == text:
            continue
        stale.append(name)
        if not check:
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text, encoding="utf-8")
    for name in stale:
        print(f"{'differs' if check else 'written'}: {name}")
    return 1 if check and stale else 0


if __name__ == "__main__":
    sys.exit(main())
