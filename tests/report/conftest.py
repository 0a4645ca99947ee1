"""Reports that several tests open, and the browser they are opened in."""

import numpy as np
import pandas as pd
import pytest

import partita as pt
from partita.report.content import PROBS
from report.browser import chromium, find_chromium
from simulated import labels_around

NASTY = (
    "</script><script>window.hacked = 1</script>",
    "\"quoted\" 'twice'",
    "<img src=x onerror='window.hacked = 1'>",
    "<!-- open",
    "a,b\nc",
    "{{ 7 * 7 }} & $$x^2$$",
)
"""Names that would break a page which forgets to escape them."""


@pytest.fixture(scope="session")
def summary():
    """30 items, two columns of data, hostile names everywhere."""
    truth = np.repeat([0, 1, 2], 10)
    names = [*NASTY, *(f"item {i}" for i in range(6, 30))]
    draws = pt.Draws(labels_around(truth, 400), chain=np.repeat([0, 1], 200), item_names=names)
    rng = np.random.default_rng(1)
    data = pd.DataFrame(rng.normal(size=(30, 2)) + 4.0 * truth[:, None])
    data.columns = ["</script><script>window.hacked = 1</script>", '"$$y$$"']
    return pt.summarize(draws, data=data)


@pytest.fixture(scope="session")
def page_file(summary, tmp_path_factory):
    path = tmp_path_factory.mktemp("report") / "report.html"
    summary.to_html(path)
    return path


@pytest.fixture(scope="session")
def browser(tmp_path_factory):
    if find_chromium() is None:
        pytest.skip("no Chromium on the path: apt-get install chromium")
    with chromium(tmp_path_factory.mktemp("profile")) as found:
        yield found


@pytest.fixture(scope="module")
def tab(browser, page_file):
    found = browser.open(page_file)
    yield found
    found.close()


@pytest.fixture
def opened(browser, tmp_path):
    """The report of a summary in a tab of its own, which must have no error at the end."""
    tabs = []

    def open_report(summary):
        summary.to_html(tmp_path / "report.html")
        tabs.append(browser.open(tmp_path / "report.html"))
        return tabs[-1]

    yield open_report
    for tab in tabs:
        assert tab.errors() == []
        tab.close()


@pytest.fixture(autouse=True)
def as_opened(request):
    """Every test finds the page as it was opened, and leaves it without an error."""
    if "tab" not in request.fixturenames:
        yield
        return
    tab = request.getfixturevalue("tab")
    start = PROBS.index(0.95)
    tab.run(f"partita.state.select([]); partita.state.setLevel({start}); 0")
    tab.run("partita.state.show('estimate'); window.scrollTo(0, 0); 0")
    yield
    assert tab.errors() == []
