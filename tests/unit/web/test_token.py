from pathlib import Path

import pytest

from nvshare.errors import BadInputError, NvshareError
from nvshare.web.token import is_token, keep_token, make_token


def test_tokens_are_long_and_never_the_same() -> None:
    made = {make_token() for _ in range(100)}
    assert len(made) == 100
    # 256 bits, six in a character.
    assert min(map(len, made)) >= 43


def test_a_token_is_itself_and_nothing_else() -> None:
    token = make_token()
    assert is_token(token, token)
    for other in ("", token[:-1], token + "x", "ü", "\udcff", make_token()):
        assert not is_token(other, token)


def test_a_file_is_made_for_its_owner_alone_and_read_again(tmp_path: Path) -> None:
    path = tmp_path / "token"
    token = keep_token(path)
    assert path.stat().st_mode & 0o777 == 0o600
    assert keep_token(path) == token == path.read_text().strip()


@pytest.mark.parametrize("mode", [0o644, 0o660, 0o602])
def test_a_file_that_others_can_get_at_holds_no_secret(tmp_path: Path, mode: int) -> None:
    path = tmp_path / "token"
    keep_token(path)
    path.chmod(mode)
    with pytest.raises(BadInputError, match="is not secret"):
        keep_token(path)


@pytest.mark.parametrize(
    "text", ["", "short", "x" * 21, "two words of enough characters", "é" * 30]
)
def test_what_is_no_token_is_refused(tmp_path: Path, text: str) -> None:
    path = tmp_path / "token"
    path.write_text(text, encoding="utf-8")
    path.chmod(0o600)
    with pytest.raises(BadInputError, match="no good token"):
        keep_token(path)


def test_a_place_where_no_file_can_be_is_said(tmp_path: Path) -> None:
    with pytest.raises(NvshareError, match="cannot be used"):
        keep_token(tmp_path / "nowhere" / "token")
