"""The programs that a name means."""

import pytest

from nvshare.cli.why import find_clients
from nvshare.errors import BadInputError

from ..telemetry.making import make_client, make_gpu, make_node

NODE = make_node(
    make_client(1, device="GPU-1", pod_name="team/trainer"),
    make_client(2, program="both.py", pid=99),
    make_client(3, program="both.py", pid=99, device="GPU-1"),
    gpus=(make_gpu(), make_gpu(index=1, uuid="GPU-1")),
)


@pytest.mark.parametrize(
    ("name", "numbers"),
    [
        ("1", [1]),
        ("4711", [1]),
        ("train1.py", [1]),
        ("trainer", [1]),
        ("team/trainer", [1]),
        ("both.py", [2, 3]),
        ("99", [2, 3]),
    ],
)
def test_a_name_means_a_program_on_each_of_its_gpus(name: str, numbers: list[int]) -> None:
    assert [one.id for one in find_clients(NODE, name)] == numbers


@pytest.mark.parametrize("name", ["", "train", "9"])
def test_what_means_nobody_is_said_with_those_who_are_there(name: str) -> None:
    with pytest.raises(BadInputError) as raised:
        find_clients(NODE, name)
    assert "train1.py (id 1, pid 4711)" in str(raised.value.why)
