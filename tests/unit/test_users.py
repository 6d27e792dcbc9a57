import pwd

import pytest

from nvshare import users


@pytest.fixture(autouse=True)
def nobody_is_known(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(users, "_names", {})


def test_a_user_has_a_name() -> None:
    assert users.user_name(0) == pwd.getpwuid(0).pw_name


def test_one_without_a_name_is_a_number_until_there_is_a_name(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def unknown(uid: int) -> pwd.struct_passwd:
        raise KeyError(uid)

    with monkeypatch.context() as patch:
        patch.setattr(pwd, "getpwuid", unknown)
        assert users.user_name(0) == "0"
    assert users.user_name(0) == pwd.getpwuid(0).pw_name


def test_a_name_is_looked_up_once(monkeypatch: pytest.MonkeyPatch) -> None:
    users.user_name(0)
    monkeypatch.delattr(pwd, "getpwuid")
    assert users.user_name(0)
