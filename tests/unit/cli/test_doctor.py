import json
import os
import subprocess
import sys
from collections.abc import Callable, Iterator

import pytest
from click.testing import Result

from nvshare.cli import doctor as verb
from nvshare.cli import doctor_checks
from nvshare.cli.doctor_checks import Finding, State
from nvshare.errors import NvshareError
from nvshare.lab.emulator.libraries import RUNTIMES, library_folder


def check(*findings: Finding) -> Callable[[], Iterator[Finding]]:
    return lambda: iter(findings)


def test_good_news(call: Callable[..., Result], monkeypatch: pytest.MonkeyPatch) -> None:
    findings = [Finding(State.GOOD, "driver"), Finding(State.NOTE, "no daemon", "start one")]
    monkeypatch.setattr(verb, "CHECKS", (check(*findings),))
    result = call("doctor")
    assert result.exit_code == 0
    assert result.output == (
        "  ok  driver\nnote  no daemon\n      what to do: start one\nEverything is in order.\n"
    )


def test_bad_news(call: Callable[..., Result], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(verb, "CHECKS", (check(Finding(State.BAD, "no driver", "get one")),))
    result = call("doctor")
    assert result.exit_code == 1
    assert result.output.endswith("1 to fix.\n")
    told = call("doctor", "--json")
    assert told.exit_code == 1
    found = {"state": "bad", "what": "no driver", "do": "get one"}
    assert json.loads(told.output) == {"findings": [found], "bad": 1}


def test_a_machine_without_a_driver(monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(name: str) -> None:
        raise OSError(f"{name}: cannot open shared object file")

    monkeypatch.setattr("ctypes.CDLL", fail)
    (finding,) = doctor_checks.check_driver()
    assert finding.state is State.BAD
    assert "nvshare emulate" in str(finding.do)


def test_without_an_emulated_node_the_runtime_is_no_matter(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.delenv("NVSHARE_EMULATOR_NODE", raising=False)
    assert list(doctor_checks.check_runtime()) == []


@pytest.mark.parametrize("preloaded", [True, False])
def test_the_runtime_that_programs_on_a_node_get(preloaded: bool) -> None:
    environment = {**os.environ, "NVSHARE_EMULATOR_NODE": "/n/lab"}
    libraries = [str(library_folder() / name) for name in RUNTIMES]
    if preloaded:
        environment["LD_PRELOAD"] = " ".join(libraries)
    program = "from nvshare.cli.doctor_checks import check_runtime\n"
    program += "for finding in check_runtime(): print(finding.state.value, finding.what)"
    command = [sys.executable, "-c", program]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=True)
    if preloaded:
        versions = zip(libraries, ("12.9", "13.4"), strict=True)
        expected = [f"good CUDA runtime of the node: {p}, version {v}" for p, v in versions]
        assert done.stdout.splitlines() == expected
    else:
        assert done.stdout.count("bad programs that load libcudart.so.1") == 2


def test_no_gpus(monkeypatch: pytest.MonkeyPatch) -> None:
    def fail() -> None:
        raise NvshareError("no GPU", why="NVML", do="install it")

    monkeypatch.setattr(doctor_checks, "survey_gpus", fail)
    assert list(doctor_checks.check_gpus()) == [Finding(State.BAD, "no GPU (NVML)", "install it")]


def test_a_bad_configuration(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NVSHARE_MODE", "sideways")
    (finding,) = doctor_checks.check_configuration()
    assert "gpu.mode" in finding.what


def test_no_daemon_is_only_a_note(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NVSHARE_SOCKET_DIR", "/does/not/exist")
    (finding,) = doctor_checks.check_socket()
    assert finding.state is State.NOTE
    assert "/does/not/exist/nvshare.sock" in finding.what


def test_few_files(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("resource.getrlimit", lambda _: (256, 256))
    assert next(doctor_checks.check_files()).state is State.NOTE
