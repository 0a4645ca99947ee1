"""Partitions shown in a report: by its controls, its buttons and its pictures."""

import numpy as np
import pytest

import partita as pt
from partita.plots._style import colour
from partita.report.content import PROBS, shown_partitions
from report.page_state import MODEL, each, selected, shown_colours
from simulated import FIVE


@pytest.mark.parametrize("choice", ["binder", "upper", "lower", "horizontal"])
def test_the_partition_shown_follows_the_control(tab, summary, choice):
    shown = shown_partitions(summary)
    if choice == "binder":
        number = shown.choices[choice]["partition"]
        labels = summary.binder_estimate.labels
    else:
        number = shown.levels[shown.start]["bounds"][choice]["partition"]
        labels = summary.ball.bounds[choice].labels[0]
    menu = "document.getElementById('choice')"
    tab.run(f"{menu}.value = '{choice}'; {menu}.dispatchEvent(new Event('change'))")
    expected = [colour(index) for index in shown.colours[number][labels].tolist()]
    assert shown_colours(tab) == expected
    assert tab.run(f"Array.from({MODEL}('items').data.cluster)") == labels.tolist()
    sizes = sorted(np.bincount(labels).tolist(), reverse=True)
    chips = each(tab, "#clusters button", "e.textContent")
    assert [int(chip.split()[-2]) for chip in chips] == sizes
    cells = each(tab, "#items tbody tr", "[e.dataset.item, e.cells[2].textContent]")
    assert all(int(text) == labels[int(item)] for item, text in cells)
    order = tab.run("Array.from(partita.data.order)")
    strip = tab.run(
        f"(() => {{ const s = {MODEL}('strip').data; return [s.left, s.right, s.colour]; }})()"
    )
    along = {b: c for a, z, c in zip(*strip, strict=True) if a >= 0 for b in range(a, z)}
    assert [along[b] for b in range(30)] == [expected[i] for i in order]


def test_bounds_colours_and_text_follow_the_probability(tab, summary):
    tab.run("partita.state.show('lower')")
    shown = shown_partitions(summary)
    slider = "document.getElementById('level')"
    for step, prob in enumerate(PROBS):
        tab.run(f"{slider}.value = {step}; {slider}.dispatchEvent(new Event('input'))")
        ball = summary.ball.at(prob)
        assert tab.text("#sentence").startswith(f"With {100 * prob:g}% posterior")
        assert f"radius {ball.radius:.3g}"[:9] in tab.text("#ball-text")
        assert tab.run(f"{MODEL}('radius_line').location") == ball.radius
        assert tab.run(f"{MODEL}('radius_box').right") == ball.radius
        labels = ball.lower.labels[0]
        colours = shown.colours[shown.levels[step]["bounds"]["lower"]["partition"]][labels]
        assert shown_colours(tab) == [colour(index) for index in colours.tolist()]
        said = (
            f"Lower vertical bound ({100 * prob:g}%): {ball.lower.n_clusters[0]} clusters of sizes "
        )
        assert tab.text("#shown-text").startswith(said)
        assert f"; {ball.lower.distance:.3g}"[:5] in tab.text("#shown-text")
        clusters = each(tab, "#bounds tbody tr", "+e.cells[1].textContent")
        assert clusters == [int(bound.n_clusters[0]) for bound in ball.bounds.values()]


def test_show_changes_the_picture_beside_it(tab):
    picture = "document.querySelector('canvas[data-shown]').toDataURL()"
    before = tab.run(picture)
    tab.click("#bounds tr[data-bound=lower] button")
    apart = tab.run(
        """["canvas[data-shown]", "#bounds tr[data-bound=lower] button"]
        .map(name => document.querySelector(name).getBoundingClientRect().y)"""
    )
    assert abs(apart[0] - apart[1]) < 400  # both on the screen
    assert tab.text("#shown-title") == "Shown: Lower vertical bound (95%)"
    assert tab.run(picture) != before
    assert len(set(each(tab, "canvas.partition", "e.toDataURL()"))) >= 3
    titles = each(tab, ".four figcaption", "e.textContent")
    assert len(titles) == 4
    assert titles[0] == "Estimate: 3 clusters"
    assert each(tab, ".four figure.current canvas", "e.dataset.of") == ["lower"]


def test_buttons_of_representatives_show_and_select(browser, tmp_path):
    """Chains that disagree: pictures follow a representative, and what differs is selected."""
    one = np.repeat([0, 1, 2], 6)
    other = np.where(np.arange(18) >= 15, 0, one)
    labels = np.array([one, other])[np.repeat([0, 0, 1], 40)]
    summary = pt.summarize(pt.Draws(labels, chain=np.repeat(range(3), 40)))
    path = tmp_path / "report.html"
    summary.to_html(path)
    tab = browser.open(path)
    assert each(tab, "#representatives button", "e.textContent") == [
        "Show representative 0",
        "Show representative 1",
        "Select what differs from representative 0",
    ]
    for number, labels in enumerate((one, other)):
        tab.click(f"#representatives button[data-choice='representative{number}']")
        assert tab.run("document.getElementById('choice').value") == f"representative{number}"
        shown = tab.run(f"Array.from({MODEL}('items').data.cluster)")
        assert pt.distance(shown, labels) == 0.0
        assert tab.text("#shown-text").startswith(f"Representative {number} (")
    tab.click("#representatives button[data-items]")
    assert selected(tab) == [15, 16, 17]
    assert tab.errors() == []
    tab.close()


def test_a_corner_or_a_number_of_clusters_shows_its_partition(browser, tmp_path):
    summary = pt.summarize(FIVE, path=True, bound=None)
    path = tmp_path / "report.html"
    summary.to_html(path)
    tab = browser.open(path)

    def shown():
        return tab.run(f"Array.from({MODEL}('items').data.cluster)")

    def current():
        return each(tab, "#how-many [aria-current]", "e.dataset.show ?? e.tagName")

    assert summary.curve.sentence[1:] in tab.text("#plateau-text")
    assert len(each(tab, "#plot-path .pick", "e")) == len(summary.path)
    tab.click("#plot-path .pick[data-show=price3]")
    assert pt.distance(shown(), summary.path.labels[3]) == 0.0
    assert "2 clusters, prices 1.01 to 1.65" in tab.text("#shown-text")
    assert current() == ["price3", "TR"]
    tab.click("#corners button[data-show=price1]")
    assert pt.distance(shown(), summary.path.labels[1]) == 0.0
    point = summary.curve.k.tolist()[-1]
    tab.click(f"#plot-curve .pick[data-show=k{point}]")
    assert pt.distance(shown(), summary.curve.labels[-1]) == 0.0
    assert current() == [f"k{point}"]
    tab.run(
        "document.querySelector('[data-show=price4]')"
        ".dispatchEvent(new KeyboardEvent('keydown', { key: 'Enter' }))"
    )
    assert set(shown()) == {0}
    assert tab.errors() == []
    tab.close()
