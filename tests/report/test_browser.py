"""The report in a real browser: offline, without errors, on every screen and on paper."""

import json
import re

import numpy as np

import partita as pt
from report.page_state import each, frame, selected


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


def test_10_000_items_open(browser, tmp_path):
    rng = np.random.default_rng(0)
    truth = rng.integers(0, 12, 10_000)
    noise = rng.integers(0, 15, (40, 10_000))
    labels = np.where(rng.random(noise.shape) < 0.2, noise, truth)
    summary = pt.summarize(
        pt.Draws(labels), data=rng.normal(size=(10_000, 2)), method="draws", bound=None
    )
    path = tmp_path / "report.html"
    summary.to_html(path)
    assert path.stat().st_size < 20_000_000
    tab = browser.open(path)
    assert tab.errors() == []
    assert "Aggregated: each cell is the mean" in tab.text("main")
    assert "20 × 20 items" in tab.text("main")
    tab.click("#clusters button")
    cluster = tab.run("Number(document.querySelector('#clusters button').dataset.cluster)")
    assert selected(tab) == np.flatnonzero(summary.labels == cluster).tolist()
    tab.close()


def test_a_report_without_data_opens(browser, tmp_path):
    rng = np.random.default_rng(0)
    path = tmp_path / "report.html"
    pt.summarize(rng.integers(0, 2, (50, 1)), bound=None).to_html(path)
    tab = browser.open(path)
    assert tab.errors() == []
    tab.click("#clusters button")
    assert tab.text("#selection") == "1 item selected"
    assert json.loads(tab.run("JSON.stringify(Object.keys(partita.data.roots))"))[0] == "heat"
    tab.close()


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
