"""The file: whole, small, without addresses, and closed to hostile names."""

import json
import re
from html.parser import HTMLParser
from xml.dom.minidom import parseString

import pytest

from partita.report.content import pictures, prepare
from partita.report.page import Figures
from report.conftest import NASTY


class Outline(HTMLParser):
    """Elements, the addresses in them, and the text of scripts and of everything else."""

    def __init__(self):
        super().__init__(convert_charrefs=True)
        self.tags, self.addresses, self.scripts, self.texts, self.ids = [], [], [], [], []
        self.images = []

    def handle_starttag(self, tag, attributes):
        found = dict(attributes)
        self.tags.append(tag)
        self.addresses += [v for k, v in found.items() if k in ("src", "href", "action", "data")]
        self.ids += [found["id"]] if "id" in found else []
        if found.get("role") == "img":
            self.images.append(found.get("aria-label"))

    def handle_data(self, data):
        inside = self.tags and self.tags[-1] in ("script", "style")
        (self.scripts if inside else self.texts).append(data)


@pytest.fixture(scope="module")
def outline(page_file):
    found = Outline()
    found.feed(page_file.read_text(encoding="utf-8"))
    return found


def test_nothing_is_loaded_from_anywhere(outline, page_file):
    assert [a for a in outline.addresses if not a.startswith(("#", "data:"))] == []
    policy = page_file.read_text(encoding="utf-8").split('Policy" content="')[1].split('"')[0]
    assert policy.startswith("default-src &#39;none&#39;; script-src &#39;sha256-")


def test_hostile_names_stay_text(outline, summary):
    assert outline.tags.count("script") == 4
    assert outline.tags.count("img") == 0
    data = json.loads(next(s for s in outline.scripts if s.startswith('{"roots"')))
    assert data["names"][: len(NASTY)] == list(NASTY)
    alts = " ".join(outline.images)
    assert summary.data_names[0] in alts
    assert summary.data_names[1] in alts


def test_titles_of_axes_are_no_formulas(summary):
    """Names of columns are the user's: TeX in them would be set, and MathJax looked for."""
    plot = Figures(prepare(summary), summary.ball).by_place()["data"]
    for axis, name in zip((plot.xaxis[0], plot.yaxis[0]), summary.data_names, strict=True):
        assert type(axis.axis_label).__name__ == "PlainText"
        assert axis.axis_label.text == name


def test_the_answer_is_that_of_the_screen(outline, summary):
    """The same statements, but for the ball, which follows the reader's choice."""
    said = " ".join(outline.texts)
    told = dict(summary._statements())
    assert told.pop("95% credible ball") not in said
    assert len(told) >= 4
    assert all(text in said for text in told.values())
    assert "R-hat at most" in said


def test_every_picture_has_an_alternative_text(outline):
    assert len(outline.images) == 4 + 5 + 4  # linked plots, partitions, static figures
    assert all(text and len(text) > 20 for text in outline.images)
    assert len(outline.ids) == len(set(outline.ids))


def test_figures_are_those_of_plots_and_stay_apart(summary, page_file):
    """SVG that a browser takes, in the page's text colour; no id twice; pyplot keeps none."""
    import matplotlib.pyplot as plt

    before = plt.get_fignums()
    drawn = pictures(summary)
    assert plt.get_fignums() == before
    assert drawn.keys() >= {"counts", "core", "profiles", "traces"}
    page = page_file.read_text()
    for text in drawn.values():
        parseString(text.replace("<svg ", '<svg xmlns:xlink="x" ', 1))
        assert text in page
        assert "#000000" not in text
        # On a dark page small print would be too dark, and white would hide what is written on it.
        assert "#6e6e6e" not in text
        assert "#ffffff" not in text
        assert "<style" not in text
    pick = re.findall(r'data-show="(k\d+)" role="button"', drawn["curve"])
    assert pick == [f"k{k}" for k in summary.curve.k]
