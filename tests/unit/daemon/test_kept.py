from nvshare.daemon.kept import Kept


class Source:
    """A source of a value; all sources are equal, and none is the same."""

    def __eq__(self, other: object) -> bool:
        return True

    __hash__ = object.__hash__


def test_a_value_holds_for_as_long_as_it_is_made_of_the_same() -> None:
    kept: Kept[str, object] = Kept()
    one, two = Source(), Source()

    def ask(*made_of: object) -> object:
        found = kept.get("key", made_of, object)
        kept.forget_others()
        return found

    first = ask(one, two)
    assert ask(one, two) is first
    assert ask(one, one) is not first


def test_what_nobody_asks_for_is_forgotten() -> None:
    kept: Kept[str, object] = Kept()
    source = Source()
    first = kept.get("key", (source,), object)
    kept.forget_others()
    kept.get("another", (source,), object)
    kept.forget_others()
    assert kept.get("key", (source,), object) is not first
