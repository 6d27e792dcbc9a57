import subprocess
import sys
from pathlib import Path

import pytest

from nvshare.lab.emulator.conf import Settings
from nvshare.lab.emulator.emulated_node import create, list_names
from nvshare.lab.emulator.profile import load_known
from nvshare.lab.emulator.transient import sweep, transient_node

TINY = [load_known("tiny")]

CREATE_AND_WAIT = """
import sys
from pathlib import Path
from nvshare.lab.emulator.conf import Settings
from nvshare.lab.emulator.profile import load_known
from nvshare.lab.emulator.transient import transient_node

with transient_node(Path(sys.argv[1]), Settings(), [load_known("tiny")]) as node:
    print(node.name, flush=True)
    sys.stdin.read()
"""


def test_the_node_is_there_inside_and_gone_outside(nodes: Path) -> None:
    with transient_node(nodes, Settings(), TINY) as node:
        assert list_names(nodes) == [node.name]
    assert list(nodes.iterdir()) == []


def test_the_node_goes_when_the_block_fails(nodes: Path) -> None:
    with pytest.raises(ZeroDivisionError), transient_node(nodes, Settings(), TINY):
        _ = 1 / 0
    assert list(nodes.iterdir()) == []


def test_a_node_that_somebody_removed_is_no_error(nodes: Path) -> None:
    with transient_node(nodes, Settings(), TINY) as node:
        (node.folder / "node.conf").unlink()
        node.folder.rmdir()
    assert list(nodes.iterdir()) == []


def test_two_at_once_do_not_disturb_each_other(nodes: Path) -> None:
    with transient_node(nodes, Settings(), TINY) as first:
        with transient_node(nodes, Settings(), TINY) as second:
            assert list_names(nodes) == sorted([first.name, second.name])
        assert list_names(nodes) == [first.name]


def test_a_killed_creator_is_cleaned_up_after(nodes: Path) -> None:
    with subprocess.Popen(
        [sys.executable, "-c", CREATE_AND_WAIT, str(nodes)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    ) as creator:
        assert creator.stdout is not None
        name = creator.stdout.readline().strip()
        assert sweep(nodes) == []
        creator.kill()
        creator.wait()
    assert list_names(nodes) == [name]
    assert sweep(nodes) == [name]
    assert list(nodes.iterdir()) == []


def test_named_nodes_are_never_swept(nodes: Path) -> None:
    create(nodes, "lab", Settings(), TINY)
    assert sweep(nodes) == []
    assert list_names(nodes) == ["lab"]
