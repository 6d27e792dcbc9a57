"""The annotations of pods, as the manual lists them."""

import re
from pathlib import Path

from nvshare.kubernetes.annotations import FIELDS

ROOT = Path(__file__).parents[4]
ROW = re.compile(r"^\| `(nvshare\.com/gpu-[\w-]+)` \|", re.M)


def test_the_manual_has_every_annotation_and_no_other() -> None:
    manual = (ROOT / "docs" / "kubernetes.md").read_text(encoding="utf-8")
    assert ROW.findall(manual) == list(FIELDS)
