"""The documentation as a site: `make docs`.

The pages are those that a forge shows, with the same relative links. So the source folder is the
root of the repository, and nothing here changes a page; Sphinx adds navigation and search, and
fails on a link or an anchor that leads nowhere.
"""

from importlib.metadata import version as installed_version

project = "nvshare"
author = "the nvshare authors"
copyright = author  # noqa: A001 (Sphinx calls it that)
release = version = installed_version("nvshare")

# CommonMark, as a forge reads it, and the anchors that a forge gives to headings.
extensions = ["myst_parser"]
myst_enable_extensions: list[str] = []
myst_heading_anchors = 4
myst_links_external_new_tab = False

root_doc = "docs/index"
include_patterns = [
    "README.md",
    "ARCHITECTURE.md",
    "CONTRIBUTING.md",
    "CHANGELOG.md",
    "docs/**.md",
    # Pages link to the files that they speak of; those come along as they are.
]
exclude_patterns = ["docs/_*"]

html_theme = "furo"
html_title = f"nvshare {release}"
html_static_path: list[str] = []
html_copy_source = False
html_show_sourcelink = False
# Most code blocks are commands with remarks; guessing at their language colours them wrongly.
highlight_language = "none"
nitpicky = True
