"""Sphinx configuration; built by ``make docs`` with warnings as errors."""

from __future__ import annotations

import sys
from importlib.metadata import version as version_of
from pathlib import Path

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE / "tools"))

import gallery_needs  # noqa: E402 - found by the line above

project = "partita"
author = "The partita developers"
copyright = author
version = release = version_of("partita")

extensions = [
    "myst_parser",
    "sphinx.ext.autodoc",
    "sphinx.ext.autosummary",
    "sphinx.ext.napoleon",
    "sphinx.ext.viewcode",
    "sphinx_design",
    "sphinx_gallery.gen_gallery",
    "native_math",
]
exclude_patterns = ["_build", "tools", "gallery/*.ipynb", "gallery/*.py", "sg_execution_times.rst"]
templates_path = ["_templates"]
nitpicky = False

myst_enable_extensions = ["dollarmath", "amsmath", "colon_fence", "deflist", "attrs_inline"]
myst_heading_anchors = 3

autosummary_generate = True
autodoc_typehints = "none"  # the docstrings state types and shapes
autodoc_member_order = "bysource"
autodoc_default_options = {"members": True}
napoleon_google_docstring = False
napoleon_use_rtype = False
napoleon_custom_sections = [("Attributes", "params_style")]
napoleon_use_param = False  # types are prose here: as fields, each word of them would become a link

EXAMPLES = HERE.parent / "examples"
NOT_RUN = gallery_needs.not_run(EXAMPLES)
SECTIONS = ("start", "closer", "number", "ensembles", "models", "neighbours")
sphinx_gallery_conf = {
    "examples_dirs": "../examples",
    "gallery_dirs": "gallery",
    "subsection_order": [f"../examples/{name}" for name in SECTIONS],
    "filename_pattern": gallery_needs.pattern(NOT_RUN),
    "within_subsection_order": "FileNameSortKey",
    "download_all_examples": False,
    "show_memory": False,
    "show_signature": False,
    "min_reported_time": 1e9,
    "remove_config_comments": True,
    "abort_on_example_error": True,
}

html_theme = "pydata_sphinx_theme"
html_title = "partita"
html_static_path = ["_static"]
html_css_files = ["partita.css"]
html_extra_path = ["generated/extra"]
(HERE / "generated" / "extra").mkdir(parents=True, exist_ok=True)  # Sphinx looks before we draw
html_show_sourcelink = False
html_math_renderer = "mathml"
html_theme_options = {
    "logo": {"text": "partita"},
    "navigation_with_keys": False,
    "show_prev_next": True,
    "show_toc_level": 2,
    "navbar_align": "left",
    "header_links_before_dropdown": 6,
    "footer_start": ["copyright"],
    "footer_end": [],
    "secondary_sidebar_items": ["page-toc"],
    "pygments_light_style": "tango",
}
# Pages that have no others beside them in their section.
html_sidebars = {"index": [], "tutorial": [], "coming_from_r": [], "contribute": []}


def setup(app: object) -> None:
    """Draw the pictures of the pages before they are read."""
    app.connect("builder-inited", _draw)  # type: ignore[attr-defined]
    app.connect("source-read", _say_what_was_not_run)  # type: ignore[attr-defined]
    app.connect("autodoc-process-signature", _hide_of_results)  # type: ignore[attr-defined]


def _hide_of_results(
    _app: object, what: str, _name: str, obj: object, *_: object
) -> tuple[str, None] | None:
    """Results are made by functions; how to call their classes is nobody's business."""
    is_result = what == "class" and "Made by" in (getattr(obj, "__doc__", None) or "")
    return ("", None) if is_result else None


def _say_what_was_not_run(_app: object, page: str, source: list[str]) -> None:
    missing = NOT_RUN.get(page.removeprefix("gallery/"))
    if missing:
        source[0] = gallery_needs.with_note(source[0], missing)


def _draw(_: object) -> None:
    import pictures

    folder = HERE / "generated" / "pictures"
    folder.mkdir(parents=True, exist_ok=True)
    pictures.draw_all(folder)
    # Copied as it is to the root of the pages, where the first page links to it.
    pictures.write_report(HERE / "generated" / "extra" / "report_galaxies.html")
