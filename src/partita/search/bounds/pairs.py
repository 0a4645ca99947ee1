r"""The bound for Binder's loss: each pair at its best, tightened by triangles.

With x_ij = 1 when a partition joins items i and j, the expected loss is
linear, base + Σ w_ij x_ij over unordered pairs, and x must satisfy
x_ij + x_jk − x_ik ≤ 1. Dropping the triangles gives Σ min(0, w_ij). For any
prices λ ≥ 0 of triangles, moving them into the objective gives

.. math:: \text{base} + \sum_{ij} \min\{0,\ w_{ij} + \textstyle\sum_T A_{T,ij} \lambda_T\}
          - \sum_T \lambda_T,

a lower bound whatever the prices. They come from linear programmes with
triangles added as they are violated; the bound itself is evaluated from the
prices, so it does not rest on the solver's tolerance.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from partita._tolerance import LAST_DIGITS
from partita.kernels.arrays import Floats, Ints
from partita.losses.base import Loss

if TYPE_CHECKING:
    from scipy.sparse import csr_array


_TRIANGLES_A_ROUND = 2_000
_MOST_TRIANGLES_SEEN = 200_000
_VIOLATION = 1e-6


@dataclass(frozen=True)
class PairProgramme:
    """Expected Binder loss as base + Σ cost_ij x_ij over unordered pairs i < j."""

    base: float
    cost: NDArray[np.float64]  # (n_items, n_items), symmetric, zero diagonal

    @property
    def n_items(self) -> int:
        """Number of items."""
        return len(self.cost)


def pair_programme(similarity: NDArray[np.float64], loss: Loss) -> PairProgramme:
    """The linear programme of a loss that is linear in pairs, for a similarity matrix."""
    n = len(similarity)
    a, scale = loss.price, loss.pair_scale(n)
    assert scale is not None
    cost = 2.0 * ((2.0 - a) - 2.0 * similarity) / scale
    np.fill_diagonal(cost, 0.0)
    # On the diagonal the three squares cancel: a + (2 − a) − 2 = 0.
    base = a * (float(similarity.sum()) - n) / scale
    return PairProgramme(base, cost)


def pairwise_bound(programme: PairProgramme) -> float:
    """Return the bound with each pair at its best, ignoring triangles."""
    return programme.base + 0.5 * float(np.minimum(programme.cost, 0.0).sum())


class Relaxation:
    """The linear relaxation with the triangles found so far, tightened round by round.

    ``work`` counts what the solver did, in iterations times rows; ``is_closed`` says that no
    triangle is violated any more.
    """

    def __init__(self, programme: PairProgramme) -> None:
        self.programme = programme
        self.bound = pairwise_bound(programme)
        self.joined = (programme.cost < 0.0).astype(np.float64)
        self.triangles = np.empty((0, 3), np.int64)
        self.work = 0
        self.is_closed = False

    def add_violated(self, joined: NDArray[np.float64]) -> bool:
        """Add the triangles that a solution violates most; whether there were any."""
        from partita.kernels.bounds import violated_triangles

        found, excess = violated_triangles(joined, _VIOLATION, _MOST_TRIANGLES_SEEN)
        worst = np.argsort(-excess, kind="stable")[:_TRIANGLES_A_ROUND]
        self.triangles = np.concatenate((self.triangles, found[worst]))
        return len(found) > 0

    def tighten(self, work: float = np.inf, seconds: float = np.inf) -> bool:
        """Solve once more with the triangles that are violated now.

        False when none is violated, or the solver needs more than it has: ``work`` in iterations
        times rows, which does not depend on the machine, and seconds.
        """
        from scipy.optimize import linprog

        if not self.add_violated(self.joined):
            self.is_closed = True
            return False
        columns = touched_pairs(self.programme, self.triangles)
        iterations = int(min(work / len(self.triangles), 1e9))
        result = linprog(
            columns.cost,
            A_ub=columns.matrix,  # type: ignore[call-overload] # sparse is documented, not stubbed
            b_ub=np.ones(len(self.triangles)),
            bounds=(0.0, 1.0),
            method="highs",
            options={"time_limit": min(seconds, 1e9), "maxiter": max(1, iterations)},
        )
        self.work += (int(result.nit) + 1) * len(self.triangles)
        if result.status != 0:
            return False
        self.joined = columns.solution(result.x)
        prices = np.maximum(-result.ineqlin.marginals, 0.0) / columns.scale
        self.bound = max(self.bound, _priced_bound(self.programme, self.triangles, prices))
        return True


def triangle_bound(
    programme: PairProgramme,
    target: float,
    *,
    work: float,
    seconds: Callable[[], float] = lambda: np.inf,
) -> tuple[float, bool]:
    """The bound tightened by violated triangles, and whether the work it may do ended it.

    Otherwise it stops when it reaches ``target`` (the loss of a known
    partition), or no triangle is violated. ``seconds`` says how many are left.
    """
    relaxation = Relaxation(programme)
    while not reaches(target, relaxation.bound):
        left = seconds()
        if relaxation.work >= work or left <= 0.0:
            return relaxation.bound, True
        if not relaxation.tighten(work - relaxation.work, left):
            return relaxation.bound, not relaxation.is_closed
    return relaxation.bound, False


def reaches(target: float, bound: float) -> bool:
    """Whether a bound is the loss of a known partition, up to rounding.

    Relative to the loss: two partitions may differ by a single pair of N²/2 in a single draw.
    """
    return target - max(bound, 0.0) <= LAST_DIGITS * abs(target)


@dataclass(frozen=True)
class TouchedPairs:
    """The pairs that triangles touch, as columns of a programme; the others sit at their best."""

    programme: PairProgramme
    first: NDArray[np.int64]
    second: NDArray[np.int64]
    matrix: csr_array
    scale: float

    @property
    def cost(self) -> NDArray[np.float64]:
        """Costs near 1, so that a solver's tolerances mean something."""
        return self.programme.cost[self.first, self.second] * self.scale

    def solution(self, values: NDArray[np.float64]) -> NDArray[np.float64]:
        """The symmetric matrix x of a solution."""
        joined = (self.programme.cost < 0.0).astype(np.float64)
        joined[self.first, self.second] = joined[self.second, self.first] = values
        return joined


def touched_pairs(programme: PairProgramme, triangles: NDArray[np.int64]) -> TouchedPairs:
    """Columns and rows of the programme that the triangles span."""
    from scipy.sparse import coo_array

    n = programme.n_items
    pairs = triangle_pairs(triangles, n)
    touched, column = np.unique(pairs, return_inverse=True)
    rows = np.repeat(np.arange(len(triangles)), 3)
    signs = np.tile([1.0, 1.0, -1.0], len(triangles))
    shape = (len(triangles), touched.size)
    matrix = coo_array((signs, (rows, column.reshape(-1))), shape=shape).tocsr()
    first, second = np.divmod(touched, n)
    return TouchedPairs(programme, first, second, matrix, float(n**2))


def triangle_pairs(triangles: NDArray[np.int64], n_items: int) -> NDArray[np.int64]:
    """Pairs of each triangle (i, j, k) as numbers: ij and jk enter with +1, ik with −1."""
    ends = ((0, 1), (1, 2), (0, 2))
    columns = []
    for a, b in ends:
        low = np.minimum(triangles[:, a], triangles[:, b])
        high = np.maximum(triangles[:, a], triangles[:, b])
        columns.append(low * n_items + high)
    return np.column_stack(columns)


def _priced_bound(programme: PairProgramme, triangles: Ints, prices: Floats) -> float:
    """The bound from triangle prices, whatever they are."""
    n = programme.n_items
    reduced = np.triu(programme.cost, 1)
    pairs = triangle_pairs(triangles, n)
    for which, sign in enumerate((1.0, 1.0, -1.0)):
        np.add.at(reduced.reshape(-1), pairs[:, which], sign * prices)
    return programme.base + float(np.minimum(reduced, 0.0).sum()) - float(prices.sum())
