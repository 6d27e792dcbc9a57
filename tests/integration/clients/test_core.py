"""cuda.core, the vendor's objects on top of the driver API, on an emulated node."""

from collections.abc import Callable


def test_objects(check: Callable[..., None]) -> None:
    check("core_objects")
