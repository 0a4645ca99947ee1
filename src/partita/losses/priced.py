"""The losses that price splitting and merging: a·A + (2 − a)·B."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import ClassVar, NamedTuple, Self

from partita.kernels.arrays import Floats
from partita.losses.base import Loss, clean_price, pair_sums
from partita.partitions.labels import Labels


class PricedForm(NamedTuple):
    """[a·(truth − joint) + (2 − a)·(estimate − joint)] / scale."""

    a: float
    scale: float

    def combine(self, joint: float, estimate: float, truth: float) -> float:
        """Splitting costs what the truth's sum loses, merging what the estimate's loses."""
        split, merged = truth - joint, estimate - joint
        return max((self.a * split + (2.0 - self.a) * merged) / self.scale, 0.0)


@dataclass(frozen=True, eq=False, repr=False)
class PricedLoss(Loss):
    """A loss [a·Σf(n_t) + (2 − a)·Σf(n_e) − 2·Σf(n_te)] / scale.

    It is linear in the sums, so its expectation is its value at their means. A
    subclass supplies f (``terms``) and the scale.
    """

    averages_sums: ClassVar[bool] = True
    parameter: ClassVar[str | None] = "a"
    prose: ClassVar[str]
    """Its name in prose at the price 1."""

    a: float = 1.0

    def __post_init__(self) -> None:
        object.__setattr__(self, "a", clean_price(self.a))

    @property
    def title(self) -> str:  # type: ignore[override]
        """Its name in prose, with the price where that is not 1."""
        return self.prose if self.a == 1.0 else f"{self.prose} (a = {self.a:g})"

    def scale(self, n_items: int) -> float:
        """What the sum is divided by."""
        raise NotImplementedError

    def form(self, n_items: int) -> PricedForm:
        """The price and the scale."""
        return PricedForm(self.a, self.scale(n_items))

    @property
    def has_price(self) -> bool:
        """True."""
        return True

    @property
    def price(self) -> float:
        """The parameter a."""
        return self.a

    def with_price(self, a: float) -> Self:
        """The same loss at another price of splitting."""
        return replace(self, a=a)

    def minorant(self) -> tuple[float, Loss] | None:
        """a·A + (2 − a)·B is at least min(a, 2 − a) times the metric A + B."""
        fair = self.with_price(1.0)
        return (min(self.a, 2.0 - self.a), fair) if fair.is_metric else None

    def expected_from_similarity(self, estimate: Labels, similarity: Floats) -> float:
        """Where f(x) = x², the sums count pairs, whose expectations are similarities."""
        if self.pair_scale(estimate.size) is None:
            return super().expected_from_similarity(estimate, similarity)
        form = PricedForm(self.a, self.scale(estimate.size))
        return form.combine(*pair_sums(estimate, similarity))
