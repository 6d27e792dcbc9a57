"""The token. Its holder may see and change what this process may see and change."""

import hmac
import os
import secrets
import stat
from pathlib import Path

from nvshare.errors import BadInputError, NvshareError

_BYTES = 32
# 128 bits as text, in the densest usual encoding.
_SHORTEST = 22


def make_token() -> str:
    """Return a new token of 256 bits."""
    return secrets.token_urlsafe(_BYTES)


def is_token(given: str, token: str) -> bool:
    """Compare in constant time."""
    return hmac.compare_digest(given.encode("utf-8", "surrogateescape"), token.encode())


def keep_token(path: Path) -> str:
    """Return the token of a file; create a missing file, readable by its owner alone."""
    try:
        return _read(path)
    except FileNotFoundError:
        pass
    except OSError as error:
        raise _trouble(path, error) from error
    token = make_token()
    try:
        file = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
    except OSError as error:
        raise _trouble(path, error) from error
    with os.fdopen(file, "w") as out:
        out.write(f"{token}\n")
    return token


def _read(path: Path) -> str:
    with path.open(encoding="utf-8", errors="replace") as file:
        mode = os.fstat(file.fileno()).st_mode
        text = file.read(4096).strip()
    # Kubernetes makes secrets readable for a group whose only member is the container's user.
    if mode & (stat.S_IRWXO | stat.S_IWGRP):
        raise BadInputError(
            f"the token in {path} is not secret",
            why=f"others may read or write the file (mode {stat.S_IMODE(mode):04o})",
            do=f"remove the file; `nvshare web --token-file {path}` then makes a new one",
        )
    if len(text) < _SHORTEST or not text.isascii() or any(c.isspace() for c in text):
        raise BadInputError(
            f"there is no good token in {path}",
            why=f"it has to be one word of at least {_SHORTEST} characters",
            do="remove the file to have one made, or write the output of `openssl rand -hex 32`",
        )
    return text


def _trouble(path: Path, error: OSError) -> NvshareError:
    return NvshareError(
        f"the file of the token, {path}, cannot be used",
        why=error.strerror,
        do="name another file with --token-file, or leave it out",
    )
