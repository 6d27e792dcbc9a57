"""Code blocks and spans, and the comments above them."""

from pathlib import Path

from tools.docs.pages import blocks, pages, spans

PAGE = """\
# A page

<!-- run: shows "two lines" -->

    nvshare status

<!-- not run: needs a GPU -->

```console
$ nvshare top
```

A sentence with `nvshare why 1` in it.

    nvshare ls

```yaml
key: value
```
"""


def page(folder: Path) -> Path:
    path = folder / "page.md"
    path.write_text(PAGE, encoding="utf-8")
    return path


def test_a_comment_says_what_becomes_of_a_block(tmp_path: Path) -> None:
    run, not_run, unmarked = blocks(page(tmp_path))

    assert (run.is_run, run.shows, run.line) == (True, "two lines", 5)
    assert (not_run.is_run, not_run.why_not) == (False, "needs a GPU")
    assert not unmarked.is_marked
    assert unmarked.text == "nvshare ls\n"


def test_code_within_a_sentence_is_found(tmp_path: Path) -> None:
    assert [span.text for span in spans(page(tmp_path))] == ["nvshare why 1"]


def test_pages_are_those_of_all_folders() -> None:
    names = {path.name for path in pages()}

    assert {"README.md", "limits.md", "tutorial.md", "workstation.md"} <= names
