"""A loss from outside the package, as a user would write one."""

from dataclasses import dataclass
from itertools import combinations
from typing import ClassVar, NamedTuple

import numpy as np

import partita as pt


class JaccardForm(NamedTuple):
    n: int

    def combine(self, joint, estimate, truth):
        either = estimate + truth - joint - self.n  # ordered pairs that either of the two joins
        return (estimate + truth - 2.0 * joint) / either if either > 0.0 else 0.0


@dataclass(frozen=True, repr=False)
class Jaccard(pt.Loss):
    r"""Pairs joined by one of two partitions only, among those joined by either.

    .. math:: L(t, e) = \frac{\sum n_t^2 + \sum n_e^2 - 2 \sum n_{te}^2}
              {\sum n_t^2 + \sum n_e^2 - \sum n_{te}^2 - N}

    Notes
    -----
    O(N + K_t K_e) per pair.

    References
    ----------
    Jaccard, P. (1912), The distribution of the flora in the alpine zone. New Phytologist 11.

    Examples
    --------
    >>> import partita as pt
    >>> pt.distance([0, 0, 1, 1], [0, 0, 0, 1], loss=Jaccard())
    0.75
    """

    name: ClassVar[str] = "jaccard"
    title: ClassVar[str] = "Jaccard distance of the joined pairs"
    metric: ClassVar[bool] = True

    def form(self, n_items):
        return JaccardForm(n_items)

    def terms(self, n_items):
        return np.arange(n_items + 1, dtype=np.float64) ** 2


def jaccard(estimate, truth) -> float:
    """The reference implementation: sets of pairs."""
    pairs = list(combinations(range(len(truth)), 2))
    one = {(i, j) for i, j in pairs if estimate[i] == estimate[j]}
    other = {(i, j) for i, j in pairs if truth[i] == truth[j]}
    return len(one ^ other) / len(one | other) if one | other else 0.0
