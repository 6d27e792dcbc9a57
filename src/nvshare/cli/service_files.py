"""The files of the system service, as text: the unit of systemd, and a first configuration."""

from importlib.resources import files
from pathlib import Path

from nvshare.errors import NvshareError

UNIT = Path("etc/systemd/system/nvshare.service")
CONFIG = Path("etc/nvshare/config.toml")
_TEMPLATE = "nvshare.service"
_COMMAND = "/usr/bin/nvshare daemon"
# The folders that ProtectHome= hides, and those that PrivateTmp= hides.
_HOMES = tuple(map(Path, ("/home", "/root", "/run/user")))
_TEMPORARY = tuple(map(Path, ("/tmp", "/var/tmp")))  # noqa: S108 (nothing is written there)


def unit_text(python: Path) -> str:
    """Return the unit for the nvshare that is installed with this Python."""
    if hidden := _is_below(python, _TEMPORARY):
        raise NvshareError(
            f"a service cannot be started from {hidden}",
            why=f"this nvshare is installed in {python.parent.parent}, and that folder is emptied "
            "from time to time",
            do="install nvshare elsewhere, such as in /opt/nvshare, and use that one",
        )
    text = (files("nvshare") / "lib" / _TEMPLATE).read_text(encoding="utf-8")
    if _is_below(python, _HOMES):
        text = text.replace("ProtectHome=yes", "ProtectHome=read-only")
    return text.replace(_COMMAND, f"{_quoted(python)} -m nvshare daemon")


def config_text(group: str | None) -> str:
    """Return a configuration that admits the members of a group, or all users."""
    who = "all users" if group is None else f"members of the group {group}"
    lines = [
        "# The daemon of this machine. Every field is described in docs/daemon.md.",
        f"# Programs of {who} share the GPUs; all users may look; only root may make changes.",
        'socket_mode = "0666"' if group is None else 'socket_mode = "0660"',
        *([] if group is None else [f'socket_group = "{group}"']),
        'control_mode = "0600"',
        "# GPUs that come later, or that another daemon has, are taken in when they are there.",
        "wait_for_gpus = true",
    ]
    return "\n".join(lines) + "\n"


def _is_below(path: Path, folders: tuple[Path, ...]) -> Path | None:
    """Return which of these folders contains a Python. In a virtual environment it is a link."""
    paths = (path, path.resolve())
    return next(
        (folder for folder in folders if any(one.is_relative_to(folder) for one in paths)), None
    )


def _quoted(path: Path) -> str:
    """Quote a path for systemd."""
    text = str(path).replace("\\", "\\\\").replace('"', '\\"').replace("%", "%%")
    return f'"{text}"' if set(text) & set(" \t'\"\\;") else text
