"""What programs are called in a sentence."""

from nvshare.telemetry.naming import (
    argument_for,
    distinct_names,
    name_of,
    number_of,
    short_name,
)

from .making import make_client


def test_a_program_is_named_by_its_pod_or_its_user() -> None:
    in_pod = make_client(pod_name="team/notebook")
    assert name_of(in_pod) == "team/notebook/train1.py"
    assert name_of(make_client()) == short_name(in_pod) == "root/train1.py"


def test_only_a_name_that_another_has_is_followed_by_the_pid() -> None:
    clients = [make_client(1), make_client(2), make_client(3, program="train1.py")]
    assert distinct_names(clients[:2], clients, 5) == [
        "root/train1.py (pid 4711)",
        "root/train2.py",
    ]


def test_names_beyond_the_most_are_counted() -> None:
    clients = [make_client(number) for number in (1, 2, 3)]
    assert distinct_names(clients, clients, 2) == ["root/train1.py", "root/train2.py", "1 more"]


def test_a_program_whose_pid_is_hidden_is_called_by_its_id() -> None:
    hidden = make_client(3, pid=0)
    assert (number_of(hidden), argument_for(hidden)) == ("id 3", "id:3")
    assert (number_of(make_client()), argument_for(make_client())) == ("pid 4711", "4711")
