from typing import Any

import pytest

from tools.chart_readme import README, Row, comments, may_be, readme, rows

VALUES = """\
# About the file.

# Alone.
one: 1
# A group,
# in two lines.
group:
  # Inside.
  inner: [a]

  bare: {}
"""


def test_the_readme_of_the_chart_is_up_to_date() -> None:
    assert README.read_text() == readme(), "run `make manifests`"


def test_a_comment_is_of_the_key_right_below() -> None:
    assert comments(VALUES) == {
        "one": "Alone.",
        "group": "A group, in two lines.",
        "group.inner": "Inside.",
    }


@pytest.mark.parametrize(
    ("schema", "words"),
    [
        ({"enum": ["a", "b"]}, "`a`, `b`"),
        ({"type": "integer", "minimum": 1, "maximum": 9}, "1 to 9"),
        ({"type": ["object", "null"]}, "a mapping or null"),
        ({"anyOf": [{"const": ""}, {"$ref": "#/definitions/folder"}]}, '`""`, or a path'),
        ({"$ref": "#/definitions/other"}, "text"),
    ],
)
def test_what_a_value_may_be_is_said_in_words(schema: dict[str, Any], words: str) -> None:
    assert may_be(schema, {"other": {"type": "string"}}) == words


def test_groups_are_opened_and_values_without_parts_are_not() -> None:
    schema = {
        "properties": {
            "group": {"properties": {"inner": {"type": "array"}, "bare": {"type": "object"}}}
        }
    }
    found = list(rows({"group": {"inner": ["a|b"], "bare": {}}}, schema, {"group": "G"}, {}))
    assert found == [
        Row("group", "", "", "G"),
        Row("group.inner", '`["a|b"]`', "a list", ""),
        Row("group.bare", "`{}`", "a mapping", ""),
    ]
    assert str(found[1]) == r'| `group.inner` | `["a\|b"]` | a list |  |'
