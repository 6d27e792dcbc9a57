import json
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from click.testing import Result

from nvshare.cli import service as verb
from nvshare.cli import service_files
from nvshare.cli.service_files import CONFIG, UNIT, config_text, unit_text
from nvshare.daemon.config import Sources
from nvshare.errors import NvshareError

PYTHON = Path("/opt/nvshare/bin/python")


@pytest.fixture
def installed(call: Callable[..., Result], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder in place of the machine's root, with the service installed in it."""
    monkeypatch.setattr(sys, "executable", str(PYTHON))
    result = call("service", "install", "--root", str(tmp_path))
    assert result.exit_code == 0, result.output
    return tmp_path


def test_the_unit_starts_this_installation(installed: Path) -> None:
    unit = (installed / UNIT).read_text()
    assert f"ExecStart={PYTHON} -m nvshare daemon\n" in unit
    assert "ProtectHome=yes" in unit


def test_the_network_of_the_machine_is_needed_to_see_other_daemons() -> None:
    assert "PrivateNetwork=" not in unit_text(PYTHON).replace("no PrivateNetwork=:", "")


@pytest.mark.needs("systemd")
def test_the_service_is_given_as_little_as_can_be(installed: Path) -> None:
    """By systemd's score, in which 10 is a service that may do everything."""
    command = ["systemd-analyze", "security", "--offline=true", "--threshold=20", "--no-pager"]
    done = subprocess.run(
        [*command, str(installed / UNIT)], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr


def test_a_service_is_not_hidden_from_its_own_files() -> None:
    unit = unit_text(Path("/home/al ice/venv/bin/python"))
    assert "ProtectHome=read-only" in unit
    assert 'ExecStart="/home/al ice/venv/bin/python" -m nvshare daemon\n' in unit


def test_a_folder_that_is_cleared_is_no_place_for_a_service() -> None:
    with pytest.raises(NvshareError, match="cannot be started from /tmp"):
        unit_text(Path("/tmp/venv/bin/python"))


def test_a_python_that_is_a_link_into_a_home_can_be_started(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    # As in a virtual environment of a Python that a user has compiled.
    link = tmp_path / "python"
    link.symlink_to("/home/alice/.pyenv/bin/python")
    monkeypatch.setattr(service_files, "_TEMPORARY", ())
    assert "ProtectHome=read-only" in unit_text(link)


@pytest.mark.needs("systemd")
def test_systemd_understands_the_unit(tmp_path: Path) -> None:
    path = tmp_path / "nvshare.service"
    python = Path(sys.executable)
    # This tree may lie in a folder from which no service can start.
    text = unit_text(PYTHON).replace(str(PYTHON), str(python))
    path.write_text(text)
    done = subprocess.run(
        ["systemd-analyze", "verify", str(path)],  # noqa: S607
        capture_output=True,
        text=True,
        timeout=60,
    )
    assert (done.returncode, done.stderr) == (0, "")


@pytest.mark.parametrize("group", ["users", None])
def test_the_configuration_is_one(tmp_path: Path, group: str | None) -> None:
    path = tmp_path / "config.toml"
    path.write_text(config_text(group))
    config = Sources(path, {}, {}).load()
    assert config.socket_mode == (0o666 if group is None else 0o660)
    assert config.socket_group == (group or "")
    assert (config.control_mode, config.wait_for_gpus) == (0o600, True)


def test_what_is_not_done_below_another_folder_is_said(
    call: Callable[..., Result], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys, "executable", str(PYTHON))
    said = call("service", "install", "--root", str(tmp_path), "--group", "gpu").output
    for command in ("groupadd --system gpu", "systemctl restart nvshare.service"):
        assert f"not done, because of --root: {command}" in said
    assert "sudo usermod -aG gpu USER" in said
    assert 'socket_group = "gpu"' in (tmp_path / CONFIG).read_text()


def test_a_configuration_that_is_there_is_left_alone(
    call: Callable[..., Result], installed: Path
) -> None:
    (installed / CONFIG).write_text("reconnect_seconds = 2\n")
    result = call("service", "install", "--root", str(installed))
    assert "left as it is" in result.output
    assert (installed / CONFIG).read_text() == "reconnect_seconds = 2\n"


def test_everybody(
    call: Callable[..., Result], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys, "executable", str(PYTHON))
    said = call("service", "install", "--everybody", "--root", str(tmp_path)).output
    assert "groupadd" not in said
    assert 'socket_mode = "0666"' in (tmp_path / CONFIG).read_text()


def test_it_can_be_removed_once(call: Callable[..., Result], installed: Path) -> None:
    assert call("service", "status", "--root", str(installed)).exit_code == 0
    result = call("service", "uninstall", "--root", str(installed))
    assert result.exit_code == 0
    assert not (installed / UNIT).exists()
    assert (installed / CONFIG).exists()
    assert call("service", "status", "--root", str(installed)).exit_code == 3
    again = call("service", "uninstall", "--root", str(installed))
    assert again.exit_code == 2
    assert "the service is not installed" in again.output


def test_programs_are_told_whether_it_is_installed(
    call: Callable[..., Result], installed: Path, tmp_path: Path
) -> None:
    found = call("service", "status", "--json", "--root", str(installed))
    unit = str(installed / UNIT)
    assert json.loads(found.output) == {
        "installed": True, "unit": unit, "state": None, "devices": [],
    }  # fmt: skip
    assert found.exit_code == 0
    nowhere = call("service", "status", "--json", "--root", str(tmp_path / "nowhere"))
    assert json.loads(nowhere.output)["installed"] is False
    assert nowhere.exit_code == 3


def test_only_root_installs_it(
    call: Callable[..., Result], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("os.getuid", lambda: 1000)
    result = call("service", "install")
    assert result.exit_code == 1
    assert "sudo" in result.output


def test_a_machine_without_systemd(
    call: Callable[..., Result], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr("os.getuid", lambda: 0)
    monkeypatch.setattr(verb, "_SYSTEMD", tmp_path / "none")
    result = call("service", "install")
    assert result.exit_code == 1
    assert "not run by systemd" in result.output


def test_commands_are_run_and_told(
    call: Callable[..., Result], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """The machine is a folder here, and its programs only note their arguments."""
    programs, notes, machine = tmp_path / "bin", tmp_path / "notes", tmp_path / "machine"
    programs.mkdir()
    for name in ("systemctl", "groupadd"):
        program = programs / name
        program.write_text(f'#!/bin/sh\necho {name} "$@" >> {notes}\n')
        program.chmod(0o755)
    monkeypatch.setenv("PATH", str(programs), prepend=":")
    monkeypatch.setattr(sys, "executable", str(PYTHON))
    monkeypatch.setattr("os.getuid", lambda: 0)
    monkeypatch.setattr(verb, "_SYSTEMD", tmp_path)
    monkeypatch.setattr(verb, "UNIT", machine / service_files.UNIT)
    monkeypatch.setattr(verb, "CONFIG", machine / service_files.CONFIG)
    assert call("service", "install", "--group", "nvshare-of-a-test").exit_code == 0
    assert notes.read_text().splitlines() == [
        "groupadd --system nvshare-of-a-test",
        "systemctl daemon-reload",
        "systemctl enable nvshare.service",
        "systemctl restart nvshare.service",
    ]
    (programs / "systemctl").write_text("#!/bin/sh\necho no such unit >&2\nexit 5\n")
    failed = call("service", "uninstall")
    assert failed.exit_code == 1
    assert "no such unit" in failed.output
