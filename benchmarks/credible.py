"""Credible balls, item and cluster uncertainty, diagnostics, and the whole summary."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

import partita as pt
from benchmarks.data import example1_like, paper_labels, simulated_labels
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


def show_ball(found: pt.results.CredibleBall) -> str:
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


def one_run() -> Setup:
    """One growth of a core from one item to all of 10,000."""

    def setup() -> Callable[[], Any]:
        from partita.credible.core_search import grow_from, prepare
        from partita.posterior import Posterior

        draws = pt.Draws(simulated_labels(200, 10_000, 8, redrawn=0.01))
        posterior = prepare(Posterior(draws))

        return lambda: grow_from(posterior, [0], np.zeros(1, np.bool_))

    return setup


def core_of(make: Callable[[], Labels], prob: float) -> Setup:
    def setup() -> Callable[[], Any]:
        draws = pt.Draws(make())
        return lambda: pt.credible_core(draws, prob=prob)

    return setup


def _expected_vi(draws: pt.Draws, center: Any) -> Any:
    return pt.expected_loss(center, draws)


def many_items() -> Labels:
    return simulated_labels(200, 100_000, 10, redrawn=0.05)


def _summary(where: str, make: Callable[[], Labels], target: float | None) -> Job:
    return Job(f"summarize, {where}", summary_of(make), target, show=lambda s: s.sentence[:84])


JOBS = jobs_on("simulated, 10,000 × 200", example1_like, 1.5, None)
JOBS.append(_summary("simulated, 10,000 × 200", example1_like, None))
JOBS.append(Job("core, one run, 200 draws × 10,000 items", one_run(), 15))
JOBS.append(Job("items, 200 draws × 100,000 items", around(pt.item_uncertainty, many_items)))
JOBS.append(Job("expected VI, 200 draws × 100,000 items", around(_expected_vi, many_items)))
_example = paper_labels("example1")
if _example is not None:
    JOBS += jobs_on("Example 1", lambda: _example, 1.5, "ball_vi_example1")
    JOBS.append(_summary("Example 1", lambda: _example, 15))
    JOBS.append(Job("core at 0.5, Example 1", core_of(lambda: _example, 0.5), show=repr))
_galaxies = paper_labels("galaxy")
if _galaxies is not None:
    JOBS += jobs_on("galaxies", lambda: _galaxies, 1.0, "ball_vi_galaxies")
    JOBS.append(_summary("galaxies", lambda: _galaxies, None))
    JOBS.append(Job("core at 0.8, galaxies", core_of(lambda: _galaxies, 0.8), show=repr))
