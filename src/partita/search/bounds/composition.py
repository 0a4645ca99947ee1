r"""The bound for the variation of information by prices of items, whatever the weights and a.

The expected loss is a constant plus a sum over the clusters C of the estimate of

.. math:: g(C) = \tfrac1N \sum_{i \in C} [(2 - a) \log |C| - 2\,E \log |C \cap M_i|]

with M_i the cluster of item i in a draw. Prices y_i with Σ_{i∈C} y_i ≤ g(C) for *every* set C
therefore prove Σ y_i below the sum of every partition. An estimate with clusters C_k proposes the
prices y_i = [(2 − a) log |C_k| − 2 E log |C_k ∩ M_i|]/N, each item its own share, for which
Σ y_i is the estimate's loss: should they hold for every set, the estimate is a minimiser.

For a set C that takes c_k items of C_k, Jensen's inequality with any reference r gives

.. math:: E \log |C \cap M_i| \le E \log r
          + \log \sum_{j \in C} E\big[1(i \sim j)/r\big]
          \le E \log r + \log \sum_k (\text{the sum of the } c_k \text{ largest terms in } C_k),

here for the draws in which i stands with each cluster separately, with three references each: r
the overlap of M_i with that cluster, with the item's own cluster, or 1. The bound depends on C
through c alone; all c are searched by branch and bound, with log |C| bounded from below and the
sums from above in a box. Sets that break the prices become rows of a linear programme for better
prices. Prices are only used after a search that found none broken.

Every number in it is a sum of at most M + N terms below 3 log N bits; twice the rounding error
that such sums can have is taken off the bound.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from partita._resources import Clock
from partita.draws import Draws
from partita.kernels.arrays import Floats, Ints
from partita.labels import Labels
from partita.scan import Block, sum_blocks

if TYPE_CHECKING:
    from partita.kernels.bounds import Overlaps

_GROUPS, _MOST_GROUPS, _GROUP_STEPS = 4, 32, 50_000_000
"""Blocks of draws that tables are made of, at least and at most, and the steps of one in between,
about a tenth of a second: they depend on the draws alone, so that threads do not change the
answer."""

_SLICE_STEPS = 50_000_000
"""Steps of the branch and bound, about a tenth of a second, after which the time is looked at."""

_LEVELS = (0.05, 0.005, 0.0)
"""Reductions of all prices, as shares of the loss: a coarse proof first."""

_FOUND = 100
"""Most compositions added in a round."""


class _TimeUpError(Exception):
    """Raised between blocks of draws when the clock is up."""


def composition_bound(
    draws: Draws,
    labels: Labels,
    value: float,
    *,
    a: float,
    steps: int,
    rounds: int,
    price_work: float,
    n_jobs: int | None = None,
    clock: Clock | None = None,
) -> tuple[float, bool]:
    """A lower bound of the expected VI(a) of every partition, and whether it was cut short.

    Parameters
    ----------
    draws : Draws
        Best without duplicates.
    labels : ndarray of int32
        Canonical labels of an estimate: the better it is, the better the bound.
    value : float
        Its expected loss.
    a : float
        Price of splitting.
    steps : int
        Work for the branch and bound: boxes times table entries.
    rounds : int
        Most searches for sets that break the prices.
    price_work : float
        Work for the linear programmes, see :class:`PriceProgramme`.
    clock : Clock, optional
        When it is up, the best bound so far is returned.

    Notes
    -----
    The tables cost O(Σ over draws of Σ_t n_t²) and hold 3·N values for each item and side.
    """
    clock = Clock(None) if clock is None else clock
    n = draws.n_items
    try:
        tables, own = _overlaps(draws, labels, n_jobs, clock)
    except _TimeUpError:
        return -np.inf, True
    size_price = 2.0 - a
    start = size_price * np.log2(np.bincount(labels)[labels]) - 2.0 * own
    base = value - float(start.sum()) / n
    margin = rounding(draws.n_draws, n)
    programme = PriceProgramme(start, labels, price_work)
    prices, proven, level = start, -np.inf, 0
    for _ in range(rounds):
        per_item = _LEVELS[level] * value + margin
        taken, cost, used, complete = _violated_compositions(
            prices, size_price, per_item, tables, steps, clock
        )
        steps -= used
        if complete and not len(taken):
            proven = max(proven, base + float(prices.sum()) / n - per_item - margin)
            level += 1
            if level == len(_LEVELS):
                return proven, False
        else:
            better = None
            if programme.add(taken, cost):
                better = programme.prices(clock.left)
            if better is None:
                break
            prices = better
        if base + float(prices.sum()) / n <= proven:
            return proven, False
        if steps <= 0 or clock.is_up():
            break
    return proven, True


def _violated_compositions(
    prices: Floats, size_price: float, per_item: float, tables: Overlaps, steps: int, clock: Clock
) -> tuple[Ints, Floats, int, bool]:
    """Compositions that break the prices, their costs, the steps taken, whether these are all."""
    from partita.kernels.bounds import first_box, gaining_compositions

    boxes = first_box(tables.bounds)
    taken, cost = np.empty((0, tables.bounds.size - 1), np.int64), np.empty((0, prices.size))
    node_cost = tables.logs.size * (tables.bounds.size + 8)  # steps to look at one box
    used = 0
    while True:
        nodes = max(1, min(_SLICE_STEPS, steps - used) // node_cost)
        found, costs, seen = gaining_compositions(
            prices, size_price, per_item, tables, boxes, nodes, _FOUND - len(taken)
        )
        used += seen * node_cost
        taken, cost = np.concatenate((taken, found)), np.concatenate((cost, costs))
        complete = boxes.left[0] == 0
        if complete or used >= steps or len(taken) == _FOUND or clock.is_up():
            return taken, cost, used, complete


def rounding(n_draws: int, n_items: int) -> float:
    """Bits that rounding can change the sums of the bound by."""
    return 3.0 * math.log2(n_items + 1.0) * (n_draws + n_items + 100) * float(np.finfo(float).eps)


def table_steps(draws: Draws, n_sides: int) -> int:
    """Estimate the steps to fill the tables, from the largest numbers of clusters."""
    per_draw = draws.n_items**2 / max(1.0, float(np.median(draws.n_clusters)))
    return int(draws.n_draws * (3 * per_draw + draws.n_items * 4 + n_sides * 8))


def table_bytes(n_items: int, n_sides: int) -> int:
    """Most bytes that the tables of one thread need."""
    return 3 * 8 * n_items * n_sides * (n_items + n_sides)


def _overlaps(
    draws: Draws, labels: Labels, n_jobs: int | None, clock: Clock
) -> tuple[Overlaps, Floats]:
    """The tables of the search for broken prices, and E log |C_k ∩ M_i| of each item."""
    from partita.kernels.bounds import Overlaps, side_masses, side_overlaps

    n, n_sides = draws.n_items, int(labels.max()) + 1
    groups = np.clip(table_steps(draws, n_sides) // _GROUP_STEPS, _GROUPS, _MOST_GROUPS)
    step = -(-draws.n_draws // int(groups))

    def look_at_time(_: str) -> None:
        if clock.is_up():
            raise _TimeUpError

    def masses(block: Block) -> tuple[Floats]:
        mass = block.probabilities
        return (side_masses(block.rows, block.n_clusters, mass, labels, n_sides),)

    (mass,) = sum_blocks(masses, draws, rows=step, n_jobs=n_jobs, say=look_at_time)
    stands = mass > 0.0
    line_of = np.where(stands, np.cumsum(stands).reshape(stands.shape) - 1, -1)
    n_lines = int(stands.sum())

    def shares(block: Block) -> tuple[Floats, Floats]:
        mass = block.probabilities
        return side_overlaps(block.rows, block.n_clusters, mass, labels, line_of, n_lines)

    logs, shared = sum_blocks(shares, draws, rows=step, n_jobs=n_jobs, say=look_at_time)
    order = np.argsort(labels, kind="stable")
    bounds = np.searchsorted(labels[order], np.arange(n_sides + 1))
    tops = np.zeros((n_lines, shared.shape[1], n + n_sides))
    for k in range(n_sides):
        inside = shared[:, :, order[bounds[k] : bounds[k + 1]]]
        largest = np.cumsum(-np.sort(-inside, axis=2), axis=2)
        tops[:, :, bounds[k] + k + 1 : bounds[k + 1] + k + 1] = largest
    per_item = stands.sum(axis=1)
    start = np.concatenate([[0], np.cumsum(per_item)])
    own = np.add.reduceat(logs[:, 1], start[:-1])
    return Overlaps(order, bounds, start, mass[stands], logs, tops), own


_SOLVER = 1e-6
"""Bits by which prices are lowered, for the solver's tolerance."""

_STAY = 1e-3
"""Penalty per bit on prices that move away from the first ones."""


class PriceProgramme:
    """The linear programme of the prices: as much as possible in all, no known set above its cost.

    For a composition c with costs h, the dearest set has Σ_k (the c_k largest y_i − h_i in C_k),
    which is the minimum over θ of Σ_k [c_k θ_k + Σ_i (y_i − h_i − θ_k)⁺]: one row, and one row and
    column more for each item and cluster. The solver takes about as many iterations as there are
    rows; ``work`` counts iterations times rows, which does not depend on the machine.
    """

    def __init__(self, start: NDArray[np.float64], labels: Labels, work: float) -> None:
        self.start, self.labels = start, labels
        self.work = work
        self.taken: list[NDArray[np.int64]] = []
        self.costs: list[NDArray[np.float64]] = []

    def add(self, taken: Ints, costs: Floats) -> bool:
        """More compositions, as many as there is work for; whether any was new."""
        known = {c.tobytes() for c in self.taken}
        new = [j for j, composition in enumerate(taken) if composition.tobytes() not in known]
        n = self.start.size
        most = int(np.sqrt(max(0.0, self.work))) // n - 1 - len(self.taken)
        step = max(1, -(-len(new) // max(1, most)))  # evenly spaced: neighbours are alike
        new = new[::step] if most > 0 else []
        self.taken += [taken[j] for j in new]
        self.costs += [costs[j] for j in new]
        return len(new) > 0

    def prices(self, seconds: float = np.inf) -> Floats | None:
        """The best prices for the known compositions; None where the solver did not finish."""
        from scipy.optimize import linprog
        from scipy.sparse import coo_array

        n, n_sides = self.start.size, int(self.labels.max()) + 1
        rows = _Rows(2 * n)
        # y = start + up − down. The estimate's clusters cost what they did; singletons are free.
        for members in self.labels[None, :] == np.arange(n_sides)[:, None]:
            rows.at_most(np.flatnonzero(members), n, 0.0)
        for i in range(n):
            rows.at_most(np.array([i]), n, -self.start[i])
        for composition, cost in zip(self.taken, self.costs, strict=True):
            rows.composition(composition, cost - self.start, self.labels, n)
        reach = float(np.log2(n)) + 1.0
        bounds = [(0.0, reach)] * (2 * n) + rows.bounds
        objective = np.zeros(rows.n_columns)
        objective[:n], objective[n : 2 * n] = -1.0 + _STAY, 1.0 + _STAY
        n_rows = len(rows.right)
        matrix = coo_array((rows.values, (rows.rows, rows.columns)), shape=(n_rows, rows.n_columns))
        iterations = max(1, int(min(self.work / n_rows, 1e9)))
        result = linprog(
            objective,
            A_ub=matrix.tocsr(),  # type: ignore[call-overload] # sparse: documented, not stubbed
            b_ub=np.array(rows.right),
            bounds=bounds,
            method="highs",
            options={"maxiter": iterations, "time_limit": min(seconds, 1e9)},
        )
        self.work -= (int(result.nit) + 1) * n_rows
        if result.status != 0:
            return None
        return np.asarray(self.start + result.x[:n] - result.x[n : 2 * n] - _SOLVER)


class _Rows:
    """Rows of a linear programme as they are added; the first columns are prices up and down."""

    def __init__(self, n_columns: int) -> None:
        self.n_columns = n_columns
        self.rows: list[int] = []
        self.columns: list[int] = []
        self.values: list[float] = []
        self.right: list[float] = []
        self.bounds: list[tuple[float | None, float | None]] = []

    def _entries(self, columns: Ints | list[int], value: float) -> None:
        self.rows += [len(self.right)] * len(columns)
        self.columns += [int(c) for c in columns]
        self.values += [value] * len(columns)

    def at_most(self, items: Ints, n_items: int, right: float) -> None:
        """Σ (up − down) over items ≤ right."""
        self._entries(items, 1.0)
        self._entries(items + n_items, -1.0)
        self.right.append(right)

    def _column(self, low: float | None) -> int:
        self.bounds.append((low, None))
        self.n_columns += 1
        return self.n_columns - 1

    def composition(self, taken: Ints, cost: Floats, labels: Labels, n_items: int) -> None:
        """The dearest set of a composition does not exceed its cost."""
        terms: list[tuple[int, float]] = []
        right = 0.0
        for k in np.flatnonzero(taken):
            members = np.flatnonzero(labels == k)
            if taken[k] == members.size:
                terms += [(int(i), 1.0) for i in members]
                terms += [(int(i) + n_items, -1.0) for i in members]
                right += float(cost[members].sum())
                continue
            theta = self._column(None)
            terms.append((theta, float(taken[k])))
            for i in members:
                excess = self._column(0.0)
                terms.append((excess, 1.0))
                self._entries([int(i)], 1.0)
                self._entries([int(i) + n_items, theta, excess], -1.0)
                self.right.append(float(cost[i]))
        for column, value in terms:
            self._entries([column], value)
        self.right.append(right)
