"""The shell that runs a page: its environment, and that a mistake ends it."""

from pathlib import Path

from tools.docs.running import run, script


def page(folder: Path, *blocks: str) -> Path:
    path = folder / "page.md"
    path.write_text("".join(f"<!-- run -->\n\n    {block}\n\n" for block in blocks))
    return path


def test_blocks_share_one_shell_with_a_home_of_its_own(tmp_path: Path) -> None:
    told = page(tmp_path, "x=5", "echo $x in $HOME; ls examples >/dev/null")

    done = run(told, tmp_path)

    assert done.returncode == 0, done.stdout
    assert f"5 in {tmp_path}" in done.stdout


def test_the_first_mistake_ends_it(tmp_path: Path) -> None:
    done = run(page(tmp_path, "false", "echo on"), tmp_path)

    assert done.returncode == 1
    assert "echo on" not in done.stdout


def test_what_does_not_end_is_ended(tmp_path: Path) -> None:
    done = run(page(tmp_path, "command sleep 60"), tmp_path, seconds=0.5)

    assert done.returncode != 0
    assert "not finished after 0.5 s" in done.stdout


def test_blocks_that_are_not_marked_are_not_run(tmp_path: Path) -> None:
    path = tmp_path / "page.md"
    path.write_text("    rm -rf important\n", encoding="utf-8")

    assert "important" not in script(path)
