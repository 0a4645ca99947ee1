"""A user's script that a type checker accepts."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd

import partita as pt


def radius_of(draws: pt.DrawsLike, truth: pt.LabelsLike, rng: pt.Rng = 0) -> float:
    """Distance from the truth to the estimate, in units of the radius."""
    found: pt.results.PointEstimate = pt.estimate(draws, loss=pt.VI(a=0.7), bound="tight", rng=rng)
    ball: pt.results.CredibleBall = pt.credible_ball(draws, found, prob=0.9, loss="vi")
    return pt.distance(truth, found) / ball.radius


labels = np.zeros((10, 4), dtype=np.int64)
radius_of(labels, [0, 0, 1, 1])
radius_of([[0, 1], [0, 0]], np.array([0, 1]), rng=np.random.default_rng(0))
radius_of(Path("draws.csv"), "truth.csv")
radius_of(pd.DataFrame(labels), pd.Series([0, 0, 1, 1]))

draws: pt.Draws = pt.as_draws("draws.csv", var_name="z")
row: np.ndarray[tuple[int, ...], np.dtype[np.unsignedinteger]] = draws[3]
half: pt.Draws = draws[:100]
summary: pt.Summary = pt.summarize(draws, data=np.zeros((4, 2)))
losses: list[pt.Loss] = [pt.VI(), pt.Binder(), summary.loss, pt.OneMinusARI()]
tied: int = len(summary.ball.upper)
bound: pt.results.Bound = summary.ball.bounds["upper"]
items: pt.results.ItemUncertainty = pt.item_uncertainty(summary, summary)
clusters: pt.results.ClusterUncertainty = pt.cluster_uncertainty(draws, summary.estimate)
fit: pt.Fit = pt.sample([1.0, 2.0, 3.0], draws=100, rng=1)
checks: pt.results.Diagnostics = pt.diagnose(fit, estimate=pt.estimate(fit))
matrix = pt.pairwise_distances(fit, summary, loss="binder")
total: float = float(matrix.sum())
