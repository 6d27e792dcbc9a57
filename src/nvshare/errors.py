"""The error that users see, with its three parts. Knows nothing about terminals."""


class NvshareError(Exception):
    """An error that a user can fix: what happened, why, and what to do next.

    The command line prints the parts and ends with ``exit_code``; no traceback is shown.
    """

    exit_code = 1

    def __init__(self, what: str, *, why: str | None = None, do: str | None = None) -> None:
        super().__init__(what)
        self.what = what
        self.why = why
        self.do = do

    @property
    def in_a_line(self) -> str:
        """All parts as one sentence."""
        return "; ".join(filter(None, (self.what, self.why, self.do)))


class BadInputError(NvshareError):
    """The request of the user is wrong: a wrong name, value or file."""

    exit_code = 2
