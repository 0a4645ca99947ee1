"""Point estimates with their proofs: every loss on the paper's draws, and growing data."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

import partita as pt
from benchmarks.data import example1_like, paper_labels
from benchmarks.job import Job, Setup

EXAMPLE1 = {"vi": 8, "binder": 30, "vi_lb": 8, "one_minus_ari": 60, "nvi": 60, "id": 60, "nid": 60}
GALAXIES = {"vi": 3, "binder": 8, "one_minus_ari": None, "nvi": None, "id": None, "nid": None}


def _shown(found: pt.results.PointEstimate) -> str:
    gap = "" if found.gap is None else f", gap {100 * found.gap:.1f}%"
    return f"{found.expected_loss:.10f}, k={found.n_clusters}{gap}"


def _estimate(labels: Callable[[], Any], **options: Any) -> Callable[[], Any]:
    draws = pt.Draws(labels())
    return lambda: pt.estimate(draws, **options)


def _on_paper(name: str, where: str, targets: dict[str, float | None]) -> list[Job]:
    labels = paper_labels(name)
    if labels is None:
        return []

    def setup(**options: Any) -> Setup:
        return partial(_estimate, lambda: labels, **options)

    jobs = [
        Job(
            f"estimate, {loss}, {where}",
            setup(loss=loss),
            target,
            f"estimate_{loss}_{where}",
            show=_shown,
        )
        for loss, target in targets.items()
    ]
    tight = setup(bound="tight")
    return [*jobs, Job(f"estimate, vi, tight bound, {where}", tight, 500, show=_shown)]


def recovery(n_items: int, n_draws: int) -> Any:
    """Twenty groups, 30% of the labels of each draw redrawn among 22."""
    rng = np.random.default_rng(0)
    truth = rng.integers(0, 20, n_items)
    labels = np.empty((n_draws, n_items), np.uint8)
    for row in labels:
        row[:] = np.where(rng.random(n_items) < 0.3, rng.integers(0, 22, n_items), truth)
    return labels


def _growth(n_items: int, n_draws: int, target: float | None, peer: str | None) -> Job:
    setup = partial(_estimate, partial(recovery, n_items, n_draws))
    return Job(f"estimate, vi, {n_items:,} items × {n_draws:,}", setup, target, peer, show=_shown)


def _path(name: str, target: float) -> list[Job]:
    labels = paper_labels(name)
    if labels is None:
        return []

    def setup() -> Callable[[], Any]:
        draws = pt.Draws(labels)
        return lambda: pt.price_path(draws, bound=None)

    shown = lambda path: f"{len(path)} corners, {path.n_seen} partitions compared"  # noqa: E731
    return [Job(f"price path, vi, {name}", setup, target, show=shown)]


JOBS: list[Job] = [
    Job("estimate, vi, simulated", partial(_estimate, example1_like), 20, show=_shown),
    *_on_paper("example1", "example1", EXAMPLE1),
    *_on_paper("galaxy", "galaxies", GALAXIES),
    *_path("galaxy", 150),
    *_path("example1", 600),
    _growth(1_000, 1_000, None, None),
    _growth(5_000, 1_000, 100, "estimate_vi_5000"),
    _growth(20_000, 500, 300, "estimate_vi_20000"),
    _growth(20_000, 1_000, None, None),
    _growth(100_000, 1_000, None, None),
]
