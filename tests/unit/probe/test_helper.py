import os

import pytest

from nvshare.probe.helper import Helper
from nvshare.probe.readings import Unavailable


def test_a_helper_that_has_ended_says_why() -> None:
    # There is no driver here, or no such GPU.
    with Helper(9999, dict(os.environ)) as helper, pytest.raises(Unavailable, match=r"ended: .+"):
        helper.ask("hello")
