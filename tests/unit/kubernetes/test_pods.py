from nvshare.kubernetes.pods import read_pod

from .making import make_pod, pod_tree


def test_what_is_read_of_a_pod() -> None:
    pod = make_pod(
        annotations={"a": "b"},
        containers={"main": {"nvshare.com/gpu": "2", "cpu": "500m"}, "side": {}},
        ids={"main": "f" * 64},
    )
    assert str(pod) == "team/trainer"
    assert pod.uid == "uid-of-trainer"
    assert [(c.name, c.id, c.asks("nvshare.com/gpu")) for c in pod.containers] == [
        ("main", "f" * 64, 2),
        ("side", "", 0),
    ]
    assert not pod.is_over


def test_a_pod_that_kubelet_knows_nothing_of_yet() -> None:
    pod = read_pod({"metadata": {"name": "p", "namespace": "n", "uid": "u"}})
    assert (pod.containers, pod.annotations, pod.is_over) == ((), {}, False)


def test_a_pod_is_over_when_it_has_ended_either_way() -> None:
    assert make_pod(phase="Succeeded").is_over
    assert make_pod(phase="Failed").is_over
    assert not make_pod(phase="Pending").is_over


def test_init_containers_count_too() -> None:
    tree = pod_tree()
    tree["spec"]["initContainers"] = [{"name": "fetch"}]
    tree["status"]["initContainerStatuses"] = [{"name": "fetch", "containerID": "cri-o://beef"}]
    assert [(c.name, c.id) for c in read_pod(tree).containers] == [("fetch", "beef"), ("main", "")]


def test_a_count_that_nobody_writes_asks_for_nothing() -> None:
    pod = make_pod(containers={"main": {"nvshare.com/gpu": "1e0"}})
    assert pod.containers[0].asks("nvshare.com/gpu") == 0
