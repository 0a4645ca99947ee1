"""Entropies of another degree: one dial from the variation of information to Binder's loss."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from partita._validate import positive
from partita.errors import InvalidInputError
from partita.kernels.arrays import Floats
from partita.losses.priced import PricedLoss


@dataclass(frozen=True, eq=False, repr=False)
class Entropy(PricedLoss):
    r"""Variation of information with entropies of degree β, between VI and Binder's loss.

    .. math:: L(t, e) = \frac{a \sum n_t^\beta + (2 - a) \sum n_e^\beta - 2 \sum n_{te}^\beta}
              {N^\beta (1 - 2^{1 - \beta})}

    β = 1, the limit, is :class:`VI`; β = 2 is twice :class:`Binder`. Choose it
    between the two: the larger β, the more large clusters count and the less
    small ones do. A metric for β ≥ 1 (and a = 1).

    Parameters
    ----------
    beta : float above 0
        The degree.
    a : float in (0, 2), default 1
        Price of splitting relative to merging.

    Notes
    -----
    O(N + K_t K_e) per pair of partitions. Two equal halves are at distance 1
    from one cluster, for every β.

    References
    ----------
    Simovici, D. and Jaroszewicz, S. (2002), An axiomatization of partition
    entropy. IEEE Transactions on Information Theory 48.

    Examples
    --------
    >>> import partita as pt
    >>> round(pt.distance(range(6), [0] * 6, loss=pt.Entropy(1.5)), 6)
    2.020367
    >>> pt.distance([0, 0, 1, 1], [0, 0, 0, 0], loss="entropy(2)")
    1.0
    """

    name: ClassVar[str] = "entropy"
    parameter: ClassVar[str] = "beta"

    beta: float = 1.0

    def __init__(self, beta: float, a: float = 1.0) -> None:
        expected = "a positive number. beta = 1 is VI, beta = 2 is twice Binder's loss"
        object.__setattr__(self, "beta", positive(beta, "beta", expected))
        object.__setattr__(self, "a", a)
        self.__post_init__()

    @property
    def prose(self) -> str:  # type: ignore[override]
        """Its name in prose at the price 1."""
        return f"variation of information of degree {self.beta:g}"

    @property
    def is_metric(self) -> bool:
        """From β = 1 on, at a = 1."""
        return self.beta >= 1.0 and self.a == 1.0

    @property
    def is_symmetric(self) -> bool:
        """At a = 1."""
        return self.a == 1.0

    def scale(self, n_items: int) -> float:
        """The sum over two equal halves less that of one cluster."""
        if self.beta == 1.0:
            return float(n_items)
        # 1 − 2^(1 − β), without cancellation where β is close to 1.
        halves = abs(np.expm1((1.0 - self.beta) * np.log(2.0)))
        with np.errstate(over="ignore"):
            value = float(np.float64(n_items) ** self.beta * halves)
        if value == np.inf:
            raise InvalidInputError(
                f"beta={self.beta:g} is too large for {n_items:,} items: {n_items:,}^{self.beta:g} "
                "is no number a computer holds. Expected a smaller one.",
                argument="beta",
            )
        return value

    def pair_scale(self, n_items: int) -> float | None:
        """Linear in the pairs at β = 2."""
        return self.scale(n_items) if self.beta == 2.0 else None

    def terms(self, n_items: int) -> Floats:
        """x^β − x, whose second part cancels among the sums: its limit at β = 1 is exact."""
        from partita.kernels.losses.forms import entropy_terms, pair_terms

        if self.beta == 1.0:
            return entropy_terms(n_items)
        if self.beta == 2.0:
            return pair_terms(n_items)
        x = np.arange(n_items + 1, dtype=np.float64)
        powers = x * np.expm1((self.beta - 1.0) * np.log(np.maximum(x, 1.0)))
        return np.abs(powers)

    def __repr__(self) -> str:
        return f"Entropy({self.beta!r}{'' if self.a == 1.0 else f', a={self.a!r}'})"
