import contextlib
from importlib.resources import files
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nvshare.errors import BadInputError
from nvshare.lab.emulator.gpus import MAX_GPUS, Item, parse_gpus, parse_items
from nvshare.lab.emulator.profile import known_profiles

items = st.builds(
    Item,
    count=st.integers(1, 3),
    profile=st.sampled_from([*known_profiles(), "./my.toml", "/a b/3x.toml", "~/x/y"]),
)


@given(st.lists(items, min_size=1, max_size=5))
def test_what_is_written_is_read_back(listed: list[Item]) -> None:
    assert parse_items(",".join(map(str, listed))) == listed


@given(st.text(max_size=40))
def test_any_text_is_a_list_or_bad_input(text: str) -> None:
    with contextlib.suppress(BadInputError):
        assert 1 <= sum(item.count for item in parse_items(text)) <= MAX_GPUS


@given(st.text(alphabet="0123456789xt4,. ", max_size=20))
def test_text_that_looks_like_a_list_never_asks_for_too_many(text: str) -> None:
    with contextlib.suppress(BadInputError):
        assert 1 <= len(parse_gpus(text)) <= MAX_GPUS


def names(text: str) -> list[str]:
    return [profile.gpu.name for profile in parse_gpus(text)]


def test_the_order_is_that_of_the_list() -> None:
    a100 = "NVIDIA A100-SXM4-40GB"
    assert names("2xt4,1xa100-40g,t4") == ["Tesla T4", "Tesla T4", a100, "Tesla T4"]


def test_spaces_around_items_are_allowed() -> None:
    assert names(" t4 , tiny ") == ["Tesla T4", "nvshare tiny"]


def test_a_file_of_the_users_own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    t4 = (files("nvshare.lab.emulator") / "profiles" / "t4.toml").read_text(encoding="utf-8")
    (tmp_path / "my.toml").write_text(t4.replace("Tesla T4", "Mine"))
    monkeypatch.chdir(tmp_path)
    assert names("2x./my.toml,my.toml") == ["Mine"] * 3


def test_an_unknown_profile_gets_the_list_of_known_ones() -> None:
    with pytest.raises(BadInputError, match='"t5"') as caught:
        parse_gpus("2xt5")
    assert caught.value.why == f"the known profiles are {', '.join(known_profiles())}"


@pytest.mark.parametrize("text", ["", ",", "t4,", "2x", "0xt4", "99999999999999999999xt4"])
def test_what_is_not_a_list(text: str) -> None:
    with pytest.raises(BadInputError):
        parse_gpus(text)


def test_too_many_gpus() -> None:
    assert len(parse_gpus(f"{MAX_GPUS}xt4")) == MAX_GPUS
    with pytest.raises(BadInputError, match="16 GPUs are too many"):
        parse_gpus(f"{MAX_GPUS}xt4,t4")
