"""Three whole calls on draws of our own sampler, with numbers of the reference implementations.

``tests/data/make_own_draws.py`` made the draws and the numbers.
"""

import json
from fractions import Fraction
from functools import cache
from html import unescape

import numpy as np
import pytest

import partita as pt
from reference import losses, uncertainty
from stored import DATA

GOLDEN = json.loads((DATA / "own_draws" / "golden.json").read_text(encoding="utf-8"))
CASES = [(name, loss) for name, found in GOLDEN.items() for loss in found]


@cache
def labels(name):
    with np.load(DATA / "own_draws" / f"{name}.npz") as stored:
        return stored["labels"]


@pytest.mark.parametrize(("name", "loss"), CASES)
def test_expected_losses(name, loss):
    golden = GOLDEN[name][loss]
    found = pt.expected_loss(golden["labels"], labels(name), loss)
    assert found == pytest.approx(golden["expected_loss"], rel=0, abs=1e-12)


@pytest.mark.parametrize(("name", "loss"), CASES)
def test_the_search_reaches_the_best_value_known(name, loss):
    found = pt.estimate(labels(name), loss=loss, bound=None)
    assert found.expected_loss <= GOLDEN[name][loss]["expected_loss"] + 1e-12


@pytest.mark.parametrize("name", GOLDEN)
def test_estimate_of_a_csv_file(name, tmp_path):
    path = tmp_path / "draws.csv"
    np.savetxt(path, labels(name), fmt="%d", delimiter=",")
    found = pt.estimate(path)
    golden = GOLDEN[name]["vi"]
    assert found.labels.tolist() == golden["labels"]
    assert found.expected_loss == pytest.approx(golden["expected_loss"], rel=0, abs=1e-12)
    assert 0.8 * found.expected_loss < found.lower_bound <= found.expected_loss


@pytest.mark.parametrize("name", GOLDEN)
def test_summary_and_report(name, tmp_path):
    summary = pt.summarize(labels(name))
    golden = GOLDEN[name]["vi"]
    assert summary.labels.tolist() == golden["labels"]
    assert summary.ball.radius == pytest.approx(golden["radius"], rel=0, abs=1e-9)
    assert summary.ball.coverage == pytest.approx(golden["coverage"], rel=0, abs=1e-12)
    for part, wanted in golden["bounds"].items():
        found = pt.canonical(summary.ball.bounds[part].labels)
        assert sorted(found.tolist()) == wanted
    k, times = np.unique([len(set(row)) for row in labels(name).tolist()], return_counts=True)
    shown = dict(zip(summary.counts.values.tolist(), summary.counts.probabilities, strict=True))
    assert {n: p for n, p in shown.items() if p} == pytest.approx(
        dict(zip(k.tolist(), times / times.sum(), strict=True))
    )
    summary.to_html(tmp_path / "report.html")
    page = unescape((tmp_path / "report.html").read_text(encoding="utf-8"))
    assert summary.sentence in page


def test_fit_on_the_command_line(tmp_path, monkeypatch, partita):
    """Whatever the sampler drew, what is written about the draws is what the references say."""
    monkeypatch.chdir(tmp_path)
    np.savetxt("data.csv", pt.datasets.galaxies(), header="velocity", comments="")
    words = "fit data.csv --draws 40 --burn-in 40 --chains 2 --seed 1 --out results"
    done = partita(*words.split())
    written = json.loads((tmp_path / "results" / "summary.json").read_text(encoding="utf-8"))
    draws = pt.read_draws(tmp_path / "results" / "draws.npz").labels.tolist()
    assert np.shape(draws) == (80, 82)
    table = np.genfromtxt(tmp_path / "results" / "labels.csv", delimiter=",", names=True)
    assert table["cluster"].astype(int).tolist() == written["labels"]
    ball = uncertainty.ball(draws, written["labels"], Fraction(95, 100), "vi")
    numbers = {
        "expected_loss": losses.expected("vi", written["labels"], draws),
        "radius": float(ball["radius"]),
        "coverage": float(ball["coverage"]),
    }
    found = {**written["estimate"], **written["ball"]}
    assert {key: found[key] for key in numbers} == pytest.approx(numbers, rel=0, abs=1e-9)
    assert done.stdout.startswith("Estimate from 80 draws of 82 items")
