"""The labels of the image. tests/kubernetes shows that it can be built."""

from pathlib import Path

import nvshare
from tests.kubernetes.cluster.dockerfile import Built, carry_out, parse

DOCKERFILE = Path(__file__).parents[3] / "deploy" / "docker" / "Dockerfile"
LABEL = "org.opencontainers.image"


def test_the_image_is_labelled(tmp_path: Path) -> None:
    built = Built(tmp_path)
    for word, text in parse(DOCKERFILE.read_text())[-1].instructions:
        if word in ("ARG", "LABEL"):
            carry_out(word, text, built, tmp_path, {})
    assert built.labels[f"{LABEL}.title"] == "nvshare"
    assert built.labels[f"{LABEL}.version"] == nvshare.__version__
    assert " " in built.labels[f"{LABEL}.description"]
    # The builder fills in the origin.
    assert {f"{LABEL}.{name}" for name in ("source", "revision", "created")} <= set(built.labels)
