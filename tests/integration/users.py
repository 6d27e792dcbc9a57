"""Commands under another user id, without any rights of root."""

import os
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import pairwise
from pathlib import Path

# Unused user ids; names are not needed.
ALICE, BOB = 61001, 61002

# Python may be installed where only root can go. The commands of other users see a folder in its
# place that contains only that Python. All other processes see the original folder.
_SHOW = """
mount --bind "$2" /mnt && mount -t tmpfs -o mode=755 none "$1"
mkdir "$2" && mount --bind /mnt "$2"
umount /mnt
shift 2
exec "$@"
"""


def as_user(uid: int, *groups: int) -> list[str]:
    """Return the words before a command that run it as a user with these groups."""
    number = str(uid)
    become = ["setpriv", f"--reuid={number}", f"--regid={number}"]
    become.append(f"--groups={','.join(map(str, groups))}" if groups else "--clear-groups")
    hidden = _hidden(Path(sys.executable).resolve())
    if hidden is None:
        return become
    folder, way = hidden
    return ["unshare", "--mount", "sh", "-c", _SHOW, "sh", str(folder), str(way), *become]


def _hidden(path: Path) -> tuple[Path, Path] | None:
    """Return the first folder on the way to a file that other users cannot enter, and the next."""
    steps = [*reversed(path.parents), path]
    for folder, way in pairwise(steps):
        if not folder.stat().st_mode & 0o001:
            return folder, way
    return None


def environment_of(uid: int) -> dict[str, str]:
    """Return the environment of such a user: nothing of this one but the path."""
    return {"PATH": os.environ["PATH"], "HOME": f"/nonexistent/{uid}", "LANG": "C.UTF-8"}


@contextmanager
def open_folder() -> Iterator[Path]:
    """Make a folder that other users can reach; those of pytest are for one user."""
    with tempfile.TemporaryDirectory(prefix="nvshare-test-") as name:
        folder = Path(name)
        folder.chmod(0o755)
        yield folder
