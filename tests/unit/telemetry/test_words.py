import pytest

from nvshare.telemetry.words import percent


@pytest.mark.parametrize(
    ("part", "text"),
    [(0.0, "0 %"), (0.004, "0.4 %"), (0.04, "4 %"), (0.995, "100 %"), (1.0, "100 %")],
)
def test_parts(part: float, text: str) -> None:
    assert percent(part) == text
