"""Draws that were reweighted are no posterior any more, and nothing says that they are."""

from __future__ import annotations

import re

import numpy as np
import pytest

import partita as pt
from partita.errors import InvalidInputError

rng = np.random.default_rng(0)
TRUTH = np.repeat([0, 1, 2], 4)
LABELS = np.where(rng.random((60, 12)) < 0.15, rng.integers(0, 4, (60, 12)), TRUTH)
DRAWS = pt.Draws(LABELS, chain=np.repeat([0, 1], 30), item_names=[f"item {i}" for i in range(12)])
TILTED = DRAWS.reweighted("entropy", 30)

FORBIDDEN = re.compile(r"credible|posterior probab|\bprobabilit(y|ies)\b|the posterior does", re.I)
ALLOWED = "credible balls (with discussion)"
"""The title of the paper."""


def refuse(text):
    clean = text.replace(ALLOWED, "")
    found = FORBIDDEN.search(clean)
    assert found is None, f"…{clean[max(0, found.start() - 80) : found.end() + 80]}…"


def test_what_is_not_tilted():
    assert DRAWS.reweighted("entropy", 0.0).kind == "posterior"
    assert pt.Draws(LABELS, kind="ensemble").reweighted("entropy", 2.0).kind == "ensemble"
    assert pt.as_draws(TILTED, kind="posterior").kind == "posterior"  # as the user declares
    with pytest.raises(InvalidInputError, match="'tilted' and of kind 'posterior'"):
        pt.Draws.concat([TILTED, DRAWS])


@pytest.mark.parametrize("suffix", ["csv", "npz", "parquet", "nc", "rds"])
def test_files_keep_it(suffix, tmp_path):
    needed = {"parquet": "pyarrow", "nc": "h5netcdf", "rds": "rdata"}
    if suffix in needed:
        pytest.importorskip(needed[suffix])
    path = tmp_path / f"draws.{suffix}"
    pt.write_draws(TILTED, path)
    again = pt.read_draws(path)
    assert again.kind == "tilted"
    assert again.n_items == 12
    np.testing.assert_allclose(again.weights, TILTED.weights)


def test_every_sentence_changes(tmp_path):
    summary = pt.summarize(TILTED, path=True, progress=False)
    again = summary.save(tmp_path / "s.npz") or pt.Summary.load(tmp_path / "s.npz")
    assert str(again) == str(summary)
    assert summary.sentence.startswith("Draws with 9")
    assert "% of the tilted weight lie within" in summary.sentence
    head = f"tilted (not the posterior; effectively {TILTED.n_effective:.0f})"
    assert head in " ".join(str(summary).split())
    parts = (summary, summary.estimate, summary.ball, summary.core, summary.items)
    for part in (*parts, summary.clusters, summary.counts, summary.curve, summary.path):
        for text in (str(part), part._repr_html_()):
            refuse(re.sub(r"<[^>]+>", " ", text.removeprefix("<CredibleBall")))
    refuse(summary.details())
    refuse(summary.to_latex())
    refuse(summary.methods)
    assert "no longer those of the posterior" in summary.methods
    assert "no longer" not in pt.summarize(DRAWS, progress=False).methods


def test_the_report_and_the_figures(tmp_path):
    pytest.importorskip("bokeh")
    pytest.importorskip("matplotlib")
    from figure_checks import texts_of
    from test_ensemble import page_texts

    summary = pt.summarize(TILTED, progress=False)
    summary.to_html(tmp_path / "r.html")
    for text in page_texts((tmp_path / "r.html").read_text(encoding="utf-8")):
        refuse(text)
    for draw in (pt.plots.distances, pt.plots.n_clusters, pt.plots.similarity, pt.plots.items):
        for text in texts_of(draw(summary).figure):
            refuse(text)
