import pytest

from nvshare.probe import showing
from tests.unit.probe.published import MIB, published


@pytest.mark.parametrize(
    ("time", "text"), [(1.5, "1.5 s"), (0.0804, "80.4 ms"), (0.0000193, "19.3 us"), (0, "0 us")]
)
def test_times_have_a_unit_that_fits(time: float, text: str) -> None:
    assert showing.duration(time) == text


def test_changes_have_a_sign() -> None:
    assert showing.change("host_used", "touched", "out")(published()) == "+1,024 MiB"
    assert showing.change("cuda_free", "allocated", "touched")(published()) == "-1,024 MiB"
    assert showing.changed(published(), "process", "context", "touched") == 2 * MIB
