"""An image from a root folder, as an archive that container runtimes import."""

import hashlib
import io
import json
import subprocess
import tarfile
import tempfile
from pathlib import Path
from typing import Any

from .dockerfile import Built


def write_archive(built: Built, name: str, target: Path) -> None:
    """Write an image with one layer."""
    with tempfile.TemporaryDirectory(dir=target.parent) as scratch:
        layer = Path(scratch) / "layer.tar"
        subprocess.run(
            ["/bin/tar", "--numeric-owner", "--sort=name", "-cf", layer, "-C", built.root, "."],
            check=True,
        )
        digest = hashlib.sha256()
        with layer.open("rb") as file:
            while block := file.read(1 << 20):
                digest.update(block)
        with tarfile.open(target, "w") as archive:
            archive.add(layer, "layer.tar")
            _add(archive, "config.json", _config(built, digest.hexdigest()))
            manifest = {"Config": "config.json", "RepoTags": [name], "Layers": ["layer.tar"]}
            _add(archive, "manifest.json", [manifest])


def _config(built: Built, digest: str) -> dict[str, Any]:
    return {
        "architecture": "amd64",
        "os": "linux",
        "config": {
            "Env": [f"{key}={value}" for key, value in built.environment.items()],
            "User": built.user,
            "Cmd": built.command,
            "Labels": built.labels,
        },
        "rootfs": {"type": "layers", "diff_ids": [f"sha256:{digest}"]},
    }


def _add(archive: tarfile.TarFile, name: str, content: Any) -> None:
    data = json.dumps(content).encode()
    info = tarfile.TarInfo(name)
    info.size = len(data)
    archive.addfile(info, io.BytesIO(data))
