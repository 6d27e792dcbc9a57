"""A library that talks like an earlier version: libnvshare.so with shorter frames."""

import json
import subprocess
from pathlib import Path

from nvshare.wire.frames import HEADER
from tools.record_frames import FOLDER

ROOT = Path(__file__).parents[1]


def earlier_library(folder: Path) -> dict[str, str]:
    """Build it; return the variables that make a program's library talk like that."""
    path = folder / "earlier.so"
    source, common = ROOT / "native/tests/earlier_client.c", ROOT / "native/common"
    command = ["cc", "-std=gnu11", "-D_GNU_SOURCE", "-Wall", "-Werror", "-shared", "-fPIC"]
    subprocess.run([*command, f"-I{common}", source, "-o", path, "-ldl"], check=True, timeout=60)
    sizes = ",".join(f"{kind}:{size}" for kind, size in _earliest_sizes().items())
    return {"LD_PRELOAD": str(path), "EARLIER_SIZES": sizes}


def _earliest_sizes() -> dict[int, int]:
    """Return the bytes of payload by type, in the first recording: its frames are the shortest."""
    recorded = json.loads(min(FOLDER.glob("*.json")).read_text(encoding="utf-8"))
    heads = (HEADER.unpack_from(bytes.fromhex(frame["bytes"])) for frame in recorded.values())
    return {kind: length for _, _, kind, length, _ in heads}
