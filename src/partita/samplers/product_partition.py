"""Priors that users bring: V and W of p(c) = V(N, k) Π W(n_j)."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike

from partita._validate import called_rightly, unexpected, whole
from partita.errors import InvalidInputError
from partita.kernels.arrays import Floats
from partita.kernels.gibbs.types import Prior
from partita.partitions.labels import cluster_sizes
from partita.samplers.partition_prior import PartitionPrior, PriorTables

LogV = Callable[[int, int], float] | Sequence[float] | Mapping[int, Sequence[float]]
LogW = Callable[[int], float] | Sequence[float]


@dataclass(frozen=True)
class ProductPartition(PartitionPrior):
    r"""A prior of product form, from its two factors.

    :math:`p(c) \propto V(N, k) \prod_j W(n_j)` for k clusters of sizes n_j. Every prior under which
    an item joins a cluster with a weight that depends on that cluster's size alone has this
    form: the Dirichlet and Pitman–Yor processes, finite mixtures, the uniform distribution over
    partitions (V = W = 1). Choose it where none of the named priors says what you believe.

    Parameters
    ----------
    log_v : callable or sequence of float
        log V(N, k): a function of N and k, or the values for k = 1, 2, … whatever N; a sequence
        that ends allows no more clusters than it has entries. A factor that depends on N alone
        may be left out.
    log_w : callable or sequence of float
        log W(n): a function of n, or the values for n = 1, 2, …, at least N + 1 of them.

    Notes
    -----
    Sampling costs as much as under the named priors; tables of O(N) are made once. The
    constant that makes probabilities sum to one, which ``log_probability`` and
    ``expected_clusters`` need, is summed over all sizes at O(N²·k); ``Fit.trace["log_posterior"]``
    is given without it.

    A fit keeps the tables for its own N, so that it can be saved; the functions are not kept.

    References
    ----------
    Hartigan, J. A. (1990), Partition models. Communications in Statistics 19; Quintana, F. A. and
    Iglesias, P. L. (2003), Journal of the Royal Statistical Society B 65.

    Examples
    --------
    The uniform distribution over the five partitions of three items:

    >>> import numpy as np
    >>> import partita as pt
    >>> uniform = pt.ProductPartition(lambda n, k: 0.0, lambda n: 0.0)
    >>> round(float(np.exp(uniform.log_probability([0, 0, 1]))), 3)
    0.2
    >>> uniform.expected_clusters(3)
    2.0
    """

    log_v: LogV
    log_w: LogW

    kind: ClassVar[str] = "ProductPartition"

    def __post_init__(self) -> None:
        log_v, log_w = self.log_v, self.log_w
        if isinstance(log_v, Mapping):
            with called_rightly(log_v, "log_v", "a table for each number of items"):
                log_v = {int(n): _numbers(row, "log_v") for n, row in log_v.items()}
        elif not callable(log_v):
            log_v = _numbers(log_v, "log_v")
        object.__setattr__(self, "log_v", log_v)
        object.__setattr__(self, "log_w", log_w if callable(log_w) else _numbers(log_w, "log_w"))

    def _tabulated(self, n_items: int) -> tuple[Floats, Floats]:
        """log V(N, k) for k = 1 … N + 1 (−∞ beyond the possible), log W(n) for n = 1 … N."""
        with called_rightly(self.log_w, "log_w", "a function of n that returns a number"):
            w = np.array([_entry(self.log_w, n) for n in range(1, n_items + 1)])
        if not np.isfinite(w).all():
            n = int(np.flatnonzero(~np.isfinite(w))[0]) + 1
            raise InvalidInputError(
                f"log_w({n}) is {w[n - 1]}; expected finite numbers for clusters of 1 to {n_items} "
                "items. A size that is impossible would leave partitions that no sequence of moves "
                "connects.",
                argument="log_w",
            )
        if isinstance(self.log_v, Mapping):
            if n_items not in self.log_v:
                known = ", ".join(str(n) for n in sorted(self.log_v))
                raise InvalidInputError(
                    f"this prior holds tables for {known} items, not for {n_items}; make it from "
                    "its functions again.",
                    argument="prior",
                )
            row: Any = self.log_v[n_items]
        else:
            row = self.log_v
        if callable(row):
            with called_rightly(row, "log_v", "a function of N and k that returns a number"):
                v = np.array([float(row(n_items, k)) for k in range(1, n_items + 1)])
        else:
            v = np.full(n_items, -np.inf)
            v[: len(row)] = row[:n_items]
        return np.append(_connected(v), -np.inf), w

    def bind(self, n_items: int) -> ProductPartition:
        """With tables for N items and, for predictions, one more."""
        more = whole(n_items, "n_items", least=1) + 1
        rows = {n: _finite(self._tabulated(n)[0]) for n in (n_items, more)}
        return ProductPartition(rows, tuple(self._tabulated(more)[1].tolist()))

    def log_probability(self, labels: ArrayLike) -> float:
        """Log probability of a partition; −∞ for more clusters than are possible."""
        found, v, w = self._log_product(labels)
        return found - float(np.logaddexp.reduce(_log_by_clusters(v, w)))

    def log_ratio(self, labels: ArrayLike, other: ArrayLike) -> float:
        """Log of the ratio of two partitions' probabilities; needs no constant."""
        return self._log_product(labels)[0] - self._log_product(other)[0]

    def _log_product(self, labels: ArrayLike) -> tuple[float, Floats, Floats]:
        """log V(N, k) Π W(n_j), and both tables."""
        sizes = cluster_sizes(labels)
        v, w = self._tabulated(int(sizes.sum()))
        return float(v[sizes.size - 1] + w[sizes - 1].sum()), v, w

    def expected_clusters(self, n_items: int) -> float:
        """Σ_k k V(N, k) B(N, k), B being the sum of ΠW over the partitions with k clusters."""
        n_items = whole(n_items, "n_items", least=1)
        total = _log_by_clusters(*self._tabulated(n_items))
        p = np.exp(total - np.logaddexp.reduce(total))
        return float(p @ np.arange(1, n_items + 1))

    def tables(self, n_items: int) -> PriorTables:
        """The prior for n items, for the compiled loops."""
        v, w = self._tabulated(n_items)
        log_size = np.concatenate([[0.0], np.diff(w), [0.0]])
        log_block = np.concatenate([[0.0], w - w[0]])
        possible = np.isfinite(v[:-1])
        opening = np.full(n_items, -np.inf)
        opening[possible] = v[1:][possible] - v[:-1][possible]
        open_table = np.concatenate([[0.0], opening + w[0]])
        arrays = Prior(0.0, log_size, log_block, open_table, 0.0, 0.0)
        return PriorTables(arrays, 1.0, float(v[0] + w[0]), None)

    def most_clusters(self) -> int | None:
        """The largest number of clusters that is possible, or None."""
        if isinstance(self.log_v, Mapping):
            return min(len(row) for row in self.log_v.values())
        return None if callable(self.log_v) else len(self.log_v)

    def config(self) -> dict[str, Any]:
        """The tables; functions have none, ``bind`` makes them."""
        if callable(self.log_v) or callable(self.log_w):
            raise InvalidInputError(
                "functions cannot be written to a file; use bind(n_items) to make tables of them.",
                argument="prior",
            )
        return {"log_v": self.log_v, "log_w": self.log_w}


def _numbers(values: Any, name: str) -> tuple[float, ...]:
    try:
        array = np.asarray(values, np.float64)
    except (TypeError, ValueError):
        array = np.empty((0, 0))
    if array.ndim != 1 or not array.size or not np.isfinite(array).all():
        raise unexpected(values, name, "a function, or a sequence of finite numbers")
    return tuple(array.tolist())


def _entry(log_w: Any, n: int) -> float:
    if callable(log_w):
        return float(log_w(n))
    if n > len(log_w):
        raise InvalidInputError(
            f"log_w has {len(log_w)} entries, but a cluster may have {n} items. Give one for each "
            "size, and one more for predictions.",
            argument="log_w",
        )
    return float(log_w[n - 1])


def _connected(v: Floats) -> Floats:
    """Finite from k = 1 on, then −∞."""
    possible = np.isfinite(v)
    if np.isnan(v).any() or (v == np.inf).any() or not possible[0]:
        raise InvalidInputError(
            f"log V(N, k) is {v[:4].tolist()}… for k = 1, 2, …; expected finite numbers from one "
            "cluster on, and −inf from the first impossible number of clusters.",
            argument="log_v",
        )
    if possible[int(possible.argmin()) :].any() and not possible.all():
        k = int(possible.argmin()) + 1
        raise InvalidInputError(
            f"log V(N, {k}) is −inf, but more clusters are possible; moves change the number by "
            "one, so no sequence of them could pass it.",
            argument="log_v",
        )
    return v


def _finite(v: Floats) -> tuple[float, ...]:
    return tuple(v[np.isfinite(v)].tolist())


def _log_by_clusters(v: Floats, w: Floats) -> Floats:
    """log V(N, k) B(N, k) for k = 1 … N: the mass of each number of clusters.

    B(n, k) = Σ_m C(n − 1, m − 1) W(m) B(n − m, k − 1): the first item has m − 1 companions.
    """
    from scipy.special import gammaln, logsumexp

    n_items = w.size
    most = int(np.isfinite(v).sum())
    m = np.arange(1, n_items + 1)
    with_factorial = w - gammaln(m)  # W(m)/(m − 1)!
    b = np.full((most + 1, n_items + 1), -np.inf)  # log B(n, k)/(n)!, and 1 for nobody
    b[0, 0] = 0.0
    for k in range(1, most + 1):
        for n in range(k, n_items + 1):
            sizes = m[: n - k + 1]
            terms = with_factorial[sizes - 1] + b[k - 1, n - sizes]
            b[k, n] = logsumexp(terms) - np.log(n)
    by_clusters = b[1:, n_items] + gammaln(n_items + 1) + v[:most]
    return np.concatenate([by_clusters, np.full(n_items - most, -np.inf)])
