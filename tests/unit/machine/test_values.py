"""Python and C mean the same by the same numbers."""

from enum import IntEnum
from itertools import count, takewhile
from pathlib import Path
from typing import Any

import pytest

from nvshare.errors import NvshareError
from nvshare.machine.machine import library_path, load_library
from nvshare.machine.values import Act, Event, State


@pytest.mark.parametrize(("kind", "values"), [("state", State), ("event", Event), ("act", Act)])
def test_names(kind: str, values: type[IntEnum]) -> None:
    name: Any = getattr(load_library(), f"machine_{kind}_name")
    told = [found.decode() for found in takewhile(bool, (name(number) for number in count()))]
    assert told == [value.name.lower().replace("_", " ") for value in values]
    assert [value.value for value in values] == list(range(len(values)))


def test_the_library_is_installed() -> None:
    assert library_path().is_file()


def test_a_library_that_is_not_there_is_told_in_words(tmp_path: Path) -> None:
    with pytest.raises(NvshareError, match="is not installed"):
        load_library(tmp_path / "libnvshare-machine.so")
