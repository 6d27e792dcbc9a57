"""nvshare run, up to the point where it becomes the command."""

from collections.abc import Callable
from pathlib import Path

import pytest
from click.testing import Result

from nvshare.cli import run as verb
from nvshare.errors import NvshareError
from nvshare.launch import preload

Call = Callable[..., Result]


class Became(Exception):  # noqa: N818
    """What the process would have become."""

    def __init__(self, file: str, command: list[str], variables: dict[str, str]) -> None:
        super().__init__(file)
        self.command = command
        self.variables = variables


@pytest.fixture
def become(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Callable[..., Became]:
    """Run the verb with everything around it in place; return what it becomes."""
    (tmp_path / "lib").mkdir()
    (tmp_path / "lib" / "libnvshare.so").touch()
    monkeypatch.setattr(preload, "files", lambda _: tmp_path)
    monkeypatch.setattr(verb, "check_driver", lambda: None)
    monkeypatch.setattr(verb, "find_or_start", lambda *_: tmp_path / "daemon")
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


def test_wishes_become_variables(become: Callable[..., Became], tmp_path: Path) -> None:
    options = ["--gpu", "1", "--memory", "1.5Gi", "--compute", "40", "--burst"]
    options += ["--priority", "low", "--allocation", "native"]
    variables = become(*options, "--", "prog").variables
    assert variables["CUDA_VISIBLE_DEVICES"] == "1"
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
        ([], "Put it after --"),
        (["--"], "Put it after --"),
        (["prog"], "unexpected extra argument"),
        (["--memory", "4GB", "--", "prog"], '"4GB" is not an amount of memory'),
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
