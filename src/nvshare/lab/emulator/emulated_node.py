"""An emulated node: a folder that names its GPUs. Created, found, described and removed here.

There is no daemon. The folder holds ``node.conf``, and from the first use on ``state``, the shared
state of the native libraries of all programs on the node.
"""

import os
import re
import secrets
import shutil
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from nvshare.errors import BadInputError, NvshareError
from nvshare.lab.emulator.conf import Conf, Settings, format_speed, read_conf, write_conf
from nvshare.lab.emulator.libraries import RUNTIMES
from nvshare.lab.emulator.profile import Profile
from nvshare.linker import library_path, preload, preloaded

DEFAULT_NAME = "default"
CONF_FILE = "node.conf"

# A name becomes a folder's name and a line of node.conf, and the native side keeps it in 64 bytes
# with a zero at the end. A leading dot marks a folder that is being made or removed, and that no
# other program should use.
_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,62}")


@dataclass(frozen=True)
class Node:
    """A node that exists."""

    name: str
    folder: Path
    speed: float
    gpu_names: tuple[str, ...]

    def environment(self, libraries: Path, inherited: Mapping[str, str]) -> dict[str, str]:
        """Return the variables that put a program on this node, and nothing else.

        ``inherited`` is the environment the program would have had: its library path and its
        preloads are kept, after ours.
        """
        return {
            # A program with its own CUDA runtime has the path to it built in (RPATH), and that
            # comes before the library path. But a library of the same name that is already loaded
            # comes before both.
            **preload([libraries / name for name in RUNTIMES], inherited),
            "LD_LIBRARY_PATH": library_path([str(libraries)], inherited),
            "NVSHARE_EMULATOR_NODE": str(self.folder),
            "NVSHARE_EMULATOR_SPEED": format_speed(self.speed),
        }


def environment_without(libraries: Path, inherited: Mapping[str, str]) -> dict[str, str]:
    """Return the values of a node's variables for a program off the node; empty: unset."""
    folders = inherited.get("LD_LIBRARY_PATH", "").split(":")
    return {
        "LD_PRELOAD": " ".join(preloaded(inherited, RUNTIMES)),
        "LD_LIBRARY_PATH": ":".join(one for one in folders if one != str(libraries)),
        "NVSHARE_EMULATOR_NODE": "",
        "NVSHARE_EMULATOR_SPEED": "",
    }


def create(root: Path, name: str, settings: Settings, profiles: Sequence[Profile]) -> Node:
    """Make a node. It appears complete or not at all."""
    _check_name(name)
    draft = _hidden_name(root, name)
    draft.mkdir(mode=0o700)
    try:
        conf = write_conf(name, settings, profiles)
        (draft / CONF_FILE).write_text(conf, encoding="ascii")
        # Renaming onto a folder that has files in it fails, so two creators cannot both win.
        draft.rename(root / name)
    except OSError as error:
        shutil.rmtree(draft, ignore_errors=True)
        if not (root / name).exists():
            raise
        raise BadInputError(
            f'there is an emulated node called "{name}" already',
            why=f"its folder is {root / name}",
            do=f"use it, choose another name, or remove it with `nvshare emulate down {name}`",
        ) from error
    return find(root, name)


def find(root: Path, name: str) -> Node:
    """Return the node of this name."""
    _check_name(name)
    folder = root / name
    try:
        conf = read_conf((folder / CONF_FILE).read_text(encoding="ascii"))
        return _node(folder, conf)
    except FileNotFoundError as error:
        others = list_names(root)
        raise BadInputError(
            f'there is no emulated node called "{name}"',
            why=f"the nodes are {', '.join(others)}" if others else "there is no node at all",
            do=f"start it with `nvshare emulate up {name} --gpus 2xt4`",
        ) from error
    except (ValueError, KeyError) as error:
        raise NvshareError(
            f'the configuration of the emulated node "{name}" cannot be read',
            why=f"{folder / CONF_FILE}: {error}",
            do=f"remove it with `nvshare emulate down {name}` and start it again",
        ) from error


def host_bytes(folder: Path) -> int:
    """Return the memory of the machine that a node's GPUs are in."""
    return int(read_conf((folder / CONF_FILE).read_text(encoding="ascii")).node["host_bytes"])


def node_speed(folder: Path) -> float:
    """Return the emulated seconds that pass on a node in a real second."""
    return float(read_conf((folder / CONF_FILE).read_text(encoding="ascii")).node["speed"])


def keeps_data(folder: Path) -> bool:
    """Return whether the memory of a node's GPUs holds bytes, or is only counted."""
    return read_conf((folder / CONF_FILE).read_text(encoding="ascii")).node["data"] == "on"


def list_names(root: Path) -> list[str]:
    """Return the names of all nodes, sorted."""
    return sorted(entry.name for entry in root.iterdir() if _NAME.fullmatch(entry.name))


def remove(root: Path, name: str) -> None:
    """Remove a node, even one whose node.conf is damaged.

    Programs that still run on it keep the state they have mapped; no new program finds the node.
    """
    _check_name(name)
    gone = _hidden_name(root, name)
    try:
        (root / name).rename(gone)
    except FileNotFoundError:
        # Fails, and lists the nodes that exist.
        find(root, name)
        raise
    shutil.rmtree(gone)


def _node(folder: Path, conf: Conf) -> Node:
    return Node(
        name=conf.node["name"],
        folder=folder,
        speed=float(conf.node["speed"]),
        gpu_names=tuple(gpu["name"] for gpu in conf.gpus),
    )


def _hidden_name(root: Path, name: str) -> Path:
    return root / f".{name}.{os.getpid()}.{secrets.token_hex(4)}"


def _check_name(name: str) -> None:
    if not _NAME.fullmatch(name):
        raise BadInputError(
            f'"{name}" cannot be the name of a node',
            why="a name has up to 63 letters, digits, dots, dashes and underscores, and starts "
            "with a letter or digit",
            do="choose another name",
        )
