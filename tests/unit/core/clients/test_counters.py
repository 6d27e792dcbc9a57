"""Counters by themselves: what a table makes of a client that counts for something else."""

from collections import Counter
from typing import Any

from nvshare.core.clients.counters import Count, LoadOf, NumberOf, OrderedSetOf, Queue, SetOf, SumOf
from nvshare.core.memory import Load
from nvshare.core.record.client import Client
from nvshare.core.record.precedence import Precedence


class Table:
    """A table of one counter."""

    def __init__(self, counter: Count[Any]) -> None:
        counter.name = "result"
        self.counter, self.result = counter, counter.empty()

    def change(self, client: int, before: Any, after: Any) -> None:
        self.counter.change(self, Client(client), before, after)


def test_a_set_has_whom_the_rule_holds_of() -> None:
    table = Table(SetOf(lambda one: one.work.busy))
    table.change(1, False, True)
    table.change(2, False, True)
    table.change(1, True, False)
    assert list(table.result) == [2]


def test_who_comes_to_a_state_again_is_its_last_one() -> None:
    table = Table(OrderedSetOf(lambda one: one.order))
    for client in (1, 2, 3):
        table.change(client, None, client)
    table.change(1, 1, 4)
    table.change(2, 2, None)
    assert list(table.result) == [3, 1]


def test_a_sum_follows_each_number() -> None:
    table = Table(SumOf(lambda one: one.moving.evicting))
    table.change(1, 0, 5)
    table.change(2, 0, 7)
    table.change(1, 5, 2)
    assert table.result == 9


def test_a_weight_of_nothing_is_no_weight() -> None:
    table = Table(LoadOf(lambda one: one.weight))
    table.change(1, None, 0)
    table.change(2, None, 3)
    assert table.result == Load(3, 1)
    table.change(2, 3, None)
    assert table.result == Load(0, 0)


def test_a_kind_without_clients_is_not_there() -> None:
    table = Table(NumberOf[str](lambda one: one.owner))
    table.change(1, None, "a")
    table.change(2, None, "b")
    table.change(1, "a", "b")
    assert table.result == Counter(b=2)
    assert len(table.result) == 1


def test_a_queue_is_ordered_by_rank_and_then_by_arrival() -> None:
    queue = Queue()
    clients = [
        Client(n, precedence=Precedence(rank=rank), order=n)
        for n, rank in enumerate([5.0, 3.0, 5.0, 1.0])
    ]
    for client in reversed(clients):
        queue.add(client.place, client)
    assert [client.id for client in queue] == [3, 1, 0, 2]
    queue.remove(clients[0].place)
    assert [client.id for client in reversed(queue)] == [2, 1, 3]
    assert queue.first() is clients[3]
    assert len(queue) == 3


def test_an_empty_queue_has_no_first() -> None:
    assert Queue().first() is None
