"""When a resting client is expected to want the device again, judged by its last two rests.

A notebook that is used every twenty seconds, or a model that is asked at regular intervals, has a
rhythm: its last two rests were of similar length. Its next burst can then be foreseen, and
ahead.py brings its memory in beforehand. A client without a rhythm is never expected.
"""

from math import inf

from nvshare.core.client import Client

# Two rests are of similar length if neither is more than this many times the other. A client that
# has rested for longer than this many times its last rests has lost its rhythm.
SIMILAR = 2.0


def note_rest(client: Client, now: float) -> None:
    """Note that a client's rest ends now, if it gave its last turn up for one."""
    if client.rests_since is not None:
        client.rest_before, client.last_rest = client.last_rest, now - client.rests_since


def expected_at(client: Client, now: float) -> float:
    """Return when a resting client is expected to want the device; infinity if it is unknown."""
    short, long = sorted((client.rest_before, client.last_rest))
    if client.rests_since is None or short <= 0 or long > SIMILAR * short:
        return inf
    if now > client.rests_since + SIMILAR * long:
        return inf
    return client.rests_since + (short + long) / 2
