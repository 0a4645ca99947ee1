"""How certain the place of each item is."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from partita._optional import require
from partita.credible.comparison import Comparison, compare
from partita.io.convert import as_draws
from partita.partitions.labels import Labels, as_vector

if TYPE_CHECKING:
    import pandas as pd


@dataclass(frozen=True, eq=False, repr=False)
class ItemUncertainty:
    """How certain the place of each item in an estimate is.

    Made by :func:`item_uncertainty`.

    Attributes
    ----------
    labels : ndarray of int32, shape (n_items,)
        The estimate, canonical.
    contribution : ndarray of float, shape (n_items,)
        Each item's part of the expected VI of the estimate, in bits; they sum to it.
    share : ndarray of float, shape (n_items,)
        The same as a fraction of the whole; all 0 when the expected VI is 0.
    membership : ndarray of float, shape (n_items, K)
        Probability of belonging to each cluster of the estimate.
    best, second : ndarray of int32, shape (n_items,)
        The two clusters with the largest membership; ``second`` is −1 when the
        estimate has one cluster.
    confidence : ndarray of float, shape (n_items,)
        Membership of the item in the cluster the estimate puts it into.
    order : ndarray of int64, shape (n_items,)
        The items from the most ambiguous on: lowest confidence, then largest share.
    names : tuple of str, or None
        Names of the items.
    """

    labels: Labels
    contribution: NDArray[np.float64]
    share: NDArray[np.float64]
    membership: NDArray[np.float64]
    best: NDArray[np.int32]
    second: NDArray[np.int32]
    confidence: NDArray[np.float64]
    order: NDArray[np.int64]
    names: tuple[str, ...] | None

    def name(self, item: int) -> str:
        """Name of an item, or its position."""
        return str(item) if self.names is None else self.names[item]

    def to_frame(self) -> pd.DataFrame:
        """One row per item, in the order of the items."""
        pandas = require("pandas", extra="parquet", purpose="a table of the items")
        items = np.arange(self.labels.size)
        at = np.maximum(self.second, 0)
        columns: dict[str, Any] = {
            "cluster": self.labels,
            "confidence": self.confidence,
            "best": self.best,
            "best_probability": self.membership[items, self.best],
            "second": self.second,
            "second_probability": np.where(self.second < 0, 0.0, self.membership[items, at]),
            "contribution": self.contribution,
            "share": self.share,
        }
        index = pandas.Index(items if self.names is None else list(self.names), name="item")
        frame: pd.DataFrame = pandas.DataFrame(columns, index=index)
        return frame

    def __repr__(self) -> str:
        worst = self.order[:5]
        named = ", ".join(f"{self.name(i)} ({self.confidence[i]:.2f})" for i in worst.tolist())
        return f"<ItemUncertainty: {self.labels.size:,} items; most ambiguous: {named}>"


def item_uncertainty(
    draws: Any, estimate: ArrayLike | Any, *, n_jobs: int | None = None
) -> ItemUncertainty:
    r"""How certain the place of each item in an estimate is.

    With C(i) the cluster of item i in a draw, E(i) its cluster in the estimate
    and p_ij the posterior probability that items i and j are together,

    .. math:: \text{contribution}_i = \frac{1}{N} E\bigl[\log_2 |C(i)| + \log_2 |E(i)|
              - 2 \log_2 |C(i) \cap E(i)|\bigr]

    .. math:: \text{membership}_{ik} \propto \frac{1}{|E_k \setminus i|}
              \sum_{j \in E_k \setminus i} p_{ij}

    The contributions sum to the expected VI. Membership needs no relabelling
    of the draws: it is the mean similarity of the item to the other members of
    a cluster, scaled to sum to 1 over the clusters. For an item that the
    estimate leaves on its own, the entry of that cluster before scaling is the
    probability that the item is alone. An item that is never with any other,
    although the estimate puts it with some, has a row of zeros.

    Parameters
    ----------
    draws : Draws or anything as_draws accepts
    estimate : array_like, shape (n_items,), or an estimate
    n_jobs : int, optional
        Threads; every core by default. The result does not depend on it.

    Returns
    -------
    ItemUncertainty

    Notes
    -----
    O(M·N·K) time for M draws of N items and K estimated clusters, O(N·K)
    memory.

    References
    ----------
    Wade and Ghahramani (2018), Section 4, for the expected VI as a sum over
    items.

    Examples
    --------
    >>> import partita as pt
    >>> draws = [[0, 0, 1, 1], [0, 0, 1, 1], [0, 0, 0, 1], [0, 0, 1, 1]]
    >>> items = pt.item_uncertainty(draws, [0, 0, 1, 1])
    >>> items.membership.round(2)
    array([[0.89, 0.11],
           [0.89, 0.11],
           [0.25, 0.75],
           [0.  , 1.  ]])
    >>> items.order[0]
    np.int64(2)
    """
    clean = as_draws(draws)
    labels = as_vector(estimate, n_items=clean.n_items, what="labels of the estimate")
    return items_from(compare(labels, clean, n_jobs=n_jobs), clean.item_names)


def items_from(comparison: Comparison, names: tuple[str, ...] | None) -> ItemUncertainty:
    """The table of items from a comparison already made."""
    labels = comparison.estimate
    contribution = comparison.information / labels.size
    total = float(contribution.sum())
    share = contribution / total if total > 0.0 else np.zeros_like(contribution)
    membership = comparison.affinity()
    sums = membership.sum(axis=1, keepdims=True)
    membership = np.divide(membership, sums, out=np.zeros_like(membership), where=sums > 0.0)
    best, second = _two_largest(membership, labels)
    confidence = membership[np.arange(labels.size), labels]
    order = np.lexsort((-share, confidence)).astype(np.int64)
    return ItemUncertainty(
        labels, contribution, share, membership, best, second, confidence, order, names
    )


def _two_largest(
    membership: NDArray[np.float64], labels: Labels
) -> tuple[NDArray[np.int32], NDArray[np.int32]]:
    """Best and second-best cluster of each item; the estimated one wins ties."""
    items = np.arange(labels.size)
    key = membership.copy()
    top = key.max(axis=1)
    own = key[items, labels]
    best = np.where(own >= top, labels, key.argmax(axis=1)).astype(np.int32)
    if membership.shape[1] == 1:
        return best, np.full(labels.size, -1, np.int32)
    key[items, best] = -1.0
    return best, key.argmax(axis=1).astype(np.int32)
