import click
import pytest

from nvshare.cli.quantities import Quantity


@pytest.mark.parametrize(("given", "size"), [("4Gi", 4 << 30), ("1500", 1500), (7, 7)])
def test_an_amount_of_memory(given: str | int, size: int) -> None:
    assert Quantity().convert(given, None, None) == size


def test_what_is_none_says_how_to_write_one() -> None:
    with pytest.raises(click.BadParameter, match=r'"4GB" is not an amount of memory.*"4Gi"'):
        Quantity().convert("4GB", None, None)
