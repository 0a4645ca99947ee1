"""The report in a real browser: offline, without errors, on every screen and on paper."""

import csv
import io
import json
import re

import numpy as np
import pytest

import partita as pt
from partita.plots._style import colour
from partita.report.content import PROBS, shown_partitions
from report.browser import MODEL, each, frame, selected, shown_colours, veil
from simulated import FIVE


def test_opens_offline_without_errors(tab):
    assert tab.requests() == []
    assert tab.errors() == []
    assert tab.run("window.hacked") is None
    drawn = each(tab, ".plot", "!!e.querySelector('svg') || !!e.querySelector('*')?.shadowRoot")
    assert drawn == [True] * 9


def test_the_check_sees_errors_and_requests(browser, page_file, tmp_path):
    text = page_file.read_text(encoding="utf-8")
    text = text.replace("</body>", '<img src="http://example.org/x.png"></body>')
    bad = tmp_path / "bad.html"
    bad.write_text(text, encoding="utf-8")
    tab = browser.open(bad)
    assert any("Content Security Policy" in error for error in tab.errors())
    tab.close()
    bad.write_text(text.replace("Content-Security-Policy", "nothing"), encoding="utf-8")
    tab = browser.open(bad)
    assert tab.requests() == ["http://example.org/x.png"]
    tab.close()


def test_hostile_names_are_text(tab, summary):
    tab.run("document.querySelector('th[data-key=name] button').click()")
    names = each(tab, "#items tbody tr", "[e.dataset.item, e.cells[1].textContent]")
    assert len(names) == 25
    assert all(summary.draws.item_names[int(item)] == name for item, name in names)
    tab.run("partita.state.select([0, 1, 2, 3, 4, 5])")
    x, y, width, height = frame(tab, "heat")
    for part in (0.2, 0.5):
        tab.move(x + part * width, y + part * height)
    assert tab.run("document.querySelectorAll('img').length") == 0
    assert tab.run("window.hacked") is None


def test_fits_a_narrow_window_and_paper(tab):
    tab.screen(800)
    tab.run("new Promise(done => setTimeout(done, 300))")
    width, window = tab.run("[document.documentElement.scrollWidth, window.innerWidth]")
    tab.screen()
    assert width <= window
    assert tab.pdf().startswith(b"%PDF")


def test_10_000_items_open(opened, tmp_path):
    rng = np.random.default_rng(0)
    truth = rng.integers(0, 12, 10_000)
    noise = rng.integers(0, 15, (40, 10_000))
    labels = np.where(rng.random(noise.shape) < 0.2, noise, truth)
    data = rng.normal(size=(10_000, 2))
    summary = pt.summarize(pt.Draws(labels), data=data, method="draws", bound=None)
    tab = opened(summary)
    assert (tmp_path / "report.html").stat().st_size < 20_000_000
    assert "Aggregated: each cell is the mean" in tab.text("main")
    assert "20 × 20 items" in tab.text("main")
    tab.click("#clusters button")
    cluster = tab.run("Number(document.querySelector('#clusters button').dataset.cluster)")
    assert selected(tab) == np.flatnonzero(summary.labels == cluster).tolist()


def test_a_report_without_data_opens(opened):
    rng = np.random.default_rng(0)
    tab = opened(pt.summarize(rng.integers(0, 2, (50, 1)), bound=None))
    tab.click("#clusters button")
    assert tab.text("#selection") == "1 item selected"
    assert json.loads(tab.run("JSON.stringify(Object.keys(partita.data.roots))"))[0] == "heat"


def test_a_phone_and_a_dark_screen(tab):
    tab.screen(390, dark=True, phone=True)
    try:
        assert tab.run("document.documentElement.scrollWidth") <= 390
        back = tab.run("getComputedStyle(document.body).backgroundColor")
        assert max(map(int, re.findall(r"\d+", back)[:3])) < 64
        plots = "Bokeh.documents[0].roots().map(p => p.below[0]?.axis_label_text_color)"
        tab.wait(f"{plots}.filter(Boolean).every(ink => ink === '#e6e6e6')")
    finally:
        tab.screen()


def test_paper_is_light_though_the_screen_is_dark(tab):
    """Pictures are painted before the event ends: a moment later paper has left."""
    tab.screen(dark=True)
    ink = "Bokeh.documents[0].roots().map(p => p.below[0]?.axis_label_text_color).filter(Boolean)"
    try:
        tab.wait(f"{ink}.every(ink => ink === '#e6e6e6')")
        views, painted, inks = tab.run(
            "(() => { let painted = 0; const views = Bokeh.index.roots.filter(v => v.repaint);"
            " for (const view of views) view.repaint = function () { painted += 1;"
            " delete view.repaint; view.repaint(); };"
            " window.dispatchEvent(new Event('beforeprint'));"
            f" return [views.length, painted, {ink}]; }})()"
        )
        assert set(inks) == {"#222222"}
        assert painted == views > 3
    finally:
        tab.run("window.dispatchEvent(new Event('afterprint')), 0")
        tab.screen()


# ---------------------------------------------------------------------------- selecting and showing


def test_a_cluster_selects_its_items_everywhere(tab, summary):
    for cluster in (0, 2):
        tab.click(f"#clusters button[data-cluster='{cluster}']")
        members = np.flatnonzero(summary.labels == cluster).tolist()
        assert selected(tab) == members
        order = tab.run("Array.from(partita.data.order)")
        assert veil(tab) == [b for b in range(30) if order[b] in members]
        pressed = each(tab, "#clusters [aria-pressed=true]", "e.dataset.cluster")
        assert pressed == [str(cluster)]
    tab.click("#clear")
    assert selected(tab) == []


def test_dragging_over_the_data_selects(tab, summary):
    x, y, width, height = frame(tab, "data")
    tab.drag((x + 2, y + 2), (x + width - 2, y + height - 2))
    assert selected(tab) == list(range(30))
    tab.press("Escape")
    assert selected(tab) == []


def test_dragging_and_clicking_in_the_heat_map_selects(tab):
    order = tab.run("Array.from(partita.data.order)")
    x, y, width, height = frame(tab, "heat")
    strip = 0.045 * 30
    size = width / (30 + strip), height / (30 + strip)

    def at(column, row):
        return x + (column + strip) * size[0], y + (row + strip) * size[1]

    tab.drag(at(4.5, 4.5), at(9.5, 9.5))
    assert selected(tab) == sorted(order[4:10])
    assert tab.run(f"{MODEL}('strip').selected.indices") == []
    tab.drag(at(20.5, 3.5), at(20.5, 3.5))
    tab.wait("partita.state.count === 2")
    assert selected(tab) == sorted([order[20], order[3]])


def test_pointing_at_the_heat_map_names_the_pair(tab, summary):
    order = tab.run("Array.from(partita.data.order)")
    x, y, width, height = frame(tab, "heat")
    strip = 0.045 * 30
    tab.move(x + (12.5 + strip) * width / (30 + strip), y + (7.5 + strip) * height / (30 + strip))
    names = summary.draws.item_names
    probability = pt.similarity(summary.draws)[order[7], order[12]]
    expected = f"{names[order[7]]} and {names[order[12]]}: together with probability"
    assert tab.text("#tooltip").startswith(expected)
    assert float(tab.text("#tooltip").split()[-1]) == pytest.approx(probability, abs=6e-4)
    tab.move(2, 2)
    assert tab.run("document.getElementById('tooltip').hidden")


def test_the_keyboard_reaches_cells_and_controls(tab, summary):
    tab.run("document.getElementById('heat-focus').focus()")
    for key in ("ArrowDown", "ArrowRight", "ArrowRight"):
        tab.press(key)
    order = tab.run("Array.from(partita.data.order)")
    names = summary.draws.item_names
    assert tab.text("#heat-readout").startswith(f"{names[order[1]]} and {names[order[2]]}: ")
    tab.press("Enter")
    assert selected(tab) == sorted([order[1], order[2]])
    reached = set()
    tab.run("document.querySelector('.skip').focus()")
    for _ in range(90):  # the tools of the pictures and a page of the table are on the way
        tab.press("Tab")
        reached.add(tab.run("document.activeElement.id"))
    assert {"choice", "level", "clear", "download", "heat-focus", "search", "next"} <= reached
    tab.run("document.getElementById('level').focus()")
    tab.press("ArrowLeft")
    assert tab.text("#level-text") == "90%"


def test_the_table_sorts_searches_and_selects(tab, summary):
    def column(j):
        return each(tab, "#items tbody tr", f"e.cells[{j}].textContent")

    for key, j in (("probability", 4), ("share", 6), ("estimate", 3)):
        tab.run(f"document.querySelector('th[data-key={key}] button').click()")
        first = [float(text.rstrip("%")) for text in column(j)]
        tab.run(f"document.querySelector('th[data-key={key}] button').click()")
        second = [float(text.rstrip("%")) for text in column(j)]
        assert sorted([first == sorted(first), second == sorted(second)]) == [False, True]
        state = tab.run(f"document.querySelector('th[data-key={key}]').ariaSort")
        assert state == ("ascending" if second == sorted(second) else "descending")
    tab.click("#search")
    tab.type("ITEM 2")
    assert sorted(column(1)) == [f"item {i}" for i in range(20, 30)]
    tab.click("#select-found")
    assert selected(tab) == list(range(20, 30))
    tab.run("document.getElementById('search').value = ''")
    tab.run("document.getElementById('search').dispatchEvent(new Event('input'))")
    tab.click("#only-selected")
    assert tab.text("#rows") == "1 to 10 of 10 items"
    tab.click("#only-selected")
    tab.click("#next")
    assert tab.text("#rows") == "26 to 30 of 30 items"
    item = tab.run("Number(document.querySelector('#items tbody tr').dataset.item)")
    before = tab.run(f"partita.state.selected[{item}]")
    tab.click("#items tbody tr input")
    assert tab.run(f"partita.state.selected[{item}]") == 1 - before


def test_labels_are_downloaded(tab, summary, tmp_path):
    tab.send("Browser.setDownloadBehavior", behavior="allow", downloadPath=str(tmp_path))
    tab.run("partita.state.setLevel(0)")
    tab.click("#download")
    path = tmp_path / "labels.csv"
    tab.wait("new Promise(done => setTimeout(() => done(true), 300))")
    rows = list(csv.DictReader(io.StringIO(path.read_text(encoding="utf-8"), newline="")))
    assert [row["item"] for row in rows] == list(summary.draws.item_names)
    ball = summary.ball.at(0.5)
    for name, labels in {
        "estimate": summary.labels,
        "binder": summary.binder_estimate.labels,
        "upper_50%": ball.upper.labels[0],
        "lower_50%": ball.lower.labels[0],
        "horizontal_50%": ball.horizontal.labels[0],
    }.items():
        assert [int(row[name]) for row in rows] == labels.tolist()
    probability = [float(row["probability"]) for row in rows]
    assert probability == pytest.approx(summary.items.probability, rel=1e-5)


def test_the_slider_of_the_core_speaks_and_selects(tab, summary):
    assert tab.text("#core-percent") == "90%"
    assert tab.text("#core-text") == summary.core.sentence
    tab.click("#core-select")
    assert selected(tab) == summary.core.items.tolist()
    tab.run("document.getElementById('core-level').value = 0")
    tab.run("document.getElementById('core-level').dispatchEvent(new Event('input'))")
    half = summary.core.at(0.5)
    assert tab.text("#core-percent") == "50%"
    assert tab.text("#core-text") == half.sentence
    tab.click("#core-select")
    assert selected(tab) == half.items.tolist()


# --------------------------------------------------------------------------------- partitions shown


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
        said = f"{100 * prob:g}%): {ball.lower.n_clusters[0]} clusters of sizes "
        assert tab.text("#shown-text").startswith(f"Lower vertical bound ({said}")
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


def test_buttons_of_representatives_show_and_select(opened):
    """Chains that disagree: pictures follow a representative, and what differs is selected."""
    one = np.repeat([0, 1, 2], 6)
    other = np.where(np.arange(18) >= 15, 0, one)
    labels = np.array([one, other])[np.repeat([0, 0, 1], 40)]
    tab = opened(pt.summarize(pt.Draws(labels, chain=np.repeat(range(3), 40))))
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


def test_a_corner_or_a_number_of_clusters_shows_its_partition(opened):
    summary = pt.summarize(FIVE, path=True, bound=None)
    tab = opened(summary)

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
