"""Draws, distances and the similarity matrix."""

from __future__ import annotations

import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

import partita as pt
from benchmarks.data import example1_like, paper_labels
from benchmarks.job import Job

Labels = NDArray[np.int64]


def jobs_on(where: str, make: Callable[[], Labels]) -> list[Job]:
    """The jobs of this floor on one matrix of labels, 10,000 × 200."""

    def similarity() -> Callable[[], Any]:
        draws = pt.Draws(make())
        return lambda: pt.similarity(draws)

    def expected_vi() -> Callable[[], Any]:
        draws = pt.Draws(make())
        candidate = draws.labels[0]
        return lambda: pt.expected_loss(candidate, draws, loss="vi")

    def pairwise_vi() -> Callable[[], Any]:
        draws = pt.Draws(make())
        some, others = pt.Draws(draws.labels[:1000]), pt.Draws(draws.labels[1000:2000])
        return lambda: pt.pairwise_distances(some, others, loss="vi")

    def as_draws() -> Callable[[], Any]:
        labels = make()
        return lambda: pt.as_draws(labels)

    return [
        Job(f"similarity, {where}, 10,000 × 200", similarity, 1.3, "similarity_example1"),
        Job(f"expected VI of one candidate, {where}", expected_vi, 0.5),
        Job(f"pairwise VI, 1,000 × 1,000, {where}", pairwise_vi, 30),
        Job(f"as_draws of int64, {where}", as_draws, 1.5),
        Job(
            f"CSV, {where}, target numpy.loadtxt",
            lambda: _csv(make(), lambda path: pt.read_draws(path)),
            baseline=lambda: _csv(
                make(), lambda path: np.loadtxt(path, delimiter=",", dtype=np.int64)
            ),
        ),
    ]


def _csv(labels: Labels, read: Callable[[Path], Any]) -> Callable[[], Any]:
    folder = tempfile.TemporaryDirectory()
    path = Path(folder.name) / "draws.csv"
    np.savetxt(path, labels, fmt="%d", delimiter=",")

    def run(_keep: Any = folder) -> Any:  # the folder lives as long as the call
        return read(path)

    return run


JOBS = jobs_on("simulated", example1_like)
_paper = paper_labels("example1")
if _paper is not None:
    JOBS += jobs_on("Example 1", lambda: _paper)
