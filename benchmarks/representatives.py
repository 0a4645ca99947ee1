"""Several representatives with their proof, p-values and modes, on the paper's draws."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

import partita as pt
from benchmarks.data import paper_labels
from benchmarks.job import Job


def _shown(found: pt.results.Representatives) -> str:
    return f"{found.distance:.7f}, no {found.n} below {found.lower_bound:.4f}"


def _search(name: str, n: int) -> Callable[[], Any]:
    draws = pt.Draws(paper_labels(name))
    return lambda: pt.representatives(draws, n=n)


def _tested(name: str) -> Callable[[], Any]:
    draws = pt.Draws(paper_labels(name))
    return lambda: pt.p_value(draws, np.zeros(draws.n_items))


def _peaks(name: str) -> Callable[[], Any]:
    draws = pt.Draws(paper_labels(name))
    return lambda: pt.modes(draws)


def _jobs(name: str, where: str, target: float) -> list[Job]:
    if paper_labels(name) is None:
        return []
    return [
        *(
            Job(
                f"representatives, n={n}, {where}",
                partial(_search, name, n),
                target,
                f"several_{where}_{n}",
                show=_shown,
            )
            for n in (2, 3, 5)
        ),
        Job(f"p_value, {where}", partial(_tested, name)),
        Job(f"modes, {where}", partial(_peaks, name)),
    ]


JOBS: list[Job] = [*_jobs("galaxy", "galaxies", 60), *_jobs("example1", "example1", 150)]
