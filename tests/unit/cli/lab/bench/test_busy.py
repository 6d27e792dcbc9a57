import json

from nvshare.cli.lab.bench.busy import turn_end_seconds


def told(now: float, client: int, urgency: str) -> str:
    effects = [{"type": "Revoke", "client": client, "urgency": urgency}]
    return json.dumps({"event": {"type": "TimerFired", "now": now}, "effects": effects})


def released(now: float, client: int) -> str:
    return json.dumps({"event": {"type": "Released", "now": now, "client": client}, "effects": []})


def test_it_counts_from_when_somebody_is_told_to_go_at_once() -> None:
    told_now = [told(10.0, 1, "now"), released(10.5, 1)]
    told_when_idle = [told(20.0, 2, "when idle"), released(29.0, 2)]
    assert turn_end_seconds("\n".join(['{"journal": 1}', *told_now, *told_when_idle])) == 0.5


def test_without_turns_there_is_nothing_to_tell() -> None:
    assert turn_end_seconds("") is None
