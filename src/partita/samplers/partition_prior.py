"""What a prior on partitions supplies; the sampler's loops are written once, for all of them."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from partita.errors import InvalidInputError
from partita.kernels.arrays import Floats
from partita.kernels.gibbs.types import Prior
from partita.samplers.registered import Registered


@dataclass(frozen=True)
class PriorTables:
    """A prior for N items as the compiled loops read it.

    ``constant`` completes the log probability of a partition; ``concentration`` is where chains
    start; ``parameter`` names it in traces, None where the prior has none. ``has_components``:
    each draw has a number of components, too. ``is_learned``: the tables follow the parameters
    of the draw, so that each chain needs its own.
    """

    arrays: Prior
    concentration: float
    constant: float
    parameter: str | None
    has_components: bool = False
    is_learned: bool = False

    def own(self) -> Prior:
        """The arrays for one chain, which may write to its tables."""
        if not self.is_learned:
            return self.arrays
        log_size, log_block, opening = (table.copy() for table in self.arrays[1:4])
        return self.arrays._replace(log_size=log_size, log_block=log_block, open_table=opening)


class PartitionPrior(Registered, ABC):
    """A probability for every partition of N items that depends on the cluster sizes alone.

    The samplers take priors of product form, p(c) = V(N, k) Π_j W(n_j), under which an item joins
    a cluster with a weight that depends on that cluster's size alone;
    :class:`partita.ProductPartition` makes one from V and W. Under other exchangeable priors the
    weight depends on all sizes, and the compiled loops, which take it from a table, would
    sample another distribution; :func:`partita.testing.check_prior` tells.

    Notes
    -----
    A subclass defines ``log_probability`` and ``expected_clusters``, and ``tables`` to be sampled.
    An item is placed at a cost of O(k) for k clusters.

    References
    ----------
    Quintana, F. A. and Iglesias, P. L. (2003), Bayesian clustering and product partition models.
    Journal of the Royal Statistical Society B 65.

    Examples
    --------
    >>> import partita as pt
    >>> isinstance(pt.DirichletProcess(1.0), pt.PartitionPrior)
    True
    """

    @abstractmethod
    def log_probability(self, labels: ArrayLike) -> float:
        """Log probability of a partition."""

    @abstractmethod
    def expected_clusters(self, n_items: int) -> float:
        """Expected number of clusters of n items."""

    def log_ratio(self, labels: ArrayLike, other: ArrayLike) -> float:
        """Log of the ratio of two partitions' probabilities."""
        return self.log_probability(labels) - self.log_probability(other)

    def tables(self, n_items: int) -> PriorTables:  # noqa: ARG002
        """The prior for n items, for the compiled loops."""
        raise InvalidInputError(
            f"{self.kind} has no tables V(N, k) and W(n), so it cannot be sampled: the sampler "
            "takes priors of the form p(c) = V(N, k) Π W(n_j), where the weight of joining a "
            "cluster depends on its size alone. Use ProductPartition(log_v, log_w) if yours has "
            "that form.",
            argument="prior",
        )

    def bind(self, n_items: int) -> PartitionPrior:  # noqa: ARG002
        """This prior with everything fixed that the number of items leaves open."""
        return self

    def least_parameter(self) -> float:
        """What the parameter in the trace, if any, is always above."""
        return 0.0

    def most_clusters(self) -> int | None:
        """The largest number of clusters that is possible, or None."""
        return None


def join_tables(n_items: int, sigma: float) -> tuple[Floats, Floats]:
    """log(n − σ) for n = 0 … N, and log (1 − σ)(2 − σ)…(n − 1 − σ)."""
    n = np.arange(n_items + 1.0)
    log_size = np.log(np.where(n > 0, n - sigma, 1.0))
    log_block = np.concatenate([[0.0], np.cumsum(log_size)[:-1]])
    return log_size, log_block
