"""The pages of a client's memory on the host, which stay until the memory is freed."""

from dataclasses import dataclass


@dataclass(slots=True)
class HostPages:
    """How much of a client's memory has pages on the host, or is to have them."""

    # The most that was ever there at once, or the client's own figure, which is exact for each
    # block.
    most_out: int = 0
    # The part of that which has surely left. The rest is on its way, or was until its next grant.
    surely_out: int = 0
    # How much host memory was ordered for it (host/provide.py).
    provided: int = 0

    def note_out(self, most: int) -> None:
        """Note the most that is, or will have been, on the host."""
        self.most_out = most

    def note_surely_out(self, out: int) -> None:
        """Note bytes that were on the host at one time, by the client's report."""
        self.surely_out = min(max(self.surely_out, out), self.most_out)

    def free(self, freed: int, kept: int, swappable: int) -> None:
        """Note that memory was freed, with its pages. ``kept`` has pages by the client's report."""
        self.most_out = min(max(self.most_out - freed, kept), swappable)
        self.surely_out = min(max(0, self.surely_out - freed), self.most_out)

    def deny(self, most: int) -> None:
        """Note that no more than this is kept."""
        self.most_out = min(self.most_out, most)
        self.surely_out = min(self.surely_out, self.most_out)
        self.provided = min(self.provided, self.most_out)

    def provide(self, size: int) -> None:
        """Note how much was ordered."""
        self.provided = size
