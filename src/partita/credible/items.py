"""How certain the place of each item is."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from partita._result import Result
from partita._vocabulary import Kind
from partita._wording import counted
from partita.credible.comparison import Comparison, compare
from partita.kernels.arrays import Floats, Int32s
from partita.partitions.convert import as_draws
from partita.partitions.draws import Draws
from partita.partitions.labels import Labels, as_labels, by_size
from partita.partitions.numbering import data_frame, from_one, items_from_one
from partita.partitions.types import DrawsLike, LabelsLike

if TYPE_CHECKING:
    import pandas as pd


@dataclass(frozen=True, eq=False, repr=False)
class ItemUncertainty(Result):
    """How certain the place of each item in an estimate is.

    Made by :func:`item_uncertainty`.

    Attributes
    ----------
    labels : ndarray of int32, shape (n_items,)
        The estimate, its clusters numbered by size.
    probability : ndarray of float, shape (n_items,)
        Probability that the item lies in the cluster of the draw that is matched
        to the item's cluster in the estimate.
    placement : ndarray of float, shape (n_items, K + 1)
        The same for each cluster of the estimate, and last for none of them; rows
        sum to 1.
    best, second : ndarray of int32, shape (n_items,)
        The two clusters of the estimate with the largest placement. ``second`` is
        −1 where the item is never placed into a second one, ``best`` where it is
        never placed at all.
    similarity_share : ndarray of float, shape (n_items, K)
        Mean similarity of the item to the other members of each cluster, scaled
        to sum to 1 over the clusters. A share, not a probability.
    contribution : ndarray of float, shape (n_items,)
        Each item's part of the expected VI of the estimate, in bits; they sum to it.
    share : ndarray of float, shape (n_items,)
        The same as a fraction of the whole; all 0 when the expected VI is 0.
    order : ndarray of int64, shape (n_items,)
        The items from the least certain on: lowest probability, then largest share.
    names : tuple of str, or None
        Names of the items.
    kind : "posterior" or "ensemble"
        Of the draws.
    """

    labels: Labels
    probability: NDArray[np.float64]
    placement: NDArray[np.float64]
    best: NDArray[np.int32]
    second: NDArray[np.int32]
    similarity_share: NDArray[np.float64]
    contribution: NDArray[np.float64]
    share: NDArray[np.float64]
    order: NDArray[np.int64]
    names: tuple[str, ...] | None
    kind: Kind = "posterior"

    def name(self, item: int) -> str:
        """Name of an item, or its position."""
        return str(item) if self.names is None else self.names[item]

    @property
    def other(self) -> NDArray[np.int32]:
        """The likeliest cluster other than the estimated one; −1 where there is none."""
        return np.where(self.best == self.labels, self.second, self.best).astype(np.int32)

    def to_frame(self, *, one_based: bool = False) -> pd.DataFrame:
        """One row per item, in the order of the items.

        Parameters
        ----------
        one_based : bool, default False
            Count clusters, and items without names, from 1, as R does; −1 stays none.
        """
        items = np.arange(self.labels.size)
        other = self.other
        at_other = self.placement[items, np.maximum(other, 0)]
        columns = {
            "cluster": from_one(self.labels, one_based),
            "probability": self.probability,
            "other": from_one(other, one_based),
            "other_probability": np.where(other < 0, 0.0, at_other),
            "none_probability": self.placement[:, -1],
            "similarity_share": self.similarity_share[items, self.labels],
            "contribution": self.contribution,
            "share": self.share,
        }
        index = items_from_one(self.names, items.size, one_based)
        return data_frame(columns, of="the items", index=index, name="item")

    def __repr__(self) -> str:
        worst = self.order[:5]
        named = ", ".join(f"{self.name(i)} ({self.probability[i]:.2f})" for i in worst.tolist())
        return f"<ItemUncertainty: {counted(self.labels.size, 'item')}; least certain: {named}>"


def item_uncertainty(
    draws: DrawsLike, estimate: LabelsLike, *, n_jobs: int | None = None
) -> ItemUncertainty:
    r"""How certain the place of each item in an estimate is.

    In each draw m the clusters :math:`C` of the draw are matched one to one to
    the clusters :math:`E_k` of the estimate, so that the matched pairs have as
    many items in common as possible:

    .. math:: \sigma_m = \arg\max_{\sigma \text{ one to one}} \sum_k |E_k \cap C_{\sigma(k)}|

    With C(i) the cluster of item i in the draw, E(i) its cluster in the estimate
    and w the weights of the draws,

    .. math:: \text{probability}_i = \sum_m w_m \, 1[C(i) \text{ is matched to } E(i)]

    .. math:: \text{contribution}_i = \frac{1}{N} E\bigl[\log_2 |C(i)| + \log_2 |E(i)|
              - 2 \log_2 |C(i) \cap E(i)|\bigr]

    In words: the weight of the draws in which the item lies in the cluster that
    stands for its own. An item that is always with the same companions, in a
    cluster that every draw finds, has probability 1. ``placement`` is the whole
    distribution over the estimate's clusters and "none of them": a cluster of a
    draw may have no counterpart, as when the draw splits one of the estimate's
    in two, and then only the part with more items stands for it.

    ``contribution`` sums to the expected VI: which items cost the most.
    ``similarity_share`` needs no matching,

    .. math:: \text{similarity share}_{ik} \propto \frac{1}{|E_k \setminus i|}
              \sum_{j \in E_k \setminus i} p_{ij}

    with p_ij the posterior probability that items i and j are together, scaled
    to sum to 1 over k. It says which cluster the item is most like, but it is no
    probability: with a single cluster it is 1 for every item, and in loose
    clusters it is far below 1 even for items that never move. For an item that
    the estimate leaves on its own, the entry of that cluster before scaling is
    the probability that the item is alone; an item that is never with any
    other, although the estimate puts it with some, has a row of zeros.

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
    Clusters without common items are never matched. Among matchings with the same
    total the estimate's clusters choose in the order of their numbers, each the
    largest overlap that keeps the total, and among equal ones the cluster of the
    draw whose first item comes first.

    O(M·N·K) time for M draws of N items and K clusters, O(N·K) memory; the matching
    looks only at pairs of clusters that share items.

    References
    ----------
    Kuhn, H. W. (1955), The Hungarian method for the assignment problem, for the
    matching; Wade and Ghahramani (2018), Section 4, for the expected VI as a sum
    over items.

    Examples
    --------
    >>> import partita as pt
    >>> draws = [[0, 0, 1, 1], [0, 0, 1, 1], [0, 0, 0, 1], [0, 0, 1, 1]]
    >>> items = pt.item_uncertainty(draws, [0, 0, 1, 1])
    >>> items.probability
    array([1.  , 1.  , 0.75, 1.  ])
    >>> items.placement[2]
    array([0.25, 0.75, 0.  ])
    >>> items.order[0]
    np.int64(2)
    """
    clean = as_draws(draws)
    labels = as_labels(estimate, n_items=clean.n_items, argument="estimate")
    return items_from(compare(by_size(labels), clean, n_jobs=n_jobs), clean)


def items_from(comparison: Comparison, draws: Draws) -> ItemUncertainty:
    """The table of items from a comparison with these draws already made."""
    labels = comparison.estimate
    contribution = comparison.information / labels.size
    total = float(contribution.sum())
    share = contribution / total if total > 0.0 else np.zeros_like(contribution)
    placement = comparison.placed
    best, second = _two_largest(placement[:, :-1], labels)
    # In place, for it may be large; where nothing is similar, it stays 0.
    affinity = comparison.affinity()
    sums = affinity.sum(axis=1, keepdims=True)
    np.divide(affinity, sums, out=affinity, where=sums > 0.0)
    probability = placement[np.arange(labels.size), labels]
    order = np.lexsort((-share, probability)).astype(np.int64)
    return ItemUncertainty(
        labels=labels,
        probability=probability,
        placement=placement,
        best=best,
        second=second,
        similarity_share=affinity,
        contribution=contribution,
        share=share,
        order=order,
        names=draws.item_names,
        kind=draws.kind,
    )


def _two_largest(placement: Floats, labels: Labels) -> tuple[Int32s, Int32s]:
    """Best and second-best cluster of each item, −1 at probability 0; the estimated one wins ties.

    The scan is per item over K clusters; among others that tie the first counts.
    """
    items = np.arange(labels.size)
    key = placement.copy()
    own = key[items, labels]
    best = np.where(own >= key.max(axis=1), labels, key.argmax(axis=1))
    best = np.where(key[items, best] > 0.0, best, -1).astype(np.int32)
    key[items, np.maximum(best, 0)] = 0.0
    second = key.argmax(axis=1)
    return best, np.where(key[items, second] > 0.0, second, -1).astype(np.int32)
