"""What users are called."""

import pwd


def user_name(uid: int) -> str:
    """Return the name of a user, or the number where there is no name."""
    try:
        return pwd.getpwuid(uid).pw_name
    except KeyError:
        return str(uid)
