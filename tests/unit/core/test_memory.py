import pytest

from nvshare.core.memory import Kind, Load, Memory


def test_what_is_neither_pinned_nor_swapped_is_resident() -> None:
    memory = Memory(allocated=10, pinned=2, swapped=3)
    assert memory.swappable == 8
    assert memory.resident == 5


@pytest.mark.parametrize(
    ("claimed", "taken"),
    [
        (Memory(10, 2, 3), Memory(10, 2, 3)),
        (Memory(10, 20, 3), Memory(10, 10, 0)),
        (Memory(10, 2, 30), Memory(10, 2, 8)),
        (Memory(-1, -1, -1), Memory(0, 0, 0)),
        (Memory(10, 2, context=3), Memory(10, 2, context=2)),
        (Memory(10, 2, context=-1), Memory(10, 2)),
    ],
)
def test_claims_that_cannot_be_true_are_cut_to_what_can(claimed: Memory, taken: Memory) -> None:
    assert claimed.as_kind(Kind.MANAGED) == taken


def test_a_context_is_pinned_and_not_the_programs_own() -> None:
    assert Memory(10, pinned=3, context=2).own == 8


def test_native_memory_is_pinned() -> None:
    assert Memory(10, 2, 3).as_kind(Kind.NATIVE) == Memory(10, 10, 0)


def test_a_load_is_what_was_added_and_not_taken_away() -> None:
    load = Load()
    for weight in (5, 0, 7):
        load.add(weight)
    load.add(5, -1)
    assert load == Load(weight=7, heavy=1)


def test_a_set_fits_up_to_the_last_byte() -> None:
    assert Load(16, 2).fits(16)
    assert not Load(17, 2).fits(16)


def test_somebody_too_large_runs_alone() -> None:
    assert Load(20, 1).fits(16)
    assert Load(0, 0).admits(20, 16)
    assert not Load(1, 1).admits(20, 16)


def test_who_weighs_nothing_fits_even_where_nothing_does() -> None:
    assert Load(20, 2).admits(0, -4)


def test_another_context_changes_what_is_pinned_and_nothing_else() -> None:
    memory = Memory(allocated=10, pinned=4, swapped=3, context=2)
    assert memory.with_context(5) == Memory(allocated=13, pinned=7, swapped=3, context=5)
    assert memory.with_context(5).own == memory.own
