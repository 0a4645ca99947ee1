"""``partita summarize``: what it prints is what the library says, and files hold the same."""

import csv
import json
import signal

import numpy as np
import pytest

import partita as pt
from cli.conftest import NAMES, TRUTH


def rows_of(path):
    with path.open(newline="") as stream:
        return list(csv.DictReader(stream))


def test_prints_the_summary_of_the_library(place, partita):
    result = partita("summarize", "draws.csv", "--prob", "0.9", "--loss", "binder")
    expected = pt.summarize(pt.read_draws("draws.csv"), prob=0.9, loss="binder")
    assert result.stdout == f"{expected}\n"
    assert result.stderr == ""


def test_writes_every_table(place, partita):
    result = partita("summarize", "draws.csv", "--out", "results", "--similarity", "csv", "--json")
    assert result.stderr == "wrote results\n"
    out = place / "results"
    summary = pt.summarize(pt.read_draws("draws.csv"))
    labels = rows_of(out / "labels.csv")
    assert [row["item"] for row in labels] == NAMES
    assert [int(row["cluster"]) for row in labels] == summary.labels.tolist() == TRUTH.tolist()
    bounds = rows_of(out / "bounds.csv")
    for kind, bound in summary.ball.bounds.items():
        for number, expected in enumerate(bound.labels, start=1):
            column = kind if number == 1 else f"{kind}.{number}"
            assert [int(row[column]) for row in bounds] == expected.tolist()
    items = rows_of(out / "items.csv")
    assert [float(row["probability"]) for row in items] == summary.items.probability.tolist()
    assert [float(row["placement.2"]) for row in items] == summary.items.placement[:, 2].tolist()
    clusters = rows_of(out / "clusters.csv")
    assert [int(row["size"]) for row in clusters] == [5, 5, 5]
    similarity = rows_of(out / "similarity.csv")
    matrix = [[float(row[name]) for name in NAMES] for row in similarity]
    assert np.array_equal(matrix, pt.similarity(summary.draws))
    printed, stored = json.loads(result.stdout), json.loads((out / "summary.json").read_text())
    assert {**printed, "seconds": 0} == {**stored, "seconds": 0}
    assert printed["labels"] == TRUTH.tolist()
    assert (out / "summary.txt").read_text() == f"{summary}\n"


def test_options_of_reading_reach_the_reader(place, partita):
    chains = [pt.read_draws(f"chain{i}.csv") for i in (1, 2)]
    expected = pt.summarize(pt.Draws.concat(chains).drop(100).thin(2))
    result = partita("summarize", "chain1.csv", "chain2.csv", "--burn-in", 100, "--thin", 2)
    assert result.stdout == f"{expected}\n"
    labels = pt.read_draws("draws.csv").labels
    np.savetxt("items.txt", labels.T, fmt="%d")
    result = partita(
        "summarize", "items.txt", "--format", "txt", "--no-header", "--transpose", "--json"
    )
    assert json.loads(result.stdout)["n_items"] == TRUTH.size
    result = partita("summarize", "samples.csv", "--var-name", "z", "--json")
    assert json.loads(result.stdout)["n_draws"] == 20


def test_standard_input(place, partita):
    text = (place / "draws.csv").read_text()
    result = partita("summarize", "-", "--json", stdin=text)
    assert json.loads(result.stdout)["labels"] == TRUTH.tolist()
    result = partita("summarize", "-", "--data", "-", stdin=text, code=1)
    assert "given twice" in result.stderr


def test_weights(place, partita):
    weights = np.random.default_rng(0).random(300)
    (place / "w.csv").write_text("weight\n" + "\n".join(map(str, weights.tolist())) + "\n")
    result = partita("summarize", "draws.csv", "--weights", "w.csv", "--thin", 3)
    draws = pt.as_draws(pt.read_draws("draws.csv"), weights=weights).thin(3)
    assert result.stdout == f"{pt.summarize(draws)}\n"
    (place / "two.csv").write_text("a,b\n1,2\n")
    result = partita("summarize", "draws.csv", "--weights", "two.csv", code=1)
    assert "one weight per draw in one column" in result.stderr


def test_search_options_reach_the_search(place, partita):
    result = partita(
        *("summarize", "draws.csv", "--method", "sweep", "--bound", "none", "--json"),
        *("--max-clusters", 2, "--time-limit", 5, "--seed", 3, "--jobs", 1),
    )
    found = json.loads(result.stdout)
    assert found["estimate"]["lower_bound"] is None
    assert found["n_clusters"] <= 2
    options = found["options"]
    assert (options["method"], options["rng"], options["time_limit"]) == ("sweep", 3, 5.0)
    assert (options["n_jobs"], options["max_clusters"], options["bound"]) == (1, 2, None)


def test_after_ctrl_c_in_the_search_results_are_kept_and_the_code_says_so(
    place, partita, monkeypatch
):
    real = pt.summarize

    def interrupted(draws, **options):
        with pytest.raises(KeyboardInterrupt):  # as the search does, which keeps the best so far
            signal.raise_signal(signal.SIGINT)
        return real(draws, **options)

    monkeypatch.setattr(pt, "summarize", interrupted)
    before = signal.getsignal(signal.SIGINT)
    result = partita("summarize", "draws.csv", "--out", "results", code=130)
    assert "Estimate from 300 draws of 15 items: 3 clusters" in result.stdout
    assert (place / "results" / "labels.csv").exists()
    assert signal.getsignal(signal.SIGINT) is before


# -------------------------------------------------------------- files and tables for R count from 1


LABELS = np.array([[0, 0, 0, 1, 1], [0, 0, 0, 1, 1], [0, 0, 1, 1, 1]] * 4)


def table(path):
    with open(path, newline="") as stream:
        return list(csv.DictReader(stream))


@pytest.fixture(scope="module")
def summary():
    return pt.summarize(LABELS, data=np.arange(5.0))


def test_tables_of_a_summary(summary):
    items, again = summary.to_frame(), summary.to_frame(one_based=True)
    assert items.index.tolist() == [0, 1, 2, 3, 4]
    assert again.index.tolist() == [1, 2, 3, 4, 5]
    assert again["cluster"].tolist() == (items["cluster"] + 1).tolist()
    other = items["other"].to_numpy()
    assert again["other"].tolist() == np.where(other < 0, -1, other + 1).tolist()
    assert summary.to_frame("clusters", one_based=True).index.tolist() == [1, 2]
    assert summary.to_frame("clusters", one_based=True)["nearest"].tolist() == [2, 1]
    assert set(summary.to_frame("profiles", one_based=True)["cluster"]) == {1, 2}
    assert summary.to_frame("bounds", one_based=True).equals(summary.to_frame("bounds"))
    core = summary.core.to_frame(one_based=True)
    inside = core["in_core"]
    assert core["core"][inside].min() == 1
    assert (core["core"][~inside] == -1).all()


def test_a_directory_of_a_summary(partita, place):
    done = partita("summarize", "draws.csv", "--data", "data.csv", "--out", "one", "--one-based")
    partita("summarize", "draws.csv", "--data", "data.csv", "--out", "zero")
    for name, columns in {
        "labels.csv": ["cluster"],
        "bounds.csv": ["estimate", "upper", "lower", "horizontal"],
        "items.csv": ["cluster"],
        "clusters.csv": ["cluster", "nearest"],
        "profiles.csv": ["cluster"],
    }.items():
        ones, zeros = table(place / "one" / name), table(place / "zero" / name)
        for column in columns:
            assert [int(r[column]) - 1 for r in ones] == [int(r[column]) for r in zeros]
        if "item" in ones[0]:
            assert [r["item"] for r in ones] == [f"g{i}" for i in range(15)]
    assert "placement.1" in table(place / "one" / "items.csv")[0]
    assert "placement.0" not in table(place / "one" / "items.csv")[0]
    printed = (place / "one" / "summary.txt").read_text()
    assert printed in done.output
