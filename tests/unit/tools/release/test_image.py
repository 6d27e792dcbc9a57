"""The step that builds the image, as far as it needs no root folder."""

import pytest

from tools.release.image import DOCKERFILE, base_of, wrong_labels
from tools.release.tree import ReleaseError, version

RIGHT = {
    "org.opencontainers.image.title": "nvshare",
    "org.opencontainers.image.version": version(),
    "org.opencontainers.image.revision": "abc",
    "org.opencontainers.image.licenses": "Apache-2.0",
}


def test_the_dockerfile_has_one_base() -> None:
    assert base_of(DOCKERFILE.read_text()).startswith("debian:12.")


def test_two_bases_are_one_too_many() -> None:
    with pytest.raises(ReleaseError, match=r"\['a:1', 'b:1'\]"):
        base_of("FROM a:1 AS build\nRUN true\nFROM b:1\n")


def test_labels_say_what_was_built() -> None:
    assert wrong_labels(RIGHT, "abc") == {}
    assert wrong_labels(RIGHT, "other") == {"revision": "abc"}
    assert wrong_labels({}, "abc").keys() == {"title", "version", "revision", "licenses"}
