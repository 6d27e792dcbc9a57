"""Names of GPUs on the command line."""

import pytest

from nvshare.cli import gpus
from nvshare.daemon.gpus.survey import Gpu
from nvshare.errors import BadInputError

GPUS = [Gpu(0, "GPU-aaaa-1", "Tesla T4", 1), Gpu(1, "GPU-aaab-2", "A100 [40G]", 1)]


@pytest.fixture(autouse=True)
def known(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(gpus, "find_gpus", lambda: GPUS)


@pytest.mark.parametrize(
    ("names", "meant"),
    [
        (None, [0, 1]),
        ("1", [1]),
        ("1,0", [1, 0]),
        (" 0 , 1 ", [0, 1]),
        ("GPU-aaab", [1]),
        ("GPU-aaaa-1,1", [0, 1]),
    ],
)
def test_names(names: str | None, meant: list[int]) -> None:
    assert [gpu.index for gpu in gpus.choose_gpus(names)] == meant


@pytest.mark.parametrize(
    ("names", "what"),
    [
        ("7", 'there is no GPU "7"'),
        ("gpu0", 'there is no GPU "gpu0"'),
        ("0,1,x", 'there is no GPU "x" (in "0,1,x")'),
        ("-1", 'there is no GPU "-1"'),
        ("", 'there is no GPU ""'),
        ("0,", 'there is no GPU "" (in "0,")'),
        ("GPU-aaa", '"GPU-aaa" can mean several GPUs'),
        ("0,0", '"0,0" names a GPU twice'),
    ],
)
def test_what_is_no_gpu_is_refused_with_those_that_there_are(names: str, what: str) -> None:
    with pytest.raises(BadInputError) as caught:
        gpus.choose_gpus(names)
    assert caught.value.what == what
    assert caught.value.why == ("the GPUs are 0 (Tesla T4, GPU-aaaa-1), 1 (A100 [40G], GPU-aaab-2)")
    assert caught.value.exit_code == 2
