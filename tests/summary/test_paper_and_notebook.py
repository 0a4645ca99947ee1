"""A summary for a paper, and as a notebook shows it."""

import base64
import io
import re
import xml.etree.ElementTree as ET
from dataclasses import replace

import numpy as np
import pytest

import partita as pt
from simulated import labels_around


@pytest.fixture(scope="module")
def summary():
    rng = np.random.default_rng(0)
    labels = np.where(rng.random((200, 8)) < 0.2, 2, np.repeat([0, 1], 4))
    return pt.summarize(pt.Draws(labels, chain=np.repeat([0, 1], 100)), progress=False)


def test_the_table_has_every_number_and_balanced_environments(summary):
    text = summary.to_latex()
    for environment in ("table", "tabular"):
        begins = text.count(rf"\begin{{{environment}}}")
        assert begins == text.count(rf"\end{{{environment}}}") > 0
    assert f"{summary.estimate.expected_loss:.4g} bits" in text
    assert f"{summary.ball.radius:.4g} bits" in text
    rows = re.findall(r"^(\d+) & ([\d,]+) & ([\d.]+) & ", text, re.M)
    assert [int(size) for _, size, _ in rows] == summary.clusters.size.tolist()
    assert [float(within) for *_, within in rows] == np.round(summary.clusters.within, 2).tolist()
    assert r"95\%" in text
    assert not re.search(r"(?<!\\)%", text)  # would be a comment


def stated_limit(text):
    return float(re.search(r"at most ([\d,.]+)% above the minimum", text)[1].replace(",", "")) / 100


@pytest.mark.parametrize(
    ("asked", "words"),
    [
        ({}, ()),
        ({"n_clusters": 2}, ("exactly 2 clusters",)),
        ({"max_clusters": 2}, ("at most 2 clusters",)),
        ({"n_clusters": 4, "min_size": 4}, ("exactly 4 clusters", "at least 4 items in every")),
        ({"method": "average"}, ("cutting average linkage",)),
        ({"method": "draws"}, ("comparing the draws",)),
        ({"method": "hasse"}, ("the greedy search “hasse”",)),
    ],
)
def test_what_is_proven_holds_and_constraints_and_methods_are_named(asked, words, tmp_path):
    labels = labels_around(np.arange(20) % 5, 60, seed=3, redrawn=0.35, k=5)
    summary = pt.summarize(labels, progress=False, bound="fast", path=False, **asked)
    found = summary.estimate
    free = pt.estimate(labels, progress=False, bound=None)
    texts = [" ".join(str(summary).split()), summary.methods, found.proof, summary._repr_html_()]
    for text in texts:
        for word in words:
            assert word in text
        assert stated_limit(text) >= found.expected_loss / free.expected_loss - 1  # of a minimum
        exact = found.gap / (1 - found.gap)
        assert exact <= stated_limit(text) <= 1.1 * exact  # two digits, rounded up
        assert "minimises" not in text
    assert stated_limit(summary.to_latex().replace("\\", "")) >= exact
    for constraint in found.constraints:
        assert constraint in summary.to_latex()
    summary.save(tmp_path / "s.npz")
    assert pt.Summary.load(tmp_path / "s.npz").methods == summary.methods


def test_a_loss_without_a_bound_says_so():
    labels = labels_around(np.arange(14) % 3, 60, seed=3, redrawn=0.3, k=3)
    summary = pt.summarize(labels, loss="one_minus_ari", progress=False, path=False)
    assert "no lower bound" in summary.methods
    assert "proven" not in summary.methods


# ------------------------------------------------------------------------------------ in a notebook


def shown(value):
    """The text of well-formed HTML."""
    tree = ET.fromstring(f"<div>{re.sub(r'<img[^>]*>', '', value._repr_html_())}</div>")
    return " ".join("".join(tree.itertext()).split())


def test_a_summary_is_a_small_page(summary):
    text = shown(summary)
    assert summary.sentence in text
    address = re.search("src='data:image/png;base64,([^']+)'", summary._repr_html_())[1]
    from PIL import Image

    assert Image.open(io.BytesIO(base64.b64decode(address))).size == (8, 8)


def test_warnings_come_first(summary):
    warned = replace(summary, diagnostics=replace(summary.diagnostics, warnings=("not & yet",)))
    text = shown(warned)
    assert text.index("Warning. not & yet") < text.index("Estimate")
    assert "For your paper, once the warnings are resolved" in text
