from pathlib import Path

import pytest

from nvshare.errors import NvshareError
from nvshare.linker import library_path, preload, preloaded

ONE, TWO = Path("/opt/one/lib1.so"), Path("/opt/two/lib2.so")


def test_libraries_come_in_order_and_before_others() -> None:
    assert preload([ONE, TWO], {}) == {"LD_PRELOAD": f"{ONE} {TWO}"}
    assert preload([ONE], {"LD_PRELOAD": "/a.so:/b.so"}) == {"LD_PRELOAD": f"{ONE} /a.so /b.so"}


def test_a_library_is_not_preloaded_twice() -> None:
    assert preload([ONE], {"LD_PRELOAD": "/old/lib1.so /b.so"}) == {"LD_PRELOAD": f"{ONE} /b.so"}


def test_one_path_with_a_space_makes_all_go_by_name() -> None:
    variables = preload([ONE, Path("/my apps/lib2.so")], {"LD_LIBRARY_PATH": "/old"})
    assert variables["LD_PRELOAD"] == "lib1.so lib2.so"
    assert variables["LD_LIBRARY_PATH"] == "/opt/one:/my apps:/old"


@pytest.mark.parametrize("path", ["/a:b/x.so", "/a b;c/x.so"])
def test_a_path_that_cannot_be_written_at_all(path: str) -> None:
    with pytest.raises(NvshareError, match=r"x\.so cannot be preloaded"):
        preload([Path(path)], {})


def test_what_is_preloaded() -> None:
    assert preloaded({}) == []
    assert preloaded({"LD_PRELOAD": " /a.so:b.so "}) == ["/a.so", "b.so"]
    assert preloaded({"LD_PRELOAD": "/x/a.so b.so"}, {"a.so"}) == ["b.so"]


def test_an_empty_library_path_leaves_no_empty_part() -> None:
    assert library_path(["/a"], {"LD_LIBRARY_PATH": ""}) == "/a"
