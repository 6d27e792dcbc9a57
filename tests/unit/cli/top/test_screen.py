from nvshare.cli.top.screen import changes


def test_only_lines_that_have_changed_are_sent() -> None:
    assert changes(["a", "b"], ["a", "b"]) == ""
    assert changes(["a", "b"], ["a", "c"]) == "\x1b[2;1Hc\x1b[0m\x1b[K"
    assert changes([], ["", "x"]) == "\x1b[1;1H\x1b[0m\x1b[K\x1b[2;1Hx\x1b[0m\x1b[K"


def test_lines_that_are_not_there_any_more_are_wiped() -> None:
    assert changes(["a", "b"], ["a"]) == "\x1b[2;1H\x1b[0m\x1b[K"
