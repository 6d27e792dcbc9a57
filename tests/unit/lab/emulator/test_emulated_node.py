import stat
from pathlib import Path

import pytest

from nvshare.errors import BadInputError, NvshareError
from nvshare.lab.emulator.conf import Settings
from nvshare.lab.emulator.emulated_node import Node, create, find, list_names, remove
from nvshare.lab.emulator.profile import load_known

TINY = [load_known("tiny")]


def hidden(root: Path) -> list[str]:
    return [entry.name for entry in root.iterdir() if entry.name.startswith(".")]


def test_a_node_is_found_as_it_was_created(nodes: Path) -> None:
    node = create(nodes, "lab", Settings(speed=50), TINY * 2)
    assert node == Node("lab", nodes / "lab", 50.0, ("nvshare tiny", "nvshare tiny"))
    assert find(nodes, "lab") == node
    assert list_names(nodes) == ["lab"]


def test_the_folder_is_private_and_holds_only_the_conf(nodes: Path) -> None:
    folder = create(nodes, "lab", Settings(), TINY).folder
    assert stat.S_IMODE(folder.stat().st_mode) == 0o700
    assert [entry.name for entry in folder.iterdir()] == ["node.conf"]


def test_a_name_is_taken_only_once(nodes: Path) -> None:
    create(nodes, "lab", Settings(speed=2), TINY)
    with pytest.raises(BadInputError, match="already"):
        create(nodes, "lab", Settings(speed=3), TINY)
    assert find(nodes, "lab").speed == 2
    assert hidden(nodes) == []


@pytest.mark.parametrize("name", ["", ".x", "a/b", "..", "a b", "a\n", "ä", "x" * 64])
def test_a_name_that_could_do_harm_is_refused(nodes: Path, name: str) -> None:
    with pytest.raises(BadInputError, match="cannot be the name"):
        create(nodes, name, Settings(), TINY)
    with pytest.raises(BadInputError, match="cannot be the name"):
        remove(nodes, name)


def test_a_removed_node_is_gone_with_its_state(nodes: Path) -> None:
    (create(nodes, "lab", Settings(), TINY).folder / "state").write_bytes(b"x")
    remove(nodes, "lab")
    assert list(nodes.iterdir()) == []


def test_a_node_that_is_not_there_gets_the_list_of_those_that_are(nodes: Path) -> None:
    with pytest.raises(BadInputError, match="no emulated node") as caught:
        find(nodes, "lab")
    assert caught.value.why == "there is no node at all"
    create(nodes, "other", Settings(), TINY)
    with pytest.raises(BadInputError, match="no emulated node") as caught:
        remove(nodes, "lab")
    assert caught.value.why == "the nodes are other"


@pytest.mark.parametrize(
    "text", ["", "nonsense", "nvshare-emulator-node 1\nname=lab\n", "\N{SNOWMAN}"]
)
def test_a_damaged_node_says_so_and_can_be_removed(nodes: Path, text: str) -> None:
    conf = create(nodes, "lab", Settings(), TINY).folder / "node.conf"
    conf.write_text(text, encoding="utf-8")
    with pytest.raises(NvshareError, match=r"configuration of .* cannot be read"):
        find(nodes, "lab")
    remove(nodes, "lab")
    assert list_names(nodes) == []


def test_the_environment_is_four_variables() -> None:
    node = Node("lab", Path("/n/lab"), 100.0, ("x",))
    assert node.environment(Path("/lib"), {"HOME": "/root"}) == {
        "LD_LIBRARY_PATH": "/lib",
        "LD_PRELOAD": "/lib/libcudart.so.12 /lib/libcudart.so.13",
        "NVSHARE_EMULATOR_NODE": "/n/lab",
        "NVSHARE_EMULATOR_SPEED": "100",
    }


def test_a_library_path_is_kept_behind_ours() -> None:
    node = Node("lab", Path("/n/lab"), 1.0, ("x",))
    environment = node.environment(Path("/lib"), {"LD_LIBRARY_PATH": "/a:/b"})
    assert environment["LD_LIBRARY_PATH"] == "/lib:/a:/b"
    # An empty part would mean the current folder to the linker.
    assert node.environment(Path("/lib"), {"LD_LIBRARY_PATH": ""})["LD_LIBRARY_PATH"] == "/lib"


def test_libraries_in_a_folder_with_a_space_are_preloaded_by_name() -> None:
    node = Node("lab", Path("/n/lab"), 1.0, ("x",))
    environment = node.environment(Path("/my lib"), {"LD_LIBRARY_PATH": "/a"})
    assert environment["LD_PRELOAD"] == "libcudart.so.12 libcudart.so.13"
    assert environment["LD_LIBRARY_PATH"] == "/my lib:/a"


def test_a_node_within_a_node_preloads_its_own_runtimes_only() -> None:
    outer = Node("outer", Path("/n/outer"), 1.0, ("x",)).environment(Path("/outer"), {})
    inner = Node("inner", Path("/n/inner"), 1.0, ("x",)).environment(Path("/inner"), outer)
    assert inner["LD_PRELOAD"] == "/inner/libcudart.so.12 /inner/libcudart.so.13"
