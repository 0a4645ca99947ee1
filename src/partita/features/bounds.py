"""Lower bounds of the expected FARO loss over all allocations.

"fast" matches draws by the triangle inequality, as :mod:`partita.search.bounds.matching` does
for partitions. "tight" adds what groups of draws cost every allocation together.
"""

from __future__ import annotations

from itertools import pairwise

import numpy as np

from partita.features.draws import FeatureDraws
from partita.kernels.arrays import Floats, Ints, UInt64s
from partita.losses.faro import FARO
from partita.search.bounds.matching import deal_by_mass, equal_copies
from partita.search.result import is_proven
from partita.search.task import Task

PAIR_WORK = {"fast": 4e8, "tight": 4e9}
"""Operations on pairs of draws, about 10^9 a second."""

SMALLEST, LARGEST = 16, 1_000
"""Draws that are matched together."""


def lower_bound(
    draws: FeatureDraws, loss: FARO, best: UInt64s, value: float, bound: str, task: Task
) -> float:
    """No allocation has a lower expected loss on these distinct draws."""
    heavy = _loss_of_heavy_draw(draws, loss)
    if heavy is not None:
        return heavy
    # a·A + (2 − a)·B is at least min(a, 2 − a) times the metric A + B, and for pairs no more.
    factor, metric = min(loss.a, 2.0 - loss.a), FARO()
    to_estimate = metric.distances(best, draws, task.options.n_jobs)
    proven = 0.0
    for effort in ("fast", "tight")[: 2 if bound == "tight" else 1]:
        if proven and task.clock.is_up():
            break
        proven = max(proven, factor * _matching(draws, metric, to_estimate, effort, task))
        if is_proven(value, proven, loss):
            break
    return proven


def _loss_of_heavy_draw(draws: FeatureDraws, loss: FARO) -> float | None:
    """The expected loss of a draw of so much mass that no allocation is better, if there is one."""
    mass = draws.probabilities
    heaviest = int(mass.argmax())
    if mass[heaviest] < max(loss.a, 2.0 - loss.a) / 2.0:
        return None
    return loss.expected(draws.point(heaviest), draws)


def _block(draws: FeatureDraws, work: float) -> int:
    """Draws that can be matched together, by the work of all pairs."""
    k = float(draws.n_features.mean()) + 1.0
    pair = k * k * (3.0 * draws.columns.shape[1] + 2.0 * k) + 1_000.0
    return int(np.clip(work / (draws.n_draws * pair), SMALLEST, LARGEST))


def _matching(
    draws: FeatureDraws, metric: FARO, to_estimate: Floats, effort: str, task: Task
) -> float:
    """Half of the mean distance between draws that are matched to be far apart."""
    mass = draws.probabilities
    block = _block(draws, PAIR_WORK[effort])
    copies = equal_copies(mass)
    if copies is None:
        order = np.argsort(-mass, kind="stable")
        dealt, shares, edges = deal_by_mass(mass, order, block)
        blocks = [(dealt[a:b], shares[a:b]) for a, b in pairwise(edges.tolist())]
        return sum(_transported(draws, metric, to_estimate, *part, task) for part in blocks)
    atoms = np.repeat(np.arange(mass.size), copies)
    np.random.default_rng(0).shuffle(atoms)
    each = float((mass / copies).min())
    n_blocks = -(-atoms.size // block)
    total = sum(_permuted(draws, metric, part, task) for part in np.array_split(atoms, n_blocks))
    return 0.5 * each * total


def _permuted(draws: FeatureDraws, metric: FARO, atoms: Ints, task: Task) -> float:
    """The largest sum of distances of draws of equal mass to their partners."""
    from scipy.optimize import linear_sum_assignment

    if task.clock.is_up():
        return 0.0
    rows, place = np.unique(atoms, return_inverse=True)
    far = metric.among(draws.part(rows), task.options.n_jobs)[np.ix_(place, place)]
    return float(far[linear_sum_assignment(far, maximize=True)].sum())


def _transported(
    draws: FeatureDraws, metric: FARO, to_estimate: Floats, atoms: Ints, mass: Floats, task: Task
) -> float:
    """The same where masses differ."""
    from partita.kernels.bounds import farthest_transport

    if task.clock.is_up():
        return 0.0
    far = metric.among(draws.part(atoms), task.options.n_jobs)
    flow = farthest_transport(far, mass, to_estimate[atoms])
    return 0.5 * float((flow * far).sum())
