"""``nvshare service``: one daemon for all users of this machine, started by systemd."""

import grp
import os
import shutil
import subprocess
import sys
from pathlib import Path

import click

from nvshare.cli.json_output import show_json
from nvshare.cli.main import Verbs
from nvshare.cli.service_files import CONFIG, UNIT, config_text, unit_text
from nvshare.errors import BadInputError, NvshareError
from nvshare.launch.holders import describe, find_holders
from nvshare.launch.trust import SYSTEM
from nvshare.users import user_name

_SYSTEMD = Path("/run/systemd/system")
_MACHINE = Path("/")

_root = click.option(
    "--root",
    type=click.Path(path_type=Path, file_okay=False),
    default=_MACHINE,
    metavar="DIR",
    help="Only write the files, below this folder.",
)


@click.group(cls=Verbs)
def service() -> None:
    """One daemon for all users of this machine."""


@service.command()
@_root
@click.option(
    "--group",
    default="nvshare",
    show_default=True,
    help="Group whose programs may use the service.",
)
@click.option("--everybody", is_flag=True, help="Allow programs of all users.")
def install(root: Path, group: str, everybody: bool) -> None:
    """Install the service, and start it."""
    _need_root(root)
    members = None if everybody else group
    _write(root / UNIT, unit_text(Path(sys.executable)))
    _warn_of_owner()
    if members is not None:
        _make_group(root, members)
    if (root / CONFIG).exists():
        click.echo(f"{root / CONFIG}: left as it is; its socket_mode and socket_group hold")
    else:
        _write(root / CONFIG, config_text(members))
    _call(root, "systemctl", "daemon-reload")
    _call(root, "systemctl", "enable", "nvshare.service")
    # Programs continue while the daemon restarts.
    _call(root, "systemctl", "restart", "nvshare.service")
    _tell_next_steps(root, members)


@service.command()
@_root
def uninstall(root: Path) -> None:
    """Stop the service, and remove it."""
    _need_root(root)
    if not (root / UNIT).exists():
        raise BadInputError(
            "the service is not installed",
            why=f"there is no {root / UNIT}",
            do="there is nothing to remove; `nvshare service install` installs it",
        )
    _call(root, "systemctl", "disable", "--now", "nvshare.service")
    (root / UNIT).unlink()
    click.echo(f"removed {root / UNIT}")
    _call(root, "systemctl", "daemon-reload")
    click.echo(f"{root / CONFIG} and the group are left as they are")


@service.command()
@_root
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object.")
@click.pass_context
def status(ctx: click.Context, root: Path, as_json: bool) -> None:
    """Say whether the service is installed and runs. Exits with 3 if not."""
    unit = root / UNIT
    installed = unit.exists()
    # Below another root there are only files, and no service that could run.
    state = _state() if installed and root == _MACHINE else None
    holders = find_holders(os.environ) if state else []
    if as_json:
        gpus = [
            {"index": one.index, "uuid": one.uuid, "pid": one.pid, "uid": one.uid}
            for one in holders
        ]
        show_json({"installed": installed, "unit": str(unit), "state": state, "devices": gpus})
    else:
        click.echo(f"installed: {unit}" if installed else f"not installed: there is no {unit}")
        if state:
            click.echo(f"state: {state}")
        if holders:
            click.echo(describe(holders))
    ctx.exit(0 if installed and state in (None, "active") else 3)


def _state() -> str:
    """Return the state of the service, as systemd names it."""
    if not _SYSTEMD.is_dir():
        return "not running: this machine is not run by systemd"
    words = ["systemctl", "is-active", "nvshare.service"]
    return subprocess.run(words, capture_output=True, text=True).stdout.strip()


def _need_root(root: Path) -> None:
    if root != _MACHINE:
        return
    if os.getuid() != 0:
        raise NvshareError(
            "only root can change the services of this machine",
            do=f"run `sudo {Path(sys.argv[0]).absolute()} {' '.join(sys.argv[1:])}`",
        )
    if not _SYSTEMD.is_dir():
        raise NvshareError(
            "this machine is not run by systemd",
            why=f"there is no {_SYSTEMD}",
            do="configure the service manager of this machine to start `nvshare daemon` as root; "
            "`nvshare service install --root DIR` writes a configuration to start from",
        )


def _write(path: Path, text: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")
    path.chmod(0o644)
    click.echo(f"wrote {path}")


def _make_group(root: Path, name: str) -> None:
    if root == _MACHINE and _exists(name):
        click.echo(f"group {name}: exists")
        return
    _call(root, "groupadd", "--system", name)


def _exists(group: str) -> bool:
    try:
        grp.getgrnam(group)
    except KeyError:
        return False
    return True


def _call(root: Path, *command: str) -> None:
    """Run a system command, and print it; below another root, only print it."""
    if root != _MACHINE:
        click.echo(f"not done, because of --root: {' '.join(command)}")
        return
    click.echo(f"running {' '.join(command)}")
    program = shutil.which(command[0]) or command[0]
    try:
        done = subprocess.run([program, *command[1:]], capture_output=True, text=True)
    except OSError as error:
        raise NvshareError(f"{command[0]} cannot be started", why=error.strerror) from error
    if done.returncode != 0:
        raise NvshareError(
            f"`{' '.join(command)}` has failed",
            why=(done.stderr or done.stdout).strip() or f"exit code {done.returncode}",
            do="look at `systemctl status nvshare` and `journalctl -u nvshare`",
        )


def _warn_of_owner() -> None:
    """Warn if the service runs files as root that another user can change."""
    owner = Path(sys.prefix).stat().st_uid
    if owner != 0:
        click.echo(
            f"note: the service runs as root from {sys.prefix}, which {user_name(owner)} can "
            "change; an installation that belongs to root is safer",
            err=True,
        )


def _tell_next_steps(root: Path, group: str | None) -> None:
    if group is not None:
        click.echo(f"let users in with `sudo usermod -aG {group} USER`; they have to log in again")
    others = [one for one in find_holders(os.environ) if one.folder != SYSTEM]
    if root == _MACHINE and others:
        click.echo(f"{describe(others)}: the service takes over when that one ends")
