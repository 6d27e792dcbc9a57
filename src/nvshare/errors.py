"""The error that is meant for a person, with its three parts. Knows nothing about terminals."""


class NvshareError(Exception):
    """Something a person can put right: what happened, why, and what to do next.

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
        """All parts as one sentence, for places that have room for one."""
        return "; ".join(filter(None, (self.what, self.why, self.do)))


class BadInputError(NvshareError):
    """What the person asked for cannot be done as asked: a wrong name, value or file."""

    exit_code = 2
