"""nvshare run, up to the point where it becomes the command."""

from collections.abc import Callable
from pathlib import Path

import pytest
from click.testing import Result

from nvshare.cli import gpus
from nvshare.cli import run as verb
from nvshare.daemon.gpus.survey import Gpu
from nvshare.errors import NvshareError
from nvshare.launch import preload

Call = Callable[..., Result]
GPUS = [Gpu(0, "GPU-aaaa", "Tesla T4", 15 << 30), Gpu(1, "GPU-bbbb", "Tesla T4", 15 << 30)]


class Became(Exception):  # noqa: N818
    """The command and environment that the process would have become."""

    def __init__(self, file: str, command: list[str], variables: dict[str, str]) -> None:
        super().__init__(file)
        self.command = command
        self.variables = variables


@pytest.fixture
def become(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Callable[..., Became]:
    """Run the verb with everything around it in place; return the command it becomes."""
    (tmp_path / "lib").mkdir()
    (tmp_path / "lib" / "libnvshare.so").touch()
    monkeypatch.setattr(preload, "files", lambda _: tmp_path)
    monkeypatch.setattr(verb, "check_driver", lambda: None)
    monkeypatch.setattr(verb, "find_or_start", lambda *_, **__: tmp_path / "daemon")
    monkeypatch.setattr(gpus, "find_gpus", lambda: GPUS)
    monkeypatch.delenv("LD_PRELOAD", raising=False)

    def exec_(file: str, command: list[str], variables: dict[str, str]) -> None:
        raise Became(file, command, variables)

    monkeypatch.setattr("os.execvpe", exec_)

    def run(*arguments: str) -> Became:
        with pytest.raises(Became) as caught:
            verb.run.main(list(arguments), standalone_mode=False)
        return caught.value

    return run


def test_the_command_is_left_alone(become: Callable[..., Became]) -> None:
    assert become("--", "prog", "--memory", "x", "--", "y").command == [
        "prog",
        "--memory",
        "x",
        "--",
        "y",
    ]


@pytest.mark.parametrize(
    "command", [["python", "x.py"], ["prog", "--memory", "x", "--", "y", "-h"], ["sh", "-c", "ls"]]
)
def test_no_dashes_are_needed(become: Callable[..., Became], command: list[str]) -> None:
    assert become("--compute", "40", *command).command == command


def test_a_limit_above_the_gpu_is_said(
    become: Callable[..., Became], capsys: pytest.CaptureFixture[str]
) -> None:
    variables = become("--gpu", "1", "--memory", "40Gi", "prog").variables
    assert variables["NVSHARE_GPU_MEMORY_LIMIT"] == str(40 << 30)
    said = capsys.readouterr().err
    assert "a limit of 40Gi is more than the memory of GPU 1 (15.0 GiB)" in said
    assert "GPU 0" not in said
    become("--memory", "15Gi", "prog")
    assert not capsys.readouterr().err


def test_wishes_become_variables(become: Callable[..., Became], tmp_path: Path) -> None:
    options = ["--gpu", "1,GPU-aa", "--memory", "1.5Gi", "--compute", "40", "--burst"]
    options += ["--priority", "low", "--allocation", "native"]
    variables = become(*options, "--", "prog").variables
    # CUDA counts GPUs in an order of its own.
    assert variables["CUDA_VISIBLE_DEVICES"] == "GPU-bbbb,GPU-aaaa"
    assert variables["NVSHARE_GPU_MEMORY_LIMIT"] == str(3 << 29)
    assert variables["NVSHARE_GPU_CORE_LIMIT"] == "40"
    assert variables["NVSHARE_GPU_BURST"] == "1"
    assert variables["NVSHARE_GPU_PRIORITY"] == "low"
    assert variables["NVSHARE_ALLOCATION"] == "native"
    assert variables["NVSHARE_SOCKET_DIR"] == str(tmp_path / "daemon")
    assert variables["LD_PRELOAD"] == str(tmp_path / "lib" / "libnvshare.so")
    assert variables["PATH"]


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("NVSHARE_GPU_MEMORY_LIMIT", "4GB"),
        ("NVSHARE_GPU_MEMORY_LIMIT", "0"),
        ("NVSHARE_GPU_CORE_LIMIT", "0"),
        ("NVSHARE_GPU_CORE_LIMIT", "40%"),
        ("NVSHARE_GPU_PRIORITY", "urgent"),
    ],
)
def test_a_limit_of_the_environment_that_makes_no_sense_starts_nothing(
    monkeypatch: pytest.MonkeyPatch, call: Call, name: str, value: str
) -> None:
    monkeypatch.setenv(name, value)
    result = call("run", "--", "prog")
    assert result.exit_code == 2
    assert f'{name} is "{value}"' in result.output


def test_limits_of_the_environment_are_the_command_s(
    become: Callable[..., Became], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("NVSHARE_GPU_MEMORY_LIMIT", "1500Mi")
    monkeypatch.setenv("NVSHARE_GPU_CORE_LIMIT", "40")
    monkeypatch.setenv("NVSHARE_GPU_PRIORITY", "high")
    assert become("--", "prog").variables["NVSHARE_GPU_MEMORY_LIMIT"] == "1500Mi"


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ([], "Missing argument 'COMMAND"),
        (["--"], "Missing argument 'COMMAND"),
        (["--quickly", "prog"], "No such option '--quickly'"),
        (["--memory", "4GB", "--", "prog"], '"4GB" is not an amount of memory'),
        # The command that was probably meant.
        (["--memory", "4GB", "prog"], '"4G" does'),
        (["--memory", "0", "--", "prog"], "would leave nothing"),
        (["--compute", "0", "--", "prog"], "not in the range"),
    ],
)
def test_mistakes(call: Call, arguments: list[str], said: str) -> None:
    result = call("run", *arguments)
    assert result.exit_code == 2
    assert said in result.stderr


def test_no_driver_is_explained(monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(_: str) -> None:
        raise OSError("libcuda.so.1: cannot open shared object file")

    monkeypatch.setattr("ctypes.CDLL", fail)
    with pytest.raises(NvshareError, match="no CUDA driver") as caught:
        verb.check_driver()
    assert "nvshare emulate" in str(caught.value.do)
