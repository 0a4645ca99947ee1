"""How much of everything is computed: in full, and to try it out."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np


@dataclass(frozen=True)
class Plan:
    """Sizes of the runs.

    The paper keeps 10,000 draws of one chain after 1,000; ours are as many
    draws from several chains, each after a burn-in of its own, so that chains
    can be compared and both cores have work.
    """

    draws: int
    """Kept from each chain."""
    burn_in: int
    chains: int
    repeats: int
    """Other data sets of 200 items, and other runs on the galaxies, that show the spread."""
    repeats_large: int
    """Other data sets of more than 200 items."""
    repeats_unbalanced: int
    """Data sets of the unbalanced experiment at each overlap."""
    starts: int
    """Restarts of the paper's greedy search."""
    largest_search: int
    """Items up to which the paper's greedy search is repeated."""
    seed: int = 0
    n_jobs: int | None = None

    @property
    def search(self) -> dict[str, Any]:
        """How estimates are searched."""
        return {"rng": self.seed, "n_jobs": self.n_jobs, "progress": False}

    def stream(self, *key: int) -> np.random.SeedSequence:
        """The random stream of one piece of work, whatever else is computed."""
        return np.random.SeedSequence(self.seed, spawn_key=key)


FULL = Plan(
    draws=2_500,
    burn_in=1_000,
    chains=4,
    repeats=20,
    repeats_large=8,
    repeats_unbalanced=10,
    starts=8,
    largest_search=1_600,
)
"""As many draws as in the paper."""

QUICK = Plan(
    draws=75,
    burn_in=75,
    chains=4,
    repeats=3,
    repeats_large=2,
    repeats_unbalanced=1,
    starts=1,
    largest_search=200,
)
"""Every table and figure from few draws, in less than a minute."""
