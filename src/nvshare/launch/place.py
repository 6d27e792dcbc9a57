"""The folder of the sockets: where a daemon makes them, and where a client looks for them."""

import grp
import os
import socket
import stat
from collections.abc import Mapping
from contextlib import closing
from pathlib import Path

from nvshare.errors import NvshareError
from nvshare.launch.trust import SYSTEM, Trust, judge, judge_peer, not_believed
from nvshare.users import user_name
from nvshare.wire import environment
from nvshare.wire.places import SOCKET_NAME

CONTROL_NAME = "control.sock"
LOOK_NAME = "look.sock"


def own_folder(environ: Mapping[str, str]) -> Path:
    """Return the folder in which a daemon of this user makes its sockets."""
    if given := environ.get(environment.SOCKET_DIR):
        return Path(given).absolute()
    # An emulated node is a machine of its own, and has its own daemon.
    if node := environ.get(environment.EMULATOR_NODE):
        return Path(node) / "daemon"
    if os.getuid() == 0:
        return SYSTEM
    if runtime := environ.get("XDG_RUNTIME_DIR"):
        return Path(runtime) / "nvshare"
    return Path(f"/tmp/nvshare-{os.getuid()}")  # noqa: S108 (its owner is checked)


def candidates(environ: Mapping[str, str]) -> list[Path]:
    """Return the folders in which a client looks for a daemon; the machine's comes first."""
    own = own_folder(environ)
    is_fixed = environ.get(environment.SOCKET_DIR) or environ.get(environment.EMULATOR_NODE)
    return [own] if is_fixed or own == SYSTEM else [SYSTEM, own]


def check_node(environ: Mapping[str, str]) -> None:
    """Refuse to use a removed emulated node: making its folder again would not make a node."""
    folder = environ.get(environment.EMULATOR_NODE)
    if folder and not (Path(folder) / "node.conf").is_file():
        name = Path(folder).name
        raise NvshareError(
            f'the emulated node "{name}" is gone',
            why=f"NVSHARE_EMULATOR_NODE is still {folder} here",
            do=f"start it again with `nvshare emulate up {name}`, or leave it with "
            '`eval "$(nvshare emulate env --unset)"`',
        )


def find_daemon(environ: Mapping[str, str]) -> Path | None:
    """Return the folder of a daemon that answers."""
    places = candidates(environ)
    return next((folder for folder in places if _is_daemon(folder / SOCKET_NAME, environ)), None)


def control_socket(environ: Mapping[str, str]) -> Path:
    """Return the socket of a daemon that answers; if none does, the place where it would be."""
    if given := environ.get(environment.CONTROL_DIR):
        return Path(given) / CONTROL_NAME
    places = [folder / CONTROL_NAME for folder in candidates(environ)]
    return next((place for place in places if _is_there(place, environ)), places[0])


def _is_there(path: Path, environ: Mapping[str, str]) -> bool:
    """Whether a daemon listens on a socket, even if it does not let us in."""
    try:
        return _is_daemon(path, environ)
    except NvshareError:
        return True


def _is_daemon(path: Path, environ: Mapping[str, str]) -> bool:
    """Whether a trusted daemon listens on a socket."""
    try:
        return judge(path, environ) == Trust.YES and answers(path, environ)
    except FileNotFoundError:
        return False
    except PermissionError as error:
        raise not_allowed(path) from error
    except OSError:
        return False


def check_believed(sock: socket.socket, path: Path, environ: Mapping[str, str]) -> None:
    """Refuse to talk to a peer that is not trusted as the daemon."""
    verdict = judge(path, environ)
    if verdict == Trust.YES:
        verdict = judge_peer(sock, path, environ)
    if verdict != Trust.YES:
        raise not_believed(path, verdict)


def answers(path: Path, environ: Mapping[str, str] | None = None) -> bool:
    """Whether a process listens on a socket; with an environment, only a trusted one counts."""
    with closing(socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)) as sock:
        try:
            sock.connect(str(path))
        except PermissionError as error:
            # A second daemon beside it would give away the same GPUs again.
            raise not_allowed(path) from error
        except OSError:
            return False
        return environ is None or judge_peer(sock, path, environ) == Trust.YES


def not_allowed(path: Path) -> NvshareError:
    """Return the error that says which users a socket lets in, and how to become one of them."""
    do = (
        "ask an administrator to set socket_mode and socket_group of the daemon so that you may, "
        "or name the folder of another daemon in NVSHARE_SOCKET_DIR"
    )
    why = f"{path} does not let you connect"
    try:
        found = path.stat()
        group = grp.getgrgid(found.st_gid).gr_name
    except (OSError, KeyError):
        return NvshareError("you may not use the daemon of this machine", why=why, do=do)
    if found.st_mode & stat.S_IWGRP and found.st_gid:
        why += f": it is for the group {group}"
        user = user_name(os.getuid())
        do = f"ask an administrator to run `sudo usermod -aG {group} {user}`, and log in again"
    return NvshareError("you may not use the daemon of this machine", why=why, do=do)
