"""Lower bounds of the expected FARO loss over all allocations.

"fast" matches draws by the triangle inequality, as :mod:`partita.search.bounds.matching` does
for partitions. "tight" adds set packing for up to 20 items, and otherwise what groups of draws
cost every allocation together. Set packing proves at least as much as groups of any size.
"""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import numpy as np

from partita._resources import run
from partita.features.draws import FeatureDraws
from partita.kernels.arrays import Bools, Floats, Ints, UInt64s
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

PACKED_ITEMS, PACKED_WORK = 20, 1e9
"""Most items, and subsets of them times columns of draws, that are priced at a time (0.3 s)."""

PACKED_ROUNDS, PACKED_GAIN = 100, 1e-7
"""Most pricings, and the least gain, relative to the loss, that another one must promise."""

WIDER, NARROWER = 3.0, 0.8
"""Changes of the box. fangs' samplesFA, 100 rounds: 15.450 (proven) with 3.0 and 0.8, 15.445 with
2.0 and 0.8, 15.414 with 1.5 and 0.7, 15.116 with 2.0 and 0.5."""


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
        found = factor * _matching(draws, metric, to_estimate, effort, task)
        proven = max(proven, _next_value(found, draws, loss))
        if is_proven(value, proven, loss):
            return proven
    if bound == "tight":
        if draws.n_items <= PACKED_ITEMS and len(draws.columns) << draws.n_items <= PACKED_WORK:
            proven = max(proven, _SetPacking(draws, loss, best, task).bound(value))
        elif draws.n_draws <= GROUPED_DRAWS:
            proven = max(proven, _grouped(draws, loss, task))
    return _next_value(proven, draws, loss)


def _next_value(bound: float, draws: FeatureDraws, loss: FARO) -> float:
    """The least value from a bound on that an expected loss can have: a sum of whole numbers."""
    copies = equal_copies(draws.probabilities) if loss.a == 1.0 else None
    if copies is None:
        return bound
    atoms = int(copies.sum())
    return float(np.ceil(bound * atoms - 1e-6)) / atoms


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


# ------------------------------------------------------------------ set packing


class _SetPacking:
    """The linear programme that chooses columns z, each with one feature of some draws.

    Minimising the expected loss is maximising Σ w M(Z, T) − (a/2)|Z|: choosing columns z with the
    features that they are matched to, so that no feature is taken twice. Prices v ≥ 0 of the
    features relax that to

        Σ_ml w_m v_ml + K max_z (Σ_m w_m max(0, max_l |z ∩ T_ml| − v_ml) − (a/2)|z|)⁺,

    K = 2 E[features] / a being the most columns of an optimal Z. It is an upper bound at any
    prices, because the maximum is taken over all 2^N columns z. Prices are found by cutting
    planes in a box around the best ones so far (the boxstep method), whose linear programmes may
    be solved as roughly as they like.
    """

    def __init__(self, draws: FeatureDraws, loss: FARO, best: UInt64s, task: Task) -> None:
        n = draws.n_items
        self.task, self.half = task, loss.a / 2.0
        self.weights, self.offsets = np.array(draws.probabilities), np.array(draws.offsets)
        self.each = np.repeat(self.weights, draws.n_features)
        self.columns = draws.columns[:, 0] >> np.uint64(64 - n)
        self.sizes = np.bitwise_count(self.columns).astype(np.float64)
        self.most = float(int(self.weights @ draws.n_features / self.half + 1e-9))
        self.fixed = (2.0 - loss.a) * float(self.weights @ draws.n_memberships)
        self.low = np.uint64(min(8, max(0, n - 6)))
        rest = np.arange(1 << int(self.low), dtype=np.uint64)
        self.overlaps = np.bitwise_count(self.columns[:, None] & rest).astype(np.float64)
        self.blocks = np.arange(1 << (n - int(self.low)))
        self.start = self._prices_of(best, draws)

    def _prices_of(self, best: UInt64s, draws: FeatureDraws) -> Floats:
        """First prices: what the matching with the estimate leaves after paying for its columns."""
        from partita.kernels.features import match_draws

        found = match_draws(np.array(best), np.array(draws.columns), self.offsets)
        row = np.maximum(found.row_of, 0)
        if not len(best):
            return np.zeros(row.size)
        shared = found.shared[np.arange(row.size), row]
        left = shared - self.half * np.bitwise_count(best).sum(axis=1)[row]
        return np.where(found.row_of >= 0, np.maximum(left, 0.0), 0.0)

    def bound(self, value: float) -> float:
        """A lower bound of the expected loss; the search for a higher one ends at ``value``."""
        center, (least, columns) = self.start, self.relaxed(self.start)
        cuts: dict[bytes, tuple[Ints, float]] = self.cuts(columns, center)
        unused: dict[bytes, int] = dict.fromkeys(cuts, 0)
        box = 0.5
        for _ in range(PACKED_ROUNDS):
            if self.task.clock.is_up() or self.fixed - 2.0 * least >= value:
                break
            prices, promised, active = self.lowest(list(cuts.values()), center, box)
            if least - promised <= PACKED_GAIN * value:
                break
            reached, columns = self.relaxed(prices)
            if least - reached > 0.5 * (least - promised):
                box *= WIDER
            elif least - reached <= 0.1 * (least - promised):
                box *= NARROWER
            if reached < least:
                least, center = reached, prices
            used = dict(zip(cuts, active, strict=True))
            unused = {key: 0 if used[key] else n + 1 for key, n in unused.items()}
            cuts = {key: cut for key, cut in cuts.items() if unused[key] < 8}
            cuts |= self.cuts(columns, prices)
            unused = {key: unused.get(key, 0) for key in cuts}
        return self.fixed - 2.0 * least

    def relaxed(self, prices: Floats) -> tuple[float, UInt64s]:
        """The relaxed maximum at prices, and the columns that gain most."""
        from partita.kernels.features import price_columns

        high, n = self.columns >> self.low, self.overlaps.shape[1]

        def priced(blocks: Ints) -> tuple[Floats, Ints]:
            gain, place = np.empty(blocks.size), np.empty(blocks.size, np.int64)
            work = (np.empty(n), np.empty(n))
            price_columns(
                high, self.overlaps, self.offsets, self.weights, prices, self.half,
                blocks, *work, gain, place,
            )  # fmt: skip
            return gain, place

        parts = np.array_split(self.blocks, min(16, self.blocks.size))
        gains, places = map(
            np.concatenate, zip(*run(priced, parts, self.task.options.n_jobs), strict=True)
        )
        columns = (self.blocks.astype(np.uint64) << self.low) | places.astype(np.uint64)
        top = np.argsort(-gains, kind="stable")[:100]
        total = float(self.each @ prices) + self.most * max(0.0, float(gains[top[0]]))
        return total, columns[top][gains[top] > -0.05]

    def cuts(self, columns: UInt64s, prices: Floats) -> dict[bytes, tuple[Ints, float]]:
        """Of each column the features that it gains by, and its gain where those cost nothing."""
        found = {}
        overlaps = np.bitwise_count(self.columns & columns[:, None]).astype(np.float64)
        owner = np.repeat(np.arange(self.weights.size), np.diff(self.offsets))
        for column, overlap in zip(columns, overlaps, strict=True):
            order = np.lexsort((prices - overlap, owner))
            first = np.concatenate([[True], np.diff(owner[order]) > 0])
            chosen = order[first]
            chosen = chosen[overlap[chosen] > prices[chosen]]
            free = float(self.each[chosen] @ overlap[chosen])
            free -= self.half * int(np.bitwise_count(column))
            found[column.tobytes() + chosen.tobytes()] = (chosen, free)
        return found

    def lowest(
        self, cuts: list[tuple[Ints, float]], center: Floats, box: float
    ) -> tuple[Floats, float, Bools]:
        """The lowest relaxed maximum in a box, as far as the cuts know; and which of them bind."""
        from scipy.sparse import csr_array, hstack

        n, members = center.size, [chosen for chosen, _ in cuts]
        table = _sparse_rows(members, [self.each[chosen] for chosen in members], n)
        table = hstack([table, csr_array(np.ones((len(cuts), 1)))]).tocsr()
        low = np.append(np.maximum(center - box, 0.0), 0.0)
        high = np.append(np.minimum(center + box, self.sizes), np.inf)
        cost, free = np.append(self.each, self.most), np.array([free for _, free in cuts])
        solution, binding = _minimise(cost, -table, -free, np.column_stack([low, high]))
        if solution is None:
            return center, float(np.inf), binding > 0.0
        return solution[:-1].copy(), float(cost @ solution), binding > 1e-9


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
    table = _sparse_rows(groups, [np.ones(group.size) for group in groups], mass.size)
    solution, prices = _minimise(mass, -table, -demands)
    if solution is None:
        return 0.0, np.zeros(mass.size)
    over = float((table.T @ prices / mass).max())
    return float(prices @ demands) / max(over, 1.0), solution


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
    members = [(begins + row)[row < widths] for row in chosen]
    table = _sparse_rows(members, [np.ones(row.size) for row in members], int(widths.sum()))
    solution, prices = _minimise(-gains, table.T.tocsr(), np.ones(widths.sum()))
    if solution is None:
        return 0.0
    missing = max(0.0, float((gains - table @ prices).max()))
    return max(0.0, fixed - float(prices.sum()) - missing * float(widths.sum()))


# ------------------------------------------------------------------ linear programmes


def _sparse_rows(members: list[Ints], values: list[Floats], width: int) -> Any:
    """A sparse matrix from the columns and values of its rows."""
    from scipy.sparse import csr_array

    ends = np.concatenate([[0], np.cumsum([row.size for row in members])])
    entries = (np.concatenate(values), np.concatenate(members), ends)
    return csr_array(entries, shape=(len(members), width))


def _minimise(
    cost: Floats, table: Any, limits: Floats, bounds: Any = (0.0, None)
) -> tuple[Floats | None, Floats]:
    """Minimise cost·x under table·x ≤ limits: a solution, if any, and prices of the limits."""
    from scipy import optimize

    linprog: Any = optimize.linprog  # its types take no sparse matrix
    solved = linprog(cost, A_ub=table, b_ub=limits, bounds=bounds, method="highs")
    if solved.x is None:
        return None, np.zeros(limits.size)
    return np.asarray(solved.x), np.maximum(-solved.ineqlin.marginals, 0.0)
