"""Runs the commands of a page: its blocks marked `<!-- run -->`, in one shell, as a reader would.

The shell is in a folder of its own that looks like the repository, with nodes, sockets and a home
of its own, so that the user's files and daemons are not touched.
"""

import os
import signal
import subprocess
import sys
from pathlib import Path

from tools.docs.pages import ROOT, blocks
from tools.docs.shell import lines_of_commands

# A page says `sleep 2` where a reader waits until programs have connected. On a busy machine that
# takes longer, so programs started with `nvshare run` are waited for first.
_PATIENCE = """\
sleep() {
    local wanted; wanted=$(jobs -r | grep -c "nvshare run" || true)
    for _ in {1..100}; do
        [[ $(nvshare ls 2>/dev/null | wc -l) -ge $wanted ]] && break
        command sleep 0.1
    done
    command sleep "$1"
}
set -x
"""


def script(page: Path) -> str:
    """Return the commands of a page that are to be run, as they would be typed."""
    lines = [
        line for block in blocks(page) if block.is_run for line in lines_of_commands(block.text)
    ]
    return _PATIENCE + "\n".join(lines) + "\n"


def run(page: Path, folder: Path, seconds: float = 60) -> "subprocess.CompletedProcess[str]":
    """Run the commands of a page, up to the first that fails. The folder is empty, and ours."""
    place = folder / "nvshare"
    place.mkdir()
    for path in ROOT.iterdir():
        if path.name not in (".git", ".venv", "build", "dist"):
            (place / path.name).symlink_to(path)
    inherited = {k: v for k, v in os.environ.items() if not k.startswith(("NVSHARE_", "LD_"))}
    environment = {
        **inherited,
        "PATH": f"{Path(sys.executable).parent}:{inherited['PATH']}",
        "HOME": str(folder),
        "XDG_RUNTIME_DIR": str(folder),
        "NVSHARE_EMULATOR_ROOT": str(folder / "nodes"),
    }
    shell = subprocess.Popen(
        ["/bin/bash", "-eu", "-o", "pipefail", "-c", script(page)],
        cwd=place,
        env=environment,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        start_new_session=True,
    )
    try:
        output, _ = shell.communicate(timeout=seconds)
    except subprocess.TimeoutExpired:
        os.killpg(shell.pid, signal.SIGKILL)
        output, _ = shell.communicate()
        output += f"\n(not finished after {seconds:g} s)"
    return subprocess.CompletedProcess(page.name, shell.returncode, output)
