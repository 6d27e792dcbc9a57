"""The files of the page need only what its server permits and a wheel contains."""

import re
from importlib.resources import files

import pytest

from nvshare.telemetry.snapshot import TimeParts

PAGE = files("nvshare.web") / "page"
FILES = {file.name: file.read_text(encoding="utf-8") for file in PAGE.iterdir()}


@pytest.mark.parametrize("name", sorted(FILES))
def test_nothing_comes_from_elsewhere(name: str) -> None:
    text = FILES[name].replace("http://www.w3.org/2000/svg", "")
    assert not re.search(r"https?:|//[a-z]+\.", text)
    assert "@import" not in text


def test_nothing_is_inline_that_the_policy_forbids() -> None:
    html = FILES["index.html"]
    assert not re.search(r"<script(?![^>]*\bsrc=)|<style|\sstyle=|\son[a-z]+=", html)


def test_what_is_referred_to_is_there() -> None:
    named = re.findall(r'(?:src|href)="([^"#]+)"', FILES["index.html"])
    named += [one for text in FILES.values() for one in re.findall(r'from "\./([^"]+)"', text)]
    assert set(named) <= set(FILES)
    assert {name for name in FILES if name.endswith(".js")} <= set(named)


def test_names_are_never_taken_for_markup() -> None:
    for name, text in FILES.items():
        assert not re.search(
            r"innerHTML|outerHTML|insertAdjacentHTML|document\.write|eval\(", text
        ), name


def test_every_element_that_scripts_name_is_on_the_page() -> None:
    known = set(re.findall(r'\bid="([^"]+)"', FILES["index.html"]))
    for text in FILES.values():
        assert set(re.findall(r'\$\("([^"]+)"\)', text)) <= known


def test_every_field_has_a_label() -> None:
    html = FILES["index.html"]
    for tag in re.findall(r"<(?:input|select)\b[^>]*>", html):
        identity = re.search(r'\bid="([^"]+)"', tag)
        labelled = identity and f'for="{identity[1]}"' in html
        inside = re.search(rf"<label[^>]*>(?:(?!</label>)[\s\S])*{re.escape(tag)}", html)
        assert labelled or inside, tag


def test_every_part_of_time_has_a_word_and_a_colour() -> None:
    found = re.search(r"PARTS = \[(.*)\]", FILES["words.js"])
    assert found
    # Samples have the parts in this order.
    assert re.findall(r'"(\w+)"', found[1]) == list(TimeParts.model_fields)
    for part in TimeParts.model_fields:
        assert f"\n  {part}: " in FILES["words.js"]
        assert f"--{part}:" in FILES["style.css"]
        assert f'.swatch[data-part="{part}"]' in FILES["charts.css"]
