import pytest
from hypothesis import given
from hypothesis import strategies as st

from nvshare.errors import BadInputError
from nvshare.quantity import format_quantity, parse_quantity


@pytest.mark.parametrize(
    ("text", "size"),
    [
        ("0", 0),
        ("1024", 1024),
        ("4Gi", 4 << 30),
        ("1500Mi", 1500 << 20),
        ("2G", 2_000_000_000),
        ("1.5Gi", 3 << 29),
        (".5k", 500),
        ("5.", 5),
        ("0.1", 1),
        ("18446744073709551615", 2**64 - 1),
    ],
)
def test_amounts(text: str, size: int) -> None:
    assert parse_quantity(text) == size


@pytest.mark.parametrize(
    "text", ["", ".", "x", "-1", "1e3", "4 Gi", "4Gi\n", "4i", "0x10", "1_000"]
)
def test_what_is_no_amount(text: str) -> None:
    with pytest.raises(BadInputError, match="is not an amount of memory") as caught:
        parse_quantity(text)
    assert "4Gi" in str(caught.value.do)


@pytest.mark.parametrize(
    ("text", "meant"), [("4GB", '"4G" does'), ("4gib", '"4Gi" does'), ("4 Gi", 'together: "4Gi"')]
)
def test_what_was_probably_meant(text: str, meant: str) -> None:
    with pytest.raises(BadInputError) as caught:
        parse_quantity(text)
    assert meant in str(caught.value.why)


@pytest.mark.parametrize("text", ["18446744073709551616", "16384Pi", "9" * 5000, "9" * 5000 + "Pi"])
def test_too_much(text: str) -> None:
    with pytest.raises(BadInputError, match="too much memory"):
        parse_quantity(text)


def test_zeros_before_a_number_are_nothing() -> None:
    assert parse_quantity("0" * 5000 + "4Ki") == 4096


@given(st.integers(0, 2**64 - 1))
def test_the_short_form_is_exact(size: int) -> None:
    assert parse_quantity(format_quantity(size)) == size
