"""The programs of Kubernetes and Helm, compiled once from their own sources, and cached.

No package registry carries them; the Go module proxy has their sources. The first build takes a
good part of an hour on a small machine. They are cached outside the repository. To build them ahead
of time:

    python -m tools.binaries
"""

import os
import re
import subprocess
import tempfile
from pathlib import Path

from tools.cache import folder, kept
from tools.go import go, version

KUBERNETES = "v1.34.4"
HELM = "v3.19.5"

COMPONENTS = (
    "kube-apiserver",
    "kube-controller-manager",
    "kube-scheduler",
    "kubelet",
    "kubectl",
)
# Kubernetes requires its own parts as v0.0.0, and replaces them by folders of its repository.
_STAGING = re.compile(r"^\t(k8s\.io/\S+) v0\.0\.0$", re.MULTILINE)


def kubernetes() -> Path:
    """The folder with the programs in COMPONENTS."""
    return kept(folder() / f"kubernetes-{KUBERNETES}", _build_kubernetes)


def helm() -> Path:
    """The program helm."""
    return kept(folder() / f"helm-{HELM}", _build_helm) / "helm"


def _build_kubernetes(target: Path) -> None:
    staging = _STAGING.findall(_go_mod_of("k8s.io/kubernetes", KUBERNETES))
    replaced = KUBERNETES.replace("v1.", "v0.", 1)
    module = _write_module(
        target,
        "module nvshare.test/kubernetes",
        f"require k8s.io/kubernetes {KUBERNETES}",
        *(f"replace {name} => {name} {replaced}" for name in staging),
    )
    major, minor, _ = KUBERNETES.removeprefix("v").split(".")
    facts = {"gitVersion": KUBERNETES, "gitMajor": major, "gitMinor": minor}
    flags = [
        f"-X {package}.{name}={value}"
        for package in ("k8s.io/component-base/version", "k8s.io/client-go/pkg/version")
        for name, value in facts.items()
    ]
    for component in COMPONENTS:
        _go_build(module, f"k8s.io/kubernetes/cmd/{component}", target, flags)


def _build_helm(target: Path) -> None:
    module = _write_module(target, "module nvshare.test/helm", f"require helm.sh/helm/v3 {HELM}")
    _go_build(module, "helm.sh/helm/v3/cmd/helm", target, [])


def _write_module(target: Path, *lines: str) -> Path:
    """Write a Go module beside the target, from which third-party programs can be compiled."""
    module = target.with_name("module")
    module.mkdir()
    major, minor = version(go())
    (module / "go.mod").write_text("\n".join([*lines, f"go {major}.{minor}", ""]))
    return module


def _go_build(module: Path, package: str, target: Path, flags: list[str]) -> None:
    """One program at a time: linking one takes more than a gigabyte of memory."""
    print(f"compiling {package}", flush=True)
    out = target / package.rpartition("/")[2]
    ldflags = " ".join(["-s", "-w", *flags])
    _go("build", "-mod=mod", "-trimpath", "-ldflags", ldflags, "-o", str(out), package, cwd=module)


def _go_mod_of(module: str, version: str) -> str:
    with tempfile.TemporaryDirectory() as empty:
        path = _go("mod", "download", "-json", f"{module}@{version}", cwd=Path(empty))
    found = re.search(r'"GoMod": "([^"]+)"', path)
    if found is None:
        raise RuntimeError(f"`go mod download {module}@{version}` names no go.mod")
    return Path(found[1]).read_text()


def _go(*arguments: str, cwd: Path) -> str:
    # Static programs, so that they also run inside images that have no C library.
    environment = os.environ | {"CGO_ENABLED": "0", "GOWORK": "off"}
    done = subprocess.run(
        [go(), *arguments], cwd=cwd, env=environment, stdout=subprocess.PIPE, text=True
    )
    if done.returncode != 0:
        raise RuntimeError(f"`go {arguments[0]}` failed with exit code {done.returncode}")
    return done.stdout.strip()


if __name__ == "__main__":
    print(kubernetes())
    print(helm())
