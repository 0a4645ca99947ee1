"""Labelings of the same items to one consensus, as a scikit-learn clusterer."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Literal

import numpy as np
from sklearn.utils.validation import validate_data

from partita._text import Kind
from partita._validate import refuse_annotated
from partita.draws import Draws, as_draws
from partita.errors import InvalidLabelsError
from partita.labels import DataLike, DrawsLike, NoiseRule, reading_noise
from partita.losses.base import Loss
from partita.samplers.fit import Fit
from partita.sklearn.base import SummaryEstimator
from partita.summary.summarize import summarize


class PartitionConsensus(SummaryEstimator):
    r"""The clustering closest on average to many clusterings of the same items.

    .. math:: c^* = \arg\min_c \frac{1}{M} \sum_m L(c_m, c)

    The labelings may be draws of an MCMC run, or any ensemble: repeated k-means, bootstrap
    runs, several algorithms or annotators. Labels need not agree between labelings, nor do
    numbers of clusters.

    Parameters
    ----------
    loss : str or Loss, default "vi"
        The distance between clusterings; see :func:`partita.estimate`.
    prob : float in (0, 1], default 0.95
        Fraction of the labelings that the ball around the consensus holds.
    method : str, default "auto"
        The search; see :func:`partita.estimate`.
    bound : "auto", "fast", "tight" or None, default "auto"
        How hard to prove that no clustering is closer; None leaves the proof out, which can
        take longer than the search where the labelings have little in common.
    max_clusters : int, optional
        Most clusters of the consensus; no cap by default.
    n_clusters : int, optional
        Exactly this many clusters; by default as many as are closest on average.
    min_cluster_size : int, optional
        No cluster of the consensus has fewer items.
    noise : (label, "singletons") or (label, "cluster"), optional
        A label that marks noise, such as −1, and what it means; see
        :func:`partita.as_draws`.
    kind : "posterior" or "ensemble", optional
        What the labelings are, which every text of ``summary_`` then says; see
        :class:`partita.Draws`. By default an ensemble, and for :meth:`from_draws` what the draws
        say.
    random_state : int, RandomState or None
    n_jobs : int, optional
        Threads; by default every core.

    Attributes
    ----------
    labels_ : ndarray of int32, shape (n_items,)
        The consensus; clusters are numbered by size, the largest first.
    n_clusters_ : int
    credible_ball_ : CredibleBall
        The smallest ball around the consensus with ``prob`` of the labelings in it.
    summary_ : Summary
        With the probability of each item (``summary_.items.probability``) and cluster.
    n_features_in_ : int
        Number of labelings.

    Notes
    -----
    X has one row per item and one column per labeling, as scikit-learn has samples in rows.
    Draws of samplers usually come the other way round: see :meth:`from_draws`, which also keeps
    weights and chains.

    Labels may be whole numbers or strings. Fractional numbers are refused, for X is then
    probably the data, and so is −1 beside other labels, by which some clusterers mark noise,
    unless ``noise`` says what it means.

    Cost O(M·N·K) per sweep of the search, for M labelings of N items in K clusters.

    References
    ----------
    Wade, S. and Ghahramani, Z. (2018), Bayesian cluster analysis: Point estimation and
    credible balls. Bayesian Analysis 13.

    Examples
    --------
    >>> import numpy as np
    >>> from partita.sklearn import PartitionConsensus
    >>> labelings = [[0, 1, 5], [0, 1, 5], [0, 0, 7], [2, 0, 7]]
    >>> PartitionConsensus().fit_predict(labelings)
    array([0, 0, 1, 1], dtype=int32)
    """

    def __init__(
        self,
        *,
        loss: str | Loss = "vi",
        prob: float = 0.95,
        method: str = "auto",
        bound: Literal["auto", "fast", "tight"] | None = "auto",
        max_clusters: int | None = None,
        n_clusters: int | None = None,
        min_cluster_size: int | None = None,
        noise: NoiseRule | None = None,
        kind: Kind | None = None,
        random_state: int | np.random.RandomState | None = None,
        n_jobs: int | None = None,
    ) -> None:
        self.loss = loss
        self.prob = prob
        self.method = method
        self.bound = bound
        self.max_clusters = max_clusters
        self.n_clusters = n_clusters
        self.min_cluster_size = min_cluster_size
        self.noise = noise
        self.kind = kind
        self.random_state = random_state
        self.n_jobs = n_jobs

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.string = tags.input_tags.categorical = True
        return tags

    def fit(self, X: DataLike, y: Any = None) -> PartitionConsensus:  # noqa: ARG002 - scikit-learn's way
        """Find the consensus of the columns of X.

        Parameters
        ----------
        X : array_like or DataFrame, shape (n_items, n_labelings)
        y : ignored
        """
        refuse_annotated(X, "X")
        labelings = validate_data(self, X, dtype=None, ensure_min_samples=2)
        try:
            with reading_noise(self.noise):
                draws = Draws(labelings.T, kind=self.kind or "ensemble")
        except InvalidLabelsError as error:
            raise InvalidLabelsError(
                "X must hold labels, one row per item and one column per labeling (a draw, below). "
                f"{error} If X are the data themselves, see BayesianMixture.",
                argument="X",
            ) from None
        return self._fit_draws(draws)

    @classmethod
    def from_clusterers(cls, clusterers: Iterable[Any], **params: Any) -> PartitionConsensus:
        """The fitted consensus of clusterers that were fitted to the same items.

        Parameters
        ----------
        clusterers : iterable of fitted scikit-learn clusterers
            Each with ``labels_``, such as ``KMeans`` runs of several seeds. Where some of them
            mark noise by −1 (``HDBSCAN``, ``DBSCAN``), say with ``noise`` what it means.
        **params
            Those of the class.

        Examples
        --------
        >>> import numpy as np
        >>> from sklearn.cluster import KMeans
        >>> from partita.sklearn import PartitionConsensus
        >>> x = np.repeat([[0.0], [5.0], [9.0]], 4, axis=0)
        >>> runs = [KMeans(3, n_init=1, random_state=seed).fit(x) for seed in range(5)]
        >>> PartitionConsensus.from_clusterers(runs).n_clusters_
        3
        """
        labelings = []
        for number, clusterer in enumerate(clusterers):
            labels = getattr(clusterer, "labels_", None)
            if labels is None:
                raise InvalidLabelsError(
                    f"clusterer {number}, a {type(clusterer).__name__}, has no labels_; expected "
                    "clusterers that have been fitted to the items.",
                    argument="clusterers",
                )
            labelings.append(np.asarray(labels))
        lengths = sorted({len(labels) for labels in labelings})
        if len(lengths) != 1:
            came = f"they label {lengths[0]:,} to {lengths[-1]:,} items" if lengths else "none came"
            raise InvalidLabelsError(
                f"expected clusterers of the same items; {came}.", argument="clusterers"
            )
        consensus = cls(**params)
        return consensus.fit(np.column_stack(labelings))

    @classmethod
    def from_draws(cls, draws: DrawsLike, **params: Any) -> PartitionConsensus:
        """The fitted consensus of draws: one row per draw, one column per item.

        Parameters
        ----------
        draws : Draws, sampler output, array, table, ArviZ object or path
            Anything :func:`partita.as_draws` or :func:`partita.summarize` accepts; weights,
            chains and names are used.
        **params
            Those of the class.

        Examples
        --------
        >>> import partita as pt
        >>> from partita.sklearn import PartitionConsensus
        >>> draws = pt.Draws([[0, 0, 1, 1], [0, 1, 1, 1]], weights=[3, 1])
        >>> PartitionConsensus.from_draws(draws, loss="binder").labels_
        array([0, 0, 1, 1], dtype=int32)
        """
        consensus = cls(**params)
        clean = as_draws(draws, noise=consensus.noise, kind=consensus.kind)
        consensus.n_features_in_ = clean.n_draws
        sampled = isinstance(draws, Fit) and clean.kind != "ensemble"
        return consensus._fit_draws(draws if sampled else clean)

    def _fit_draws(self, draws: DrawsLike) -> PartitionConsensus:
        return self._keep(
            summarize(
                draws,
                loss=self.loss,
                prob=self.prob,
                method=self.method,
                bound=self.bound,
                max_clusters=self.max_clusters,
                n_clusters=self.n_clusters,
                min_size=1 if self.min_cluster_size is None else self.min_cluster_size,
                rng=self._seed(),
                n_jobs=self.n_jobs,
                progress=False,
            )
        )


ConsensusClustering = PartitionConsensus
"""The name under which most people look for it."""
