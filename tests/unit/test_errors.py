from nvshare.errors import BadInputError, NvshareError


def test_an_error_has_three_parts() -> None:
    error = NvshareError("it broke", why="it was old", do="buy a new one")
    assert (error.what, error.why, error.do) == ("it broke", "it was old", "buy a new one")
    assert str(error) == "it broke"


def test_bad_input_has_its_own_exit_code() -> None:
    assert NvshareError("x").exit_code == 1
    assert BadInputError("x").exit_code == 2
