"""A plan is a function of its seed."""

from itertools import islice

from tests.chaos.faults import FAULTS
from tests.chaos.plan import KINDS, acts, choose_roles


def test_the_same_seed_gives_the_same_plan() -> None:
    assert list(islice(acts(7), 200)) == list(islice(acts(7), 200))
    assert choose_roles(7) == choose_roles(7)


def test_a_longer_campaign_begins_like_a_shorter_one() -> None:
    assert list(islice(acts(7), 50)) == list(islice(acts(7), 200))[:50]


def test_another_seed_gives_another_plan() -> None:
    assert list(islice(acts(7), 20)) != list(islice(acts(8), 20))
    assert len({choose_roles(seed) for seed in range(50)}) > 1


def test_every_kind_comes_before_any_comes_once_more_than_it_has_cards() -> None:
    deck = sum(shape.cards for shape in KINDS.values())
    dealt = [fault.kind for act in islice(acts(3), deck) for fault in act.faults]
    first = dealt[:deck]
    assert {kind: first.count(kind) for kind in KINDS} == {
        kind: shape.cards for kind, shape in KINDS.items()
    }


def test_faults_are_within_what_their_kinds_allow() -> None:
    for act in islice(acts(5), 300):
        assert 1 <= len(act.faults) <= 3
        assert [fault.at for fault in act.faults] == sorted(fault.at for fault in act.faults)
        for fault in act.faults:
            shape = KINDS[fault.kind]
            assert shape.shortest <= fault.seconds <= shape.longest
            assert fault.value in shape.values


def test_kinds_that_cannot_be_had_are_left_out() -> None:
    dealt = {fault.kind for act in islice(acts(3, ["kill-program"]), 20) for fault in act.faults}
    assert dealt == {"kill-program"}


def test_every_kind_can_be_done() -> None:
    assert set(FAULTS) == set(KINDS)
    assert all(do.__doc__ for do in FAULTS.values())


def test_a_fault_tells_what_it_is() -> None:
    said = [str(fault) for act in islice(acts(1), 50) for fault in act.faults]
    assert all("+" in text and " s " in text for text in said)
    assert any(text.endswith(" s") and "stop-program" in text for text in said)
