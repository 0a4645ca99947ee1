"""Files and tables for R count from 1; everything else counts from 0."""

import csv

import numpy as np
import pytest

import partita as pt

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
