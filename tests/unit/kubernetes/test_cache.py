import pytest

from nvshare.kubernetes.cache import Cache, Gone, Trouble

from .apiserver import bookmark, event
from .making import make_pod, pod_tree


def test_a_list_tells_what_is_new_what_has_changed_and_what_is_gone() -> None:
    cache = Cache()
    cache.replace([pod_tree("a"), pod_tree("b"), pod_tree("c")], "5")
    changes = cache.replace([pod_tree("b"), pod_tree("c", phase="Failed"), pod_tree("d")], "9")
    assert [(pod.name, is_there) for pod, is_there in changes] == [
        ("a", False),
        ("c", True),
        ("d", True),
    ]
    assert cache.version == "9"


def test_events() -> None:
    cache = Cache()
    cache.replace([], "1")
    assert cache.take(event("ADDED", pod_tree(version="2"))) == [(make_pod(), True)]
    # A field that is of no interest here is no change.
    assert cache.take(event("MODIFIED", pod_tree(version="3"))) == []
    assert cache.version == "3"
    over = cache.take(event("MODIFIED", pod_tree(version="4", phase="Succeeded")))
    assert [pod.is_over for pod, _ in over] == [True]
    assert cache.take(bookmark("7")) == []
    assert cache.version == "7"
    gone = cache.take(event("DELETED", pod_tree(version="8")))
    assert [is_there for _, is_there in gone] == [False]
    assert cache.pods == {}


def test_errors() -> None:
    cache = Cache()
    with pytest.raises(Gone, match="too old"):
        cache.take({"type": "ERROR", "object": {"code": 410, "message": "too old"}})
    with pytest.raises(Trouble, match="etcd"):
        cache.take({"type": "ERROR", "object": {"code": 500, "message": "etcd"}})
