"""The linear programme of the prices of items, for the sets that are known to matter."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from partita.kernels.arrays import Floats, Ints
from partita.labels import Labels

_SOLVER = 1e-6
"""Bits by which prices are lowered, for the solver's tolerance."""

_STAY = 1e-3
"""What a price pays, per bit, for leaving the first one."""


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
