"""Renders the chart into plain manifests, for people without Helm.

python -m tools.manifests
"""

import subprocess
from pathlib import Path

from tools.binaries import KUBERNETES, helm

_ROOT = Path(__file__).parents[1]
CHART = _ROOT / "deploy" / "helm" / "nvshare"
TARGET = _ROOT / "deploy" / "manifests"

_HEADER = """\
# {about}
# Made from deploy/helm/nvshare with `make manifests`: do not edit.
"""
_MANIFESTS = {
    "nvshare.yaml": ("nvshare on nodes with NVIDIA GPUs.", {}),
    "nvshare-emulated.yaml": (
        "nvshare with two emulated T4s on every node, to try it on any cluster.",
        {"emulated.enabled": "true"},
    ),
}


def render(values: dict[str, str] | None = None, *options: str) -> str:
    """Return the chart as Helm renders it. Values are written as with ``helm --set``."""
    settings = {"namespace.create": "true", **(values or {})}
    done = subprocess.run(
        [
            *(helm(), "template", "nvshare", CHART, "--namespace=nvshare"),
            f"--kube-version={KUBERNETES}",
            *(f"--set={name}={value}" for name, value in settings.items()),
            *options,
        ],
        capture_output=True,
        text=True,
    )
    if done.returncode != 0:
        raise RuntimeError(done.stderr.strip())
    return done.stdout


def manifests() -> dict[str, str]:
    """Return every manifest, by the name of its file."""
    return {
        name: _HEADER.format(about=about) + render(values)
        for name, (about, values) in _MANIFESTS.items()
    }


if __name__ == "__main__":
    for name, text in manifests().items():
        (TARGET / name).write_text(text)
        print(TARGET / name)
