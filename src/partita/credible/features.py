"""How certain the items and the features of an allocation are, and how many features there are."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import NDArray

from partita._result import Result
from partita._text import Kind, clip, counted, words
from partita.credible.uncertainty import ClusterCounts
from partita.kernels.arrays import Bools, Floats, Ints
from partita.labels import data_frame, items_from_one
from partita.losses.base import Loss

if TYPE_CHECKING:
    import pandas as pd

    from partita.features.draws import FeatureDraws


@dataclass(frozen=True, eq=False, repr=False)
class FeatureItemUncertainty(Result):
    """How certain the memberships of each item are. Made by :func:`item_uncertainty`.

    Attributes
    ----------
    allocation : ndarray of bool, shape (n_items, n_features)
        The estimate.
    membership : ndarray of float, shape (n_items, n_features)
        Probability that the item is in the feature of the draw that is matched to each feature
        of the estimate. They need not sum to 1 over the features.
    none : ndarray of float, shape (n_items,)
        Probability that the item is in no feature at all.
    n_features : ndarray of float, shape (n_items,)
        Expected number of features of the item, matched or not.
    contribution : ndarray of float, shape (n_items,)
        Each item's part of the expected loss of the estimate; they sum to it.
    share : ndarray of float, shape (n_items,)
        The same as a fraction of the whole; all 0 when the expected loss is 0.
    order : ndarray of int64, shape (n_items,)
        The items from the least certain on: largest contribution first.
    loss : Loss
    names : tuple of str, or None
    kind : "posterior" or "ensemble"
        Of the draws.

    Examples
    --------
    >>> import partita as pt
    >>> draws = pt.FeatureDraws.from_sets([[{0, 1}, {1, 2}], [{0, 1}, {2}]], n_items=4)
    >>> items = pt.item_uncertainty(draws, draws[0])
    >>> items.membership
    array([[1. , 0. ],
           [1. , 0.5],
           [0. , 1. ],
           [0. , 0. ]])
    >>> items.contribution
    array([0. , 0.5, 0. , 0. ])
    """

    allocation: NDArray[np.bool_]
    membership: NDArray[np.float64]
    none: NDArray[np.float64]
    n_features: NDArray[np.float64]
    contribution: NDArray[np.float64]
    share: NDArray[np.float64]
    order: NDArray[np.int64]
    loss: Loss
    names: tuple[str, ...] | None
    kind: Kind = "posterior"

    def name(self, item: int) -> str:
        """Name of an item, or its position."""
        return str(item) if self.names is None else self.names[item]

    def to_frame(self, *, one_based: bool = False) -> pd.DataFrame:
        """One row per item: its memberships by feature, and its part of the loss.

        Parameters
        ----------
        one_based : bool, default False
            Count features, and items without names, from 1, as R does.
        """
        first = int(one_based)
        columns: dict[str, NDArray[np.float64]] = {
            f"feature_{k + first}": self.membership[:, k] for k in range(self.membership.shape[1])
        }
        columns |= {"none": self.none, "n_features": self.n_features}
        columns |= {"contribution": self.contribution, "share": self.share}
        index = items_from_one(self.names, self.none.size, one_based)
        return data_frame(columns, of="the items", index=index, name="item")

    def __repr__(self) -> str:
        worst = ", ".join(
            f"{clip(self.name(i), 40)} ({self.contribution[i]:.2g})"
            for i in self.order[:5].tolist()
        )
        items = counted(self.none.size, "item")
        return f"<FeatureItemUncertainty: {items}; largest parts of the loss: {worst}>"


@dataclass(frozen=True, eq=False, repr=False)
class FeatureUncertainty(Result):
    """How certain each feature of an allocation is; part of a :class:`FeatureSummary`.

    Attributes
    ----------
    size : ndarray of int64, shape (n_features,)
        Items of each feature in the estimate.
    matched : ndarray of float, shape (n_features,)
        Probability that a draw has a feature that is matched to it.
    matched_size : ndarray of float, shape (n_features,)
        Mean number of items of the matched features; 0 where there is none.
    kind : "posterior" or "ensemble"
        Of the draws.
    """

    size: NDArray[np.int64]
    matched: NDArray[np.float64]
    matched_size: NDArray[np.float64]
    kind: Kind = "posterior"

    def to_frame(self, *, one_based: bool = False) -> pd.DataFrame:
        """One row per feature of the estimate; ``one_based`` counts them from 1."""
        names = ("size", "matched", "matched_size")
        index = range(int(one_based), self.size.size + int(one_based))
        columns = {name: getattr(self, name) for name in names}
        return data_frame(columns, of="the features", index=index, name="feature")


@dataclass(frozen=True, eq=False, repr=False)
class FeatureCounts(ClusterCounts):
    """Posterior of the number of features; part of a :class:`FeatureSummary`.

    Attributes
    ----------
    values : ndarray of int64
        The numbers of features that occur, increasing.
    probabilities : ndarray of float, same shape
    kind : "posterior" or "ensemble"
        Of the draws.
    least_items : int
        Items from which on a feature is counted.
    """

    least_items: int = 1

    def to_frame(self) -> pd.DataFrame:
        """One row per number of features."""
        columns = {"n_features": self.values, "probability": self.probabilities}
        return data_frame(columns, of="feature counts")

    def __repr__(self) -> str:
        low, high = self.interval()
        top = f"{words(self.kind).probability} {float(self.probabilities.max()):.3g}"
        return f"<FeatureCounts: mode {self.mode} ({top}), 95% in {low} to {high}>"


def feature_counts(draws: FeatureDraws, least_items: int = 1) -> FeatureCounts:
    """The posterior of the number of features that have some items at least."""
    numbers = draws.n_features
    if least_items > 1:
        large = np.bitwise_count(draws.columns).sum(axis=1) >= least_items
        numbers = np.diff(np.concatenate([[0], np.cumsum(large)])[draws.offsets])
    values, number = np.unique(numbers, return_inverse=True)
    mass = np.bincount(number, weights=draws.probabilities)
    return FeatureCounts(values, np.asarray(mass, np.float64), draws.kind, least_items)


class Alignment(NamedTuple):
    """What the draws say about an allocation, features matched one to one with its own."""

    membership: Floats
    """Probabilities of the items to be in the matched features, shape (n_items, n_features)."""
    n_features: Floats
    """Expected number of features of each item."""
    none: Floats
    """Probability of each item to be in no feature."""
    features: FeatureUncertainty


def align_features(draws: FeatureDraws, allocation: Bools) -> Alignment:
    """Match the features of every draw with those of an allocation, and average over the draws.

    Features without common items are never matched.
    """
    from partita.features.estimate import memberships

    membership, matched = memberships(draws.canonical(allocation), draws)
    counts, weights = draws.features_per_item(), draws.probabilities
    size = membership.sum(axis=0)
    mean_size = np.divide(size, matched, out=np.zeros(size.size), where=matched > 0.0)
    sizes: Ints = allocation.sum(axis=0).astype(np.int64)
    table = FeatureUncertainty(sizes, matched, mean_size, draws.kind)
    return Alignment(membership, weights @ counts, weights @ (counts == 0), table)


def items_of(
    draws: FeatureDraws, allocation: Bools, found: Alignment, loss: Loss
) -> FeatureItemUncertainty:
    """The table of items from an alignment already made."""
    agreed = (allocation * found.membership).sum(axis=1)
    excess, missed = allocation.sum(axis=1) - agreed, found.n_features - agreed
    contribution = (loss.price * excess + (2.0 - loss.price) * missed).clip(min=0.0)
    total = float(contribution.sum())
    share = contribution / total if total > 0.0 else np.zeros_like(contribution)
    return FeatureItemUncertainty(
        allocation=allocation,
        membership=found.membership,
        none=found.none,
        n_features=found.n_features,
        contribution=contribution,
        share=share,
        order=np.argsort(-contribution, kind="stable"),
        loss=loss,
        names=draws.item_names,
        kind=draws.kind,
    )
