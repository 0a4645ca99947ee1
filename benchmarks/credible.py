"""Credible balls, item and cluster uncertainty, diagnostics, and the whole summary."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

import partita as pt
from benchmarks.data import example1_like, paper_labels
from benchmarks.job import Job, Setup

Labels = NDArray[np.int64]


def around(function: Callable[[pt.Draws, Any], Any], make: Callable[[], Labels]) -> Setup:
    """Times function(draws, centre), the centre being the best of a hundred draws."""

    def setup() -> Callable[[], Any]:
        draws = pt.Draws(make())
        some = draws.labels[:: max(1, draws.n_draws // 100)]
        center = some[int(np.argmin(pt.expected_loss(some, draws)))]
        return lambda: function(draws, center)

    return setup


def summary_of(make: Callable[[], Labels]) -> Setup:
    def setup() -> Callable[[], Any]:
        draws = pt.Draws(make())
        return lambda: pt.summarize(draws)

    return setup


def show_ball(found: pt.CredibleBall) -> str:
    distances = (found.radius, found.upper.distance, found.lower.distance)
    return "; ".join(f"{distance:.6f}" for distance in distances)


def jobs_on(where: str, make: Callable[[], Labels], target: float, peer: str | None) -> list[Job]:
    chains = np.arange(4)

    def with_chains(draws: pt.Draws, center: Any) -> Any:
        chain = np.repeat(chains, -(-draws.n_draws // 4))[: draws.n_draws]
        return pt.diagnose(pt.Draws(draws.labels, chain=chain), estimate=center)

    return [
        Job(f"VI ball, {where}", around(pt.credible_ball, make), target, peer, show=show_ball),
        Job(f"items, {where}", around(pt.item_uncertainty, make)),
        Job(f"clusters, {where}", around(pt.cluster_uncertainty, make)),
        Job(f"diagnostics of four chains, {where}", around(with_chains, make)),
    ]


def _summary(where: str, make: Callable[[], Labels], target: float | None) -> Job:
    return Job(f"summarize, {where}", summary_of(make), target, show=lambda s: s.sentence[:84])


JOBS = jobs_on("simulated, 10,000 × 200", example1_like, 1.5, None)
JOBS.append(_summary("simulated, 10,000 × 200", example1_like, None))
_example = paper_labels("example1")
if _example is not None:
    JOBS += jobs_on("Example 1", lambda: _example, 1.5, "ball_vi_example1")
    JOBS.append(_summary("Example 1", lambda: _example, 60))
_galaxies = paper_labels("galaxy")
if _galaxies is not None:
    JOBS += jobs_on("galaxies", lambda: _galaxies, 1.0, "ball_vi_galaxies")
    JOBS.append(_summary("galaxies", lambda: _galaxies, None))
