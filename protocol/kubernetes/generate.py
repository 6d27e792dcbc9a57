"""Writes the Python modules of kubelet's APIs, from the .proto files beside this one.

    python -m protocol.kubernetes.generate

The files are committed, so that an install needs no generator. A test compares them with the
generator's output.
"""

import shutil
import tempfile
from pathlib import Path

from grpc_tools import protoc

_HERE = Path(__file__).parent
_PACKAGE = "nvshare/kubernetes/api"
TARGET = _HERE.parents[1] / "src" / _PACKAGE


def generate(into: Path) -> list[Path]:
    """Write the modules and their types into a folder; return their paths."""
    names = sorted(path.name for path in _HERE.glob("*.proto"))
    with tempfile.TemporaryDirectory() as scratch:
        outputs = [f"--{kind}_out={scratch}" for kind in ("python", "pyi", "grpc_python")]
        # protoc gets the .proto files under the package's path, so that the modules import there.
        code = protoc.main(
            ["protoc", f"-I{_PACKAGE}={_HERE}", *outputs, *(f"{_PACKAGE}/{name}" for name in names)]
        )
        if code != 0:
            raise RuntimeError(f"protoc failed with exit code {code}")
        made = sorted((Path(scratch) / _PACKAGE).iterdir())
        return [Path(shutil.copy(path, into)) for path in made]


if __name__ == "__main__":
    for written in generate(TARGET):
        print(written)
