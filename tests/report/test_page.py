"""A report's file: whole, small, closed to hostile names; what it shows, recomputed."""

import dataclasses
import json
import re
from xml.dom.minidom import parseString

import matplotlib.pyplot as plt
import numpy as np
import pytest
from scipy.stats import norm

import partita as pt
from page_outline import Outline
from partita.plots._similarity import prepare_similarity
from partita.report.content import (
    PROBS,
    call_text,
    item_positions,
    pictures,
    prepare,
    shown_partitions,
    with_fewer_items,
)
from partita.report.page import Figures
from report.conftest import NASTY


@pytest.fixture(scope="module")
def outline(page_file):
    return Outline(page_file.read_text(encoding="utf-8"))


def test_nothing_is_loaded_from_anywhere(outline, page_file):
    assert [a for a in outline.addresses if not a.startswith(("#", "data:"))] == []
    policy = page_file.read_text(encoding="utf-8").split('Policy" content="')[1].split('"')[0]
    assert policy.startswith("default-src &#39;none&#39;; script-src &#39;sha256-")


def test_hostile_names_stay_text(outline, summary):
    """That no element is made of them, tests/test_hostile_names.py says."""
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


def test_a_probability_of_ones_own_is_on_offer(summary):
    ball = summary.ball.at(0.42)
    shown = shown_partitions(dataclasses.replace(summary, ball=ball))
    assert [level["prob"] for level in shown.levels] == sorted([*PROBS, 0.42])
    assert shown.levels[shown.start]["percent"] == "42%"


def test_partitions_are_distinct_and_colours_follow_clusters(summary):
    shown = shown_partitions(summary)
    assert len({labels.tobytes() for labels in shown.labels}) == len(shown.labels)
    assert shown.labels[0].tolist() == summary.labels.tolist()
    estimate = shown.colours[0][shown.labels[0]]
    for labels, colours in zip(shown.labels, shown.colours, strict=True):
        assert len(set(colours.tolist())) == labels.max() + 1
        # Most items stay where they are: so does their colour.
        assert (colours[labels] == estimate).mean() > 0.5


def test_the_content_answers_in_words(summary):
    shown = shown_partitions(summary)
    assert "3 clusters of sizes 10, 10, 10" in shown.choices["estimate"]["text"]
    assert f"{summary.estimate.expected_loss:.3f}" in shown.choices["estimate"]["text"]
    assert "proven optimal for these draws" in shown.choices["estimate"]["text"]
    level = shown.levels[shown.start]
    assert level["ball"].startswith(f"radius {summary.ball.radius:.3f} ± ")
    call = call_text(summary)
    assert call.startswith("import partita as pt")
    again = {"pt": pt, "draws": summary.draws}
    exec(call, again)
    assert again["summary"].estimate.labels.tolist() == summary.labels.tolist()


def test_one_column_stands_at_its_density():
    rng = np.random.default_rng(0)
    values = np.concatenate([rng.normal(size=300), rng.normal(6.0, 0.5, 200), [np.nan]])
    found = item_positions(values[:, None], None)
    known = values[:-1]
    quartiles = np.quantile(known, [0.25, 0.75])
    width = 0.9 * min(known.std(), np.diff(quartiles)[0] / 1.34) * 500**-0.2
    expected = norm.pdf((values[:-1, None] - known) / width).mean(axis=1) / width
    # Items stand on the curve between points of its grid.
    assert found.y[:-1] == pytest.approx(expected, abs=0.01 * expected.max())
    assert np.isnan(found.y[-1])
    assert found.note.endswith("1 item with missing values is not drawn.")
    assert (found.x_title, found.y_title) == ("value", "density")


def test_missing_values_are_filled_in_and_told():
    data = np.random.default_rng(0).normal(size=(9, 3))
    holes = data.copy()
    holes[2, 1], holes[4, 0] = np.nan, np.inf
    data[2, 1], data[4, 0] = np.delete(data[:, 1], 2).mean(), np.delete(data[:, 0], 4).mean()
    assert item_positions(holes, None).x == pytest.approx(item_positions(data, None).x)
    assert item_positions(holes, None).note.endswith("replaces 2 missing values.")


@pytest.mark.parametrize(
    "data",
    [
        np.ones((4, 3)),
        np.ones((1, 3)),
        np.outer(np.arange(5.0), np.ones(3)),
        np.full((4, 1), 7.0),
        np.full((3, 1), np.nan),
        np.array([[1.0], [1.0], [1.0], [1.0], [2.0]]),
        np.array([[1.0, np.nan, np.inf], [2.0, 1.0, 5.0], [3.0, 2.0, 1.0]]),
    ],
    ids=["constant", "one item", "rank one", "one value", "nothing", "spike", "missing"],
)
def test_poor_data_have_places(data):
    found = item_positions(data, None)
    known = np.isfinite(data).all(axis=1) | (data.shape[1] > 2)
    assert np.isfinite(found.x[known]).all()
    assert np.isfinite(found.y[known]).all()


def test_of_very_many_items_some_are_shown(monkeypatch):
    rng = np.random.default_rng(0)
    truth = np.sort(rng.integers(0, 4, 400))
    labels = np.where(rng.random((60, 400)) < 0.2, rng.integers(0, 5, (60, 400)), truth)
    draws = pt.Draws(labels, item_names=[f"item{i}" for i in range(400)])
    found = pt.summarize(draws, data=rng.normal(size=(400, 2)))
    whole = prepare(found)
    assert whole.items is None
    monkeypatch.setattr("partita.report.content.LEAST_CERTAIN", 30)
    monkeypatch.setattr("partita.report.content.AT_RANDOM", 100)
    heat = prepare_similarity(draws, found.labels, most_cells=20)
    aggregated = dataclasses.replace(whole, heat=heat, heat_items=(heat.order, heat.edges))
    some = with_fewer_items(aggregated)
    items = some.items
    assert 100 <= items.size <= 130
    assert f"{items.size} of 400 items" in some.note
    doubtful = np.argsort(found.items.probability.astype(np.float32), kind="stable")[:30]
    assert np.isin(doubtful, items).all()
    for row, all_of_it, sizes in zip(
        some.shown.labels, whole.shown.labels, some.shown.sizes, strict=True
    ):
        np.testing.assert_array_equal(row, all_of_it[items])
        assert sizes.sum() == 400
    assert some.names == tuple(f"item{i}" for i in items)
    np.testing.assert_array_equal(some.place.x, whole.place.x[items])
    order, starts = some.heat_items
    assert (np.diff(starts) >= 5).all()
    for cell in range(20):
        mine = items[order[starts[cell] : starts[cell + 1]]]
        assert set(mine) <= set(heat.order[heat.edges[cell] : heat.edges[cell + 1]])
    for few, core in zip(some.cores, whole.cores, strict=True):
        assert set(items[few.items]) == set(core.items) & set(items)
