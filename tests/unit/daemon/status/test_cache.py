from nvshare.daemon.status.cache import Cache


class Source:
    """A source of a value; all sources are equal, and none is the same."""

    def __eq__(self, other: object) -> bool:
        return True

    __hash__ = object.__hash__


def test_a_value_holds_for_as_long_as_it_is_made_of_the_same() -> None:
    cache: Cache[str, object] = Cache()
    one, two = Source(), Source()

    def ask(*made_of: object) -> object:
        found = cache.get("key", made_of, object)
        cache.forget_others()
        return found

    first = ask(one, two)
    assert ask(one, two) is first
    assert ask(one, one) is not first


def test_what_nobody_asks_for_is_forgotten() -> None:
    cache: Cache[str, object] = Cache()
    source = Source()
    first = cache.get("key", (source,), object)
    cache.forget_others()
    cache.get("another", (source,), object)
    cache.forget_others()
    assert cache.get("key", (source,), object) is not first
