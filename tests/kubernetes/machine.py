"""Whether a node of a cluster can be started on this machine, and installing its packages."""

import os
import shutil
import subprocess

from .cluster.leftovers import hierarchies

# Programs, and the Debian packages that they are in.
_NEEDED = {
    "containerd": "containerd",
    "runc": "runc",
    "etcd": "etcd-server",
    "debootstrap": "debootstrap",
    "ip": "iproute2",
    "openssl": "openssl",
    "/usr/lib/cni/bridge": "containernetworking-plugins",
}
_NAMESPACES = ("--mount", "--net", "--pid", "--ipc", "--uts", "--fork", "--mount-proc")


def obstacles() -> list[str]:
    """Say which property of this machine prevents a cluster. Missing packages do not."""
    if os.getuid() != 0:
        return ["only root can start a node"]
    found = []
    if not _may_mount():
        found.append("root may not mount file systems in namespaces of its own here")
    groups = hierarchies()
    if not groups or not all(os.access(one, os.W_OK) for one in groups):
        found.append("root may not make cgroups here")
    if (missing := _missing()) and shutil.which("apt-get") is None:
        found.append(f"there is no apt-get to install {' '.join(missing)}")
    return found


def install() -> None:
    """Install the packages that are missing."""
    if missing := _missing():
        print(f"installing {' '.join(missing)}", flush=True)
        _apt_get("update")
        _apt_get("install", "--yes", "--no-install-recommends", *missing)


def _missing() -> list[str]:
    return [package for name, package in _NEEDED.items() if shutil.which(name) is None]


def _may_mount() -> bool:
    mount = ("/bin/mount", "-t", "tmpfs", "tmpfs", "/mnt")
    done = subprocess.run(["/usr/bin/unshare", *_NAMESPACES, *mount], capture_output=True)
    return done.returncode == 0


def _apt_get(*arguments: str) -> None:
    subprocess.run(
        ["/usr/bin/apt-get", *arguments],
        env={**os.environ, "DEBIAN_FRONTEND": "noninteractive"},
        check=True,
        stdout=subprocess.DEVNULL,
    )
