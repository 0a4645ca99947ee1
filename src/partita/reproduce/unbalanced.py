"""Clusters of very different size and growing overlap, under every loss.

The paper mentions such an experiment without results: Binder's loss is said to
put uncertain items into new small clusters, the more the clusters overlap.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from partita.reproduce.experiments import Data, paper_kernel, sampled
from partita.reproduce.measures import measure_estimate
from partita.reproduce.pages import PageTable
from partita.reproduce.plan import Plan
from partita.search.estimate import estimate

LOSSES = {
    "binder": "B̃",
    "vi": "VI",
    "vi_lb": "VI_LB",
    "nvi": "NVI",
    "id": "ID",
    "nid": "NID",
    "omari": "1 − ARI",
    "ompear": "1 − PEAR",
}
"""Every loss, with its title in the table."""
SIZES = (210, 60, 20, 10)
"""Items of the four clusters."""
OFFSETS = (3.0, 2.5, 2.0, 1.5)
"""Centres lie at (±s, ±s) with unit variance: the smaller s, the greater the overlap."""
_SIGNS = np.array([[1, 1], [1, -1], [-1, 1], [-1, -1]])


Outcome = tuple[float, str, dict[str, float]]
"""Overlap, loss, and means over data sets of the columns of Table 1."""


def unbalanced_data(offset: float, rng: np.random.Generator) -> Data:
    """Four unit normals around (±offset, ±offset), of 210, 60, 20 and 10 items."""
    truth = np.repeat(np.arange(len(SIZES), dtype=np.int32), SIZES)
    values = offset * _SIGNS[truth] + rng.standard_normal((truth.size, 2))
    return Data(values, truth, paper_kernel())


def run_unbalanced(plan: Plan, say: Callable[[str], None]) -> list[Outcome]:
    """Estimates under every loss, for every overlap, averaged over data sets."""
    outcomes: list[Outcome] = []
    for position, offset in enumerate(OFFSETS):
        rows: dict[str, list[dict[str, float]]] = {loss: [] for loss in LOSSES}
        for repeat in range(plan.repeats_unbalanced):
            count = f"{repeat + 1} of {plan.repeats_unbalanced}"
            say(f"unbalanced clusters at ±{offset}, data set {count}")
            key = (4, position, repeat)
            for loss, row in _run_once(offset, plan, key).items():
                rows[loss].append(row)
        for loss, found in rows.items():
            mean = {name: float(np.mean([row[name] for row in found])) for name in found[0]}
            outcomes.append((offset, loss, mean))
    return outcomes


def _run_once(offset: float, plan: Plan, key: tuple[int, ...]) -> dict[str, dict[str, float]]:
    data = unbalanced_data(offset, np.random.default_rng(plan.stream(*key, 0)))
    draws = sampled(data, plan, *key, 1).draws
    found = {}
    for loss in LOSSES:
        best = estimate(draws, loss=loss, bound=None, **plan.search)
        found[loss] = measure_estimate(best.labels, draws, data.truth, plan.n_jobs)
    return found


def unbalanced_table(outcomes: list[Outcome], repeats: int) -> PageTable:
    """One row per overlap and loss."""
    sizes = ", ".join(str(n) for n in SIZES[:-1]) + f" and {SIZES[-1]}"
    header = ("centres", "loss", "k", "N_I", "VI to truth", "B̃ to truth")
    rows = tuple(
        (
            f"±{offset}",
            LOSSES[loss],
            *(f"{mean[name]:.1f}" for name in ("k", "misclassified")),
            *(f"{mean[name]:.3f}" for name in ("vi_to_truth", "binder_to_truth")),
        )
        for offset, loss, mean in outcomes
    )
    over = "one data set" if repeats == 1 else f"means over {repeats} data sets"
    title = f"Four clusters of {sizes} items: {over}"
    return PageTable(
        title, header, rows, "There are 4 true clusters; smaller ±s means more overlap."
    )
