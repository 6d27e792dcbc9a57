"""The documentation as a site: `make docs`.

The pages are those that a forge shows, with the same relative links. So the source folder is the
root of the repository, and no page is changed. Sphinx adds navigation and search, and fails on a
link or an anchor that leads nowhere, and on a page that docs/README.md does not list.
"""

import re
from importlib.metadata import version as installed_version
from typing import Any

project = "nvshare"
author = "the nvshare authors"
copyright = author  # noqa: A001 (Sphinx calls it that)
release = version = installed_version("nvshare")

# CommonMark, as a forge reads it, and the anchors that a forge gives to headings.
extensions = ["myst_parser"]
myst_heading_anchors = 4

root_doc = "docs/README"
include_patterns = [
    "README.md",
    "ARCHITECTURE.md",
    "CONTRIBUTING.md",
    "CHANGELOG.md",
    "docs/**.md",
    "deploy/helm/nvshare/README.md",
    "lab/README.md",
    "lab/emulator/README.md",
    "lab/workloads/README.md",
    "native/interposer/memory/README.md",
]

html_theme = "furo"
html_title = f"nvshare {release}"
# The list of pages lies in docs/, as on a forge; whoever comes to the front door is sent there.
html_extra_path = ["_site"]
html_copy_source = False
html_show_sourcelink = False
# Most code blocks are commands with remarks; guessing at their language colours them wrongly.
highlight_language = "none"
nitpicky = True


def _navigation(text: str) -> str:
    """Return what the sidebar shows: the headings and links of the list of pages."""
    parts = []
    for section in re.split(r"(?m)^## ", text)[1:]:
        title, _, rest = section.partition("\n")
        links = re.findall(r"^\* \[[^]]*\]\(([^):]+)\.md\)", rest, re.MULTILINE)
        body = "\n".join(links)
        parts.append(f"```{{toctree}}\n:hidden:\n:caption: {title}\n\n{body}\n```\n")
    return "\n".join(parts)


def _add_navigation(_app: object, page: str, source: list[str]) -> None:
    """Add the sidebar to the list of pages, where a forge has no use for it."""
    if page == root_doc:
        source[0] += "\n" + _navigation(source[0])


def setup(app: Any) -> None:
    """Tell Sphinx."""
    app.connect("source-read", _add_navigation)
