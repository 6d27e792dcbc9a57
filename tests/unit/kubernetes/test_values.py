"""The chart takes exactly the values that exist."""

import json
from pathlib import Path

from nvshare.settings.table import GPU, REMOVED
from nvshare.telemetry.ceilings import Ceiling

CHART = Path(__file__).parents[3] / "deploy" / "helm" / "nvshare"


def test_every_field_of_a_ceiling_can_be_a_value() -> None:
    schema = json.loads((CHART / "values.schema.json").read_text(encoding="utf-8"))
    assert set(schema["definitions"]["ceiling"]["properties"]) == set(Ceiling.model_fields)


def test_every_setting_of_a_gpu_can_be_a_value_and_removed_ones_reach_the_template() -> None:
    schema = json.loads((CHART / "values.schema.json").read_text(encoding="utf-8"))
    names = [*(one.name for one in GPU), *REMOVED]
    assert list(schema["properties"]["settings"]["properties"]) == names
