"""The names of users."""

import pwd

# Looking one up reads a file, or asks a server. Missing names are not kept: they may appear.
_names: dict[int, str] = {}


def user_name(uid: int) -> str:
    """Return the name of a user, or the number where there is no name."""
    if uid not in _names:
        try:
            _names[uid] = pwd.getpwuid(uid).pw_name
        except KeyError:
            return str(uid)
    return _names[uid]
