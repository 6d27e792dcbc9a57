"""Writes everything that is made from frames.toml, environment.toml, limits.toml and settings.toml.

    python -m protocol.generate            writes
    python -m protocol.generate --check    fails if a file is not as it would be written

The files are committed, so that a build needs no generator, and a change of the protocol can be
read in a diff.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from protocol import (
    c_text,
    limits_c,
    limits_pages,
    limits_python,
    markdown_text,
    python_text,
    settings_pages,
    settings_python,
)
from protocol.limits_model import read_limits
from protocol.model import FOLDER, read_environment, read_protocol
from protocol.settings_model import read_settings

ROOT = Path(__file__).parents[1]
# Pages with tables of limits or of settings.
PAGES = tuple(f"docs/{name}.md" for name in ("daemon", "json", "kubernetes", "limits", "simulator"))
CHART = "deploy/helm/nvshare"
SCHEMA = f"{CHART}/values.schema.json"


def generate() -> dict[str, str]:
    """Return every file, by its path in the repository."""
    protocol = read_protocol()
    variables = read_environment()
    limits = read_limits(FOLDER / "limits.toml")
    settings = read_settings(FOLDER / "settings.toml")
    return {
        "native/common/frames.h": c_text.frames_header(protocol),
        "native/common/frame_check.c": c_text.checks_source(protocol),
        "native/common/environment.h": c_text.environment_header(variables),
        "src/nvshare/wire/frames.py": python_text.frames_module(protocol),
        "src/nvshare/wire/places.py": python_text.places_module(protocol),
        "src/nvshare/wire/environment.py": python_text.environment_module(variables),
        "docs/environment.md": markdown_text.environment_page(variables),
        "native/interposer/process/limits.h": limits_c.limits_header(limits),
        "native/interposer/process/limits.c": limits_c.limits_source(limits),
        "src/nvshare/core/limits.py": limits_python.core_module(limits),
        "src/nvshare/limits/table.py": limits_python.table_module(limits),
        "src/nvshare/limits/values.py": limits_python.values_module(limits),
        "src/nvshare/limits/fields.py": limits_python.fields_module(limits),
        "src/nvshare/web/page/limit_table.js": limits_pages.page_script(limits),
        "src/nvshare/core/setting_fields.py": settings_python.core_module(settings),
        "src/nvshare/settings/fields.py": settings_python.fields_module(settings),
        "src/nvshare/settings/table.py": settings_python.table_module(settings),
        f"{CHART}/files/removed-settings.yaml": settings_pages.refusals(settings),
        SCHEMA: settings_pages.with_schema(
            limits_pages.with_schema(_read(SCHEMA), limits), settings
        ),
        **{
            page: settings_pages.with_tables(limits_pages.with_rows(_read(page), limits), settings)
            for page in PAGES
        },
    }


def _read(name: str) -> str:
    return (ROOT / name).read_text(encoding="utf-8")


def main() -> int:
    """Write the files, or compare them."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--check", action="store_true", help="write nothing, compare")
    check = parser.parse_args().check
    stale = []
    for name, text in generate().items():
        path = ROOT / name
        if path.is_file() and path.read_text(encoding="utf-8") == text:
            continue
        stale.append(name)
        if not check:
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text, encoding="utf-8")
    for name in stale:
        print(f"{'differs' if check else 'written'}: {name}")
    return 1 if check and stale else 0


if __name__ == "__main__":
    sys.exit(main())
