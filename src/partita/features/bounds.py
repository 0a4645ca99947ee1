"""Lower bounds of the expected FARO loss over all allocations.

"fast" matches draws by the triangle inequality, as :mod:`partita.search.bounds.matching` does
for partitions. "tight" adds what groups of draws cost every allocation together.
"""

from __future__ import annotations

from itertools import pairwise
from typing import Any

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


GROUPED_DRAWS = 200
"""Most distinct draws whose groups are looked at."""

ROUNDS, TRIED = 40, 40
"""Linear programmes over the draws, and groups that are tried after each."""

TUPLES = 6_000
"""Most tuples of features, one of each draw, of a group."""


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
            return proven
    if bound == "tight" and draws.n_draws <= GROUPED_DRAWS:
        proven = max(proven, _grouped(draws, loss, task))
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


# ------------------------------------------------------------------ groups of draws


def _grouped(draws: FeatureDraws, loss: FARO, task: Task) -> float:
    """The least Σ w d over distances d that fulfil what pairs and larger groups demand.

    Every group G demands Σ_{m ∈ G} d_m ≥ T(G), the least total loss of any allocation on G. Pairs
    are there from the start; larger groups come where the present d violates them.
    """
    n, mass = draws.n_draws, draws.probabilities
    rng = np.random.default_rng(0)
    far = min(loss.a, 2.0 - loss.a) * FARO().among(draws, task.options.n_jobs)
    first, second = np.triu_indices(n, 1)
    groups = [np.array(pair) for pair in zip(first.tolist(), second.tolist(), strict=True)]
    demands = far[first, second].tolist()
    known: set[bytes] = set()
    proven = 0.0
    for _ in range(ROUNDS):
        found, distances = _least_mean(groups, np.array(demands), mass)
        proven = max(proven, found)
        before = len(groups)
        for _ in range(TRIED):
            if task.clock.is_up():
                return proven
            group = _candidate(draws, far, distances, rng)
            if group is None or group.tobytes() in known:
                continue
            known.add(group.tobytes())
            demand = _least_total(draws, group, loss.a)
            if demand > distances[group].sum() + 1e-6:
                groups.append(group)
                demands.append(demand)
        if len(groups) == before:
            break
    return max(proven, _least_mean(groups, np.array(demands), mass)[0])


def _least_mean(groups: list[Ints], demands: Floats, mass: Floats) -> tuple[float, Floats]:
    """A bound of the linear programme from its prices, made feasible, and its solution."""
    from scipy import optimize
    from scipy.sparse import csr_array

    linprog: Any = optimize.linprog  # its types take no sparse matrix
    ends = np.concatenate([[0], np.cumsum([group.size for group in groups])])
    members = np.concatenate(groups)
    table = csr_array((np.ones(members.size), members, ends), shape=(len(groups), mass.size))
    solved = linprog(mass, A_ub=-table, b_ub=-demands, bounds=(0.0, None), method="highs")
    if solved.x is None:
        return 0.0, np.zeros(mass.size)
    prices = np.maximum(-solved.ineqlin.marginals, 0.0)
    over = float((table.T @ prices / mass).max())
    return float(prices @ demands) / max(over, 1.0), np.asarray(solved.x)


def _candidate(
    draws: FeatureDraws, far: Floats, distances: Floats, rng: np.random.Generator
) -> Ints | None:
    """Three to five draws, as far as tuples allow, whose pairs are about as tight as possible."""
    group, size = [int(rng.integers(distances.size))], int(rng.integers(3, 6))
    tuples = draws.n_features[group[0]] + 1
    slack = distances[group[0]] + distances - far[group[0]]
    while len(group) < min(size, distances.size):
        slack[group] = np.inf
        near = np.argsort(slack)[:12]
        joined = int(rng.choice(near[np.isfinite(slack[near])]))
        tuples *= draws.n_features[joined] + 1
        if tuples > TUPLES:
            break
        group.append(joined)
        slack += distances[joined] + distances - far[joined]
    return np.sort(np.array(group)) if len(group) >= 3 else None


def _least_total(draws: FeatureDraws, group: Ints, a: float) -> float:
    """A lower bound of Σ_{m ∈ G} loss(Z, T_m) over all Z, by assignment of tuples of features.

    A feature of Z is matched to at most one of each draw, and gains at most
    Σ_i max(0, 2·count_i − a·|G|) by a tuple, count_i being how many of its features have item i.
    """
    from scipy import optimize
    from scipy.sparse import csr_array

    linprog: Any = optimize.linprog
    parts = [np.vstack([draws[m].T, np.zeros(draws.n_items, np.bool_)]) for m in group.tolist()]
    counts = np.zeros((1, draws.n_items))
    chosen = np.zeros((1, 0), np.int64)
    for part in parts:
        counts = (counts[:, None] + part[None]).reshape(-1, draws.n_items)
        index = np.tile(np.arange(len(part)), len(chosen))
        chosen = np.column_stack([np.repeat(chosen, len(part), axis=0), index])
    gains = np.maximum(0.0, 2.0 * counts - a * group.size).sum(axis=1)
    fixed = (2.0 - a) * float(draws.n_memberships[group].sum())
    kept = gains > 0.0
    if not kept.any():
        return fixed
    gains, chosen = gains[kept], chosen[kept]
    widths = np.array([len(part) - 1 for part in parts])
    begins = np.concatenate([[0], np.cumsum(widths)[:-1]])
    used = chosen < widths
    rows = (begins + chosen)[used]
    columns = np.repeat(np.arange(len(chosen)), used.sum(axis=1))
    table = csr_array((np.ones(rows.size), (rows, columns)), shape=(widths.sum(), len(chosen)))
    solved = linprog(-gains, A_ub=table, b_ub=np.ones(widths.sum()), method="highs")
    if solved.x is None:
        return 0.0
    prices = np.maximum(-solved.ineqlin.marginals, 0.0)
    missing = max(0.0, float((gains - table.T @ prices).max()))
    return max(0.0, fixed - float(prices.sum()) - missing * float(widths.sum()))
