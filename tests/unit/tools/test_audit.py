"""The requirements of nvshare are found, with their own, and their licences are judged."""

from email.message import Message
from importlib.metadata import Distribution
from typing import Any

import pytest

from tools.audit import is_fine, licences, shipped


class Fake(Distribution):
    """A distribution that is not installed."""

    def __init__(self, **said: str) -> None:
        self.said = said

    @property
    def metadata(self) -> Any:
        message = Message()
        for name, value in self.said.items():
            message[name.replace("_", "-")] = value
        return message

    def read_text(self, filename: str) -> None:
        del filename

    def locate_file(self, path: Any) -> Any:
        return path


def test_all_that_is_shipped_may_be() -> None:
    found = {one.name.lower(): one for one in shipped()}
    # The requirements, those for Kubernetes, and theirs; no tools.
    assert {"pydantic", "aiohttp", "grpcio", "annotated-types"} <= set(found)
    assert not {"nvshare", "pytest", "ruff"} & set(found)
    assert [name for name, one in found.items() if not is_fine(one)] == []


@pytest.mark.parametrize(
    ("said", "expected", "fine"),
    [
        ({"License_Expression": "Apache-2.0 AND MIT"}, ["Apache-2.0", "MIT"], True),
        ({"License_Expression": "MIT AND GPL-3.0-only"}, ["MIT", "GPL-3.0-only"], False),
        ({"License": "BSD\n\nCopyright and so on"}, ["BSD"], True),
        ({"Classifier": "License :: OSI Approved :: MIT License"}, ["MIT License"], True),
        ({"Classifier": "License :: OSI Approved :: GNU General Public License"}, None, False),
        ({"License": "proprietary"}, ["proprietary"], False),
        ({}, [], False),
    ],
)
def test_a_licence(said: dict[str, str], expected: list[str] | None, fine: bool) -> None:
    one = Fake(**said)
    assert expected is None or licences(one) == expected
    assert is_fine(one) is fine
