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

Sums of M logarithms carry relative errors of about 1e-13; a margin of 1e-10 bits covers them.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from partita._parallel import run
from partita.partitions.draws import Draws
from partita.partitions.labels import Labels

_MARGIN = 1e-10
"""Bits by which the bound is lowered, for rounding."""

_GROUPS = 4
"""Pieces of work for the threads: fixed, so that they do not change the answer."""

_LEVELS = (0.05, 0.005, 0.0)
"""What every price is lowered by, as shares of the loss: a coarse proof first, then finer ones."""

_ROUNDS = 40
"""Most linear programmes."""

_STAY = 1e-3
"""What a price pays, per bit, for leaving the first one."""

_SOLVER = 1e-6
"""Bits by which prices are lowered, for the solver's tolerance."""

_FOUND = 100
"""Most compositions added in a round."""


@dataclass(frozen=True)
class Overlaps:
    """What the items have in common with their clusters in the draws, by side; see the module."""

    order: NDArray[np.int64]
    bounds: NDArray[np.int64]
    start: NDArray[np.int64]
    mass: NDArray[np.float64]
    logs: NDArray[np.float64]
    tops: NDArray[np.float64]
    own: NDArray[np.float64]  # (n_items,): E log |C_k ∩ M_i|

    @property
    def node_cost(self) -> int:
        """Steps to look at one box."""
        return self.logs.size * (self.bounds.size + 8)


def composition_bound(
    draws: Draws,
    labels: Labels,
    value: float,
    *,
    a: float,
    steps: int,
    n_jobs: int | None = None,
    is_up: Callable[[], bool] = lambda: False,
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
    is_up : callable
        Asked between pieces of work; the best bound so far is returned when True.

    Notes
    -----
    The tables cost O(Σ over draws of Σ_t n_t²) and hold 3·N values for each item and side.
    """
    tables = _overlaps(draws, labels, n_jobs)
    n = draws.n_items
    sizes = np.bincount(labels)[labels]
    size_price = 2.0 - a
    start = size_price * np.log2(sizes) - 2.0 * tables.own
    prices = start
    base = value - start.sum() / n
    programme = _Programme(start, labels)
    proven = -np.inf
    level = 0
    for _ in range(_ROUNDS):
        per_item = _LEVELS[level] * value
        taken, cost, nodes, complete = _search(tables, prices, size_price, per_item, steps)
        steps -= nodes * tables.node_cost
        if complete and not len(taken):
            proven = max(proven, base + float(prices.sum()) / n - per_item - _MARGIN)
            level += 1
            if level == len(_LEVELS):
                return proven, False
        elif programme.add(taken, cost):
            better = programme.prices()
            if better is None:
                return proven, True
            prices = better
        else:
            return proven, True
        if steps <= 0 or is_up():
            return proven, True
        if base + float(prices.sum()) / n <= proven:
            return proven, False
    return proven, True


def table_steps(draws: Draws, n_sides: int) -> int:
    """About the steps that the tables cost, from the largest draws' numbers of clusters."""
    per_draw = draws.n_items**2 / max(1.0, float(np.median(draws.n_clusters)))
    return int(draws.n_draws * (3 * per_draw + draws.n_items * 4 + n_sides * 8))


def table_bytes(n_items: int, n_sides: int) -> int:
    """Most bytes that the tables of one thread need."""
    return 3 * 8 * n_items * n_sides * (n_items + n_sides)


def _overlaps(draws: Draws, labels: Labels, n_jobs: int | None) -> Overlaps:
    from partita.kernels.search.compositions import side_masses, side_overlaps

    n, n_sides = draws.n_items, int(labels.max()) + 1
    step = -(-draws.n_draws // _GROUPS)
    blocks = list(draws.blocks(step))
    weights = draws.probabilities

    def masses(block: slice) -> NDArray[np.float64]:
        rows, counts = draws.rows(block.start, block.stop), draws.n_clusters[block]
        return side_masses(rows, counts, weights[block], labels, n_sides)

    mass = np.sum(run(masses, blocks, n_jobs), axis=0)
    stands = mass > 0.0
    line_of = np.where(stands, np.cumsum(stands).reshape(stands.shape) - 1, -1)
    n_lines = int(stands.sum())

    def shares(block: slice) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        rows, counts = draws.rows(block.start, block.stop), draws.n_clusters[block]
        return side_overlaps(rows, counts, weights[block], labels, line_of, n_lines)

    logs, shared = (np.sum(part, axis=0) for part in zip(*run(shares, blocks, n_jobs), strict=True))
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
    return Overlaps(order, bounds, start, mass[stands], logs, tops, own)


def _search(
    tables: Overlaps,
    prices: NDArray[np.float64],
    size_price: float,
    per_item: float,
    steps: int,
) -> tuple[NDArray[np.int64], NDArray[np.float64], int, bool]:
    from partita.kernels.search.compositions import gaining_compositions

    return gaining_compositions(
        prices,
        size_price,
        per_item,
        0.5 * _MARGIN,
        tables.order,
        tables.bounds,
        tables.start,
        tables.mass,
        tables.logs,
        tables.tops,
        max(1, steps // tables.node_cost),
        _FOUND,
    )


class _Programme:
    """The linear programme of the prices: as much as possible in all, no known set above its cost.

    For a composition c with costs h, the dearest set has Σ_k (the c_k largest y_i − h_i in C_k),
    which is the minimum over θ of Σ_k [c_k θ_k + Σ_i (y_i − h_i − θ_k)⁺]: one row, and one column
    more for each item and cluster.
    """

    def __init__(self, start: NDArray[np.float64], labels: Labels) -> None:
        self.start, self.labels = start, labels
        self.taken: list[NDArray[np.int64]] = []
        self.costs: list[NDArray[np.float64]] = []

    def add(self, taken: NDArray[np.int64], costs: NDArray[np.float64]) -> bool:
        """More compositions; whether any was new."""
        known = {c.tobytes() for c in self.taken}
        for composition, cost in zip(taken, costs, strict=True):
            if composition.tobytes() not in known:
                self.taken.append(composition)
                self.costs.append(cost)
        return len(self.taken) > len(known)

    def prices(self) -> NDArray[np.float64] | None:
        """The best prices for the known compositions; None where the solver failed."""
        from scipy.optimize import linprog
        from scipy.sparse import coo_array

        n, n_sides = self.start.size, int(self.labels.max()) + 1
        rows = _Rows(2 * n)
        # y = start + up − down. No prices are above the estimate's own clusters; singletons are free.
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
        matrix = coo_array(
            (rows.values, (rows.rows, rows.columns)), shape=(len(rows.right), rows.n_columns)
        )
        result = linprog(
            objective,
            A_ub=matrix.tocsr(),  # type: ignore[call-overload] # sparse: documented, not stubbed
            b_ub=np.array(rows.right),
            bounds=bounds,
            method="highs",
        )
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

    def _entries(self, columns: NDArray[np.int64] | list[int], value: float) -> None:
        self.rows += [len(self.right)] * len(columns)
        self.columns += [int(c) for c in columns]
        self.values += [value] * len(columns)

    def at_most(self, items: NDArray[np.int64], n_items: int, right: float) -> None:
        """Σ (up − down) over items ≤ right."""
        self._entries(items, 1.0)
        self._entries(items + n_items, -1.0)
        self.right.append(right)

    def _column(self, low: float | None) -> int:
        self.bounds.append((low, None))
        self.n_columns += 1
        return self.n_columns - 1

    def composition(
        self,
        taken: NDArray[np.int64],
        cost: NDArray[np.float64],
        labels: Labels,
        n_items: int,
    ) -> None:
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
