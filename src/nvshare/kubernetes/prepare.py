"""Prepares a node before daemon and device plugin start: the first container of their pod.

Puts the interposer where other containers can get it, with ``python -m nvshare.kubernetes.prepare
/var/lib/nvshare``, and with ``--emulated FOLDER --gpus 2xt4`` makes an emulated node, too.
"""

import argparse
import ctypes
import os
import sys
from pathlib import Path

from nvshare.errors import NvshareError
from nvshare.kubernetes.layout import install
from nvshare.lab.emulator.conf import Settings, write_conf
from nvshare.lab.emulator.emulated_node import CONF_FILE, create, remove
from nvshare.lab.emulator.gpus import parse_gpus
from nvshare.lab.emulator.libraries import NVML, library_folder
from nvshare.wire import environment


def main() -> int:
    """Install the interposer; make the emulated node if one is wanted."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--emulated", type=Path, metavar="FOLDER")
    parser.add_argument("--gpus", default="1xt4")
    parser.add_argument("--speed", type=float, default=1.0)
    parser.add_argument("--data", choices=["on", "off"], default="on")
    given = parser.parse_args()
    try:
        print(f"installed in {install(given.folder)}")
        if given.emulated:
            emulate(given.emulated, given.gpus, Settings(given.speed, given.data))
            print(f"emulated GPUs in {given.emulated}")
    except NvshareError as error:
        print(f"nvshare: {error.what}: {error.why or ''}", file=sys.stderr)
        return 1
    return 0


def emulate(folder: Path, gpus: str, settings: Settings) -> None:
    """Make an emulated node that every user of the machine may use, unless it exists already.

    Programs may be running on an existing one: it is replaced only if it has to differ.
    """
    profiles = parse_gpus(gpus)
    folder.parent.mkdir(mode=0o755, parents=True, exist_ok=True)
    conf = folder / CONF_FILE
    if folder.exists():
        if conf.is_file() and conf.read_text() == write_conf(folder.name, settings, profiles):
            return
        remove(folder.parent, folder.name)
    create(folder.parent, folder.name, settings, profiles)
    # The first process on a node creates its state and owns it, so create it here, for all users.
    os.environ[environment.EMULATOR_NODE] = str(folder)
    library = ctypes.CDLL(str(library_folder() / NVML))
    if library.nvmlInit_v2() == 0:
        library.nvmlShutdown()
    folder.chmod(0o755)
    conf.chmod(0o644)
    (folder / "state").chmod(0o666)


if __name__ == "__main__":
    sys.exit(main())
