"""Programs in a root folder, with processes, devices and a /tmp of their own. Needs root."""

import contextlib
import os
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from tools.release.tree import run

# Mounts are visible to the command only, and end with it, as do processes that it leaves behind.
_OWN_NAMESPACES = ("unshare", "--mount", "--pid", "--fork", "--kill-child")
_ENTER = (
    'mount -t proc proc "$0/proc" && mount --rbind /dev "$0/dev" && '
    'mount --bind "$1" "$0/tmp" && root=$0 && shift && exec chroot "$root" /usr/bin/env -i "$@"'
)
_PATH = "/usr/sbin:/usr/bin:/sbin:/bin"
# The variables of ours that are passed on: how to reach the network, and the packages on it.
_KEPT = ("http_proxy", "https_proxy", "no_proxy", "pip_index_url", "pip_default_timeout")


@contextlib.contextmanager
def scratch() -> Iterator[Path]:
    """Yield a folder for `inside`: writable for all there, and reachable only for us here."""
    with tempfile.TemporaryDirectory(prefix="nvshare-release-") as name:
        folder = Path(name) / "tmp"
        folder.mkdir()
        folder.chmod(0o1777)
        yield folder


def inside(
    root: Path,
    command: Sequence[str],
    tmp: Path,
    environ: Mapping[str, str] | None = None,
) -> str:
    """Run a program in a root folder whose /tmp is `tmp`; return what it prints.

    Its variables are those given, and those of ours that say how to reach the network.
    """
    ours = {name: value for name, value in os.environ.items() if name.lower() in _KEPT}
    variables = {"PATH": _PATH, "LC_ALL": "C.UTF-8", **ours, **(environ or {})}
    given = [f"{name}={value}" for name, value in variables.items()]
    return run([*_OWN_NAMESPACES, "sh", "-c", _ENTER, root, tmp, *given, *command])
