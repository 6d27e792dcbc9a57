"""The generated files are up to date, and talk to kubelet under its names."""

from pathlib import Path

import pytest

from nvshare.kubernetes.api import deviceplugin_pb2, podresources_pb2
from protocol.kubernetes.generate import TARGET, generate


@pytest.fixture(scope="module")
def fresh(tmp_path_factory: pytest.TempPathFactory) -> list[Path]:
    return generate(tmp_path_factory.mktemp("api"))


def test_every_file_is_as_it_would_be_generated(fresh: list[Path]) -> None:
    assert {path.name for path in fresh} == {
        path.name for path in TARGET.iterdir() if path.suffix in (".py", ".pyi")
    } - {"__init__.py"}
    for path in fresh:
        assert (TARGET / path.name).read_text() == path.read_text(), (
            "run: python -m protocol.kubernetes.generate"
        )


def test_the_names_that_kubelet_calls() -> None:
    services = deviceplugin_pb2.DESCRIPTOR.services_by_name
    assert services["Registration"].full_name == "v1beta1.Registration"
    assert services["DevicePlugin"].full_name == "v1beta1.DevicePlugin"
    lister = podresources_pb2.DESCRIPTOR.services_by_name["PodResourcesLister"]
    assert lister.full_name == "v1.PodResourcesLister"
