"""A summary for a paper."""

from __future__ import annotations

import re

import numpy as np
import pytest

import partita as pt


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


def test_the_paragraph_names_what_was_done(summary):
    text = summary.methods
    assert "200 draws from 2 chains" in text
    assert "8 items" in text
    assert f"partita {summary.versions['partita']}" in text
    assert "10.1214/17-BA1073" in text
    assert "the minimum for these draws" in text
