"""``partita demo`` and ``partita warmup``: the whole way, and what no run compiles again."""

import sys

import numpy as np
import pytest

import partita as pt
from partita import _warmup
from partita.cli import fit, outputs
from partita.errors import UnknownNameError
from partita.kernels import listeners


@pytest.fixture(autouse=True)
def _small(monkeypatch):
    monkeypatch.setattr(fit, "DRAWS", 60)
    monkeypatch.setattr(fit, "BURN_IN", 20)


def test_galaxies(place, partita):
    result = partita("demo")
    out = place / "partita-demo"
    names = {p.name for p in out.glob("[!.]*")}
    assert names >= {"data.csv", "draws.npz", "fit.npz", "labels.csv", "report.html", "figures"}
    figures = sorted((out / "figures").iterdir())
    assert {"ball.pdf", "estimate.pdf", "similarity.pdf"} <= {p.name for p in figures}
    assert all(p.read_bytes().startswith(b"%PDF") for p in figures)
    assert "Open partita-demo/report.html in a browser." in result.stderr
    assert result.stdout == (out / "summary.txt").read_text()
    values = np.loadtxt(out / "data.csv", skiprows=1)
    assert np.array_equal(values, pt.datasets.galaxies())
    assert pt.read_draws(out / "draws.npz").n_draws == 240


def test_examples_are_compared_with_the_truth(place, partita, monkeypatch):
    monkeypatch.setattr(outputs, "write_figures", lambda *_, **__: None)  # seconds of drawing
    result = partita("demo", "example1", "--seed", 3, "--out", "d")
    truth = pt.datasets.four_normals(example=1, rng=fit.DATA_SEED).labels
    draws = pt.read_draws("d/draws.npz")
    labels = pt.summarize(draws).labels
    assert f"Truth: 4 clusters, {pt.distance(truth, labels):.3g} bits" in result.stdout


def test_without_the_extras_the_rest_is_made(place, partita, monkeypatch):
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    monkeypatch.setitem(sys.modules, "bokeh", None)
    for name in [n for n in sys.modules if n.startswith(("matplotlib.", "bokeh."))]:
        monkeypatch.setitem(sys.modules, name, None)
    result = partita("demo")
    assert "no figures: " in result.stderr
    assert 'pip install "partita[plot]"' in result.stderr
    assert (place / "partita-demo" / "labels.csv").exists()


@pytest.mark.parametrize("part", _warmup.PARTS)
def test_a_second_run_compiles_nothing(part):
    _warmup.PARTS[part]()
    compiled = []
    listeners.append(lambda: compiled.append(part))
    try:
        _warmup.PARTS[part]()
    finally:
        listeners.pop()
    assert compiled == []


def test_the_same_from_python(monkeypatch):
    called = []
    parts = {name: lambda n=name: called.append(n) for name in _warmup.PARTS}
    monkeypatch.setattr(_warmup, "PARTS", parts)
    pt.warmup("core", "path")
    assert called == ["core", "path"]
    pt.warmup()
    assert called[2:] == ["summarize", "losses", "fit", "core", "representatives", "path"]
    with pytest.raises(UnknownNameError, match="'representatives'"):
        pt.warmup("everything")
