"""What the reports of many clients cost, by counts of work.

A thousand clients that report make up most of what a daemon does. `python -m tools.endurance crowd`
measures the time.
"""

from nvshare.wire import frames

from ..counting import calls_of
from ..stage import GIB, Stage

FEW, MANY = 2, 12


def cost_of_a_report(stage: Stage, number: int) -> int:
    """Return how many calls one client's report takes, beside what the loop does anyway."""
    idle = calls_of(stage.turn)
    stage.clients[0].send(frames.Usage(number * 10**9, number, 0, 0).pack())
    return calls_of(stage.turn) - idle


def test_a_report_costs_the_same_beside_many_others(stage: Stage) -> None:
    for _ in range(FEW):
        stage.join(GIB // MANY)
    beside_few = min(cost_of_a_report(stage, number) for number in range(1, 4))
    for _ in range(MANY - FEW):
        stage.join(GIB // MANY)
    assert len(stage.node.clients) == MANY
    beside_many = min(cost_of_a_report(stage, number) for number in range(4, 7))
    # The loop compares a few more timers; there is not one call for each client.
    assert beside_many - beside_few < MANY - FEW
    # It takes 61; a thousand clients send 512 reports a second.
    assert 0 < beside_many < 80


def test_clients_that_say_nothing_cost_nothing(stage: Stage) -> None:
    stage.join(GIB // MANY)
    alone = min(calls_of(stage.turn) for _ in range(5))
    for _ in range(MANY - 1):
        stage.join(GIB // MANY)
    beside_others = min(calls_of(stage.turn) for _ in range(5))
    # The loop compares a few more timers; there is not one call for each client.
    assert beside_others - alone < MANY - 1
