"""Ensembles that are no MCMC: the script of the gallery runs, and finds what it says."""

from __future__ import annotations

import runpy
from pathlib import Path

import numpy as np

import partita as pt

EXAMPLES = Path(__file__).parents[2] / "examples"


def test_the_consensus_of_repeated_k_means(capsys):
    made = runpy.run_path(str(EXAMPLES / "ensembles" / "ensemble_of_kmeans.py"))
    printed = capsys.readouterr().out
    summary, draws = made["summary"], made["draws"]
    assert summary.n_clusters == 4
    assert set(draws.n_clusters) == {3, 4, 5, 6}
    assert f"{pt.distance(summary.labels, made['truth']):.2f} bits" in printed
    assert pt.distance(summary.labels, made["truth"]) < 0.5
    # the ensemble's own members are farther from the truth, on average
    assert np.mean(pt.pairwise_distances([made["truth"]], draws)) > 0.5
    # the uncertain points lie between the two close groups
    assert np.all(np.abs(made["points"][made["uncertain"], 0] - 1.4) < 1.0)
    assert np.all(made["points"][made["uncertain"], 1] < 3.5)
