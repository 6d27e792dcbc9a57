"""Why a client is turned away, as it is told."""

from nvshare.wire.frames import RejectCode


class Rejection(Exception):  # noqa: N818  (it is an answer, not a failure)
    """The client is turned away."""

    def __init__(self, code: RejectCode, text: str) -> None:
        super().__init__(text)
        self.code = code
