"""Clusterers for scikit-learn: data to clusters, and labelings to a consensus."""

from __future__ import annotations

import warnings
from collections.abc import Iterable
from typing import Any, Literal, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, ClusterMixin
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted, validate_data

from partita._validate import refuse_views
from partita._wording import Kind, counted
from partita.credible.ball import CredibleBall
from partita.draws import Draws, as_draws
from partita.errors import InvalidDataError, InvalidLabelsError
from partita.kernels.arrays import Floats
from partita.labels import DataLike, DrawsLike, Labels, NoiseRule, reading_noise
from partita.losses.base import Loss
from partita.samplers.base import Kernel, Product
from partita.samplers.discrete import DirichletCategorical
from partita.samplers.fit import Fit
from partita.samplers.priors import PartitionPrior
from partita.samplers.sample import sample
from partita.summary.result import Summary
from partita.summary.summarize import summarize

_SEEDS = np.iinfo(np.int32).max


class SummaryEstimator(ClusterMixin, BaseEstimator):  # type: ignore[misc]
    """A clusterer whose fit ends in a :class:`Summary`."""

    labels_: Labels
    n_clusters_: int
    credible_ball_: CredibleBall
    summary_: Summary

    def _seed(self) -> np.random.SeedSequence:
        """A seed as scikit-learn makes one: of ``random_state``, or of NumPy's global state."""
        numbers = check_random_state(self.random_state).randint(_SEEDS, size=4)
        return np.random.SeedSequence(numbers.tolist())

    def _keep(self, summary: Summary) -> Self:
        self.summary_ = summary
        self.credible_ball_ = summary.ball
        self.labels_ = summary.labels.copy()
        self.n_clusters_ = summary.n_clusters
        return self


def _refuse_views(X: Any) -> None:
    if not hasattr(X, "tocsr"):  # scikit-learn has its own words for sparse matrices
        refuse_views(X, "X")


class BayesianMixture(SummaryEstimator):
    r"""Cluster the rows of a table by a Bayesian mixture model with unknown number of clusters.

    ``fit`` samples partitions c from the posterior :math:`p(c \mid x)`, keeps the one that
    minimises the posterior expected loss, and measures how far the posterior strays from it.
    Choose it where the number of clusters is a question, and where it matters how sure the
    answer is; ``summary_`` says so in words.

    Parameters
    ----------
    kernel : str or Kernel, default "auto"
        The density of a cluster: "auto", "wishart", "hierarchical", "empirical" …, or
        ``pt.NormalInverseWishart(...)``; see :func:`partita.sample`.
    prior : PartitionPrior, optional
        By default ``pt.DirichletProcess(pt.Gamma(1, 1))``.
    draws, burn_in, thin, chains : int
        Draws kept from each chain, iterations before the first, iterations per draw, chains.
    loss : str or Loss, default "vi"
        What ``labels_`` minimise in posterior expectation.
    prob : float in (0, 1], default 0.95
        Probability of the credible ball.
    n_clusters : int, optional
        Exactly this many clusters in ``labels_``; by default as many as minimise the loss.
    random_state : int, RandomState or None
        The same int gives the same result for every ``n_jobs``.
    n_jobs : int, optional
        Threads; by default every core.
    verbose : bool, default False
        Show progress on standard error, when that is a terminal.

    Attributes
    ----------
    labels_ : ndarray of int32, shape (n_samples,)
        The point estimate; clusters are numbered by size, the largest first.
    n_clusters_ : int
    credible_ball_ : CredibleBall
        The ball around ``labels_`` that holds ``prob`` of the posterior, with its bounds.
    summary_ : Summary
        Estimate, ball, uncertainty of items and clusters, diagnostics of the chains.
    fit_ : Fit
        The posterior draws, with predictive densities and parameters of the clusters.
    n_features_in_ : int
    feature_names_in_ : ndarray of str, shape (n_features,)
        When X has names for all its columns.

    Notes
    -----
    Arrays must hold numbers, unless the kernel takes categories (``DirichletCategorical`` or a
    ``Product``). A DataFrame may mix numbers, booleans and categories. Columns are used as they
    are: put a ``StandardScaler`` in front if their scales mean nothing. Missing cells (NaN) are
    integrated out, unless the kernel is joint (``NormalInverseWishart``).

    Cost O(N·K·d) per iteration and chain, and O(M·N·K) for the summary of M draws.

    References
    ----------
    Wade, S. and Ghahramani, Z. (2018), Bayesian cluster analysis: Point estimation and
    credible balls. Bayesian Analysis 13.

    Examples
    --------
    >>> import numpy as np
    >>> from partita.sklearn import BayesianMixture
    >>> rng = np.random.default_rng(0)
    >>> points = np.repeat([0.0, 10.0, 20.0], 30)[:, None] + rng.normal(size=(90, 1))
    >>> mixture = BayesianMixture(draws=4_000, burn_in=200, random_state=0).fit(points)
    >>> mixture.labels_.shape, mixture.n_clusters_
    ((90,), 3)
    >>> mixture.predict([[9.5], [21.0], [0.5]])
    array([1, 2, 0])
    >>> mixture.predict_proba([[21.0]]).shape  # three clusters, and a new one
    (1, 4)
    """

    fit_: Fit

    def __init__(
        self,
        *,
        kernel: str | Kernel | None = "auto",
        prior: PartitionPrior | None = None,
        draws: int = 2_000,
        burn_in: int = 1_000,
        thin: int = 1,
        chains: int = 4,
        loss: str | Loss = "vi",
        prob: float = 0.95,
        n_clusters: int | None = None,
        random_state: int | np.random.RandomState | None = None,
        n_jobs: int | None = None,
        verbose: bool = False,
    ) -> None:
        self.kernel = kernel
        self.prior = prior
        self.draws = draws
        self.burn_in = burn_in
        self.thin = thin
        self.chains = chains
        self.loss = loss
        self.prob = prob
        self.n_clusters = n_clusters
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.verbose = verbose

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.string = tags.input_tags.categorical = self._takes_categories()
        tags.input_tags.allow_nan = self._takes_missing()
        return tags

    def fit(self, X: DataLike, y: Any = None) -> BayesianMixture:  # noqa: ARG002 - scikit-learn's way
        """Sample the posterior of the clustering of the rows of X and summarise it.

        Parameters
        ----------
        X : array_like or DataFrame, shape (n_samples, n_features)
        y : ignored
        """
        data = self._checked(X, reset=True)
        sampling, searching = self._seed().spawn(2)
        self.fit_ = sample(
            data,
            kernel=self.kernel,
            prior=self.prior,
            draws=self.draws,
            burn_in=self.burn_in,
            thin=self.thin,
            chains=self.chains,
            rng=sampling,
            n_jobs=self.n_jobs,
            progress=self.verbose,
        )
        summary = summarize(
            self.fit_,
            loss=self.loss,
            prob=self.prob,
            n_clusters=self.n_clusters,
            data=self.fit_.values,
            rng=searching,
            n_jobs=self.n_jobs,
            progress=None if self.verbose else False,
        )
        if summary.diagnostics.warnings:
            first, *others = summary.diagnostics.warnings
            more = f" {counted(len(others), 'more warning')}:" if others else " See"
            warnings.warn(f"{first}{more} summary_.diagnostics.", ConvergenceWarning, stacklevel=2)
        return self._keep(summary)

    def predict_proba(self, X: DataLike) -> Floats:
        r"""Probabilities of the clusters of ``labels_``, and of a new one, for new rows.

        :math:`p(j) \propto (n_j - \sigma) f_j(x)` and, in the last column, that of a cluster
        of its own, :math:`(\alpha + \sigma k) f_0(x)`; see :meth:`partita.Fit.predict`.

        Parameters
        ----------
        X : array_like or DataFrame, shape (n_samples, n_features)

        Returns
        -------
        ndarray of float, shape (n_samples, n_clusters\_ + 1)
        """
        check_is_fitted(self)
        return self.fit_.predict(self._checked(X, reset=False), self.labels_)

    def predict(self, X: DataLike) -> NDArray[np.intp]:
        """The most probable cluster of new rows; −1 where that is a new one.

        Rows of the fitted data may get another cluster than in ``labels_``, which come from
        all items together.

        Parameters
        ----------
        X : array_like or DataFrame, shape (n_samples, n_features)

        Returns
        -------
        ndarray of int, shape (n_samples,)
        """
        best = self.predict_proba(X).argmax(axis=1)
        return np.where(best == self.n_clusters_, -1, best)

    def score_samples(self, X: DataLike) -> Floats:
        r"""Log posterior predictive density :math:`\log p(x \mid \text{data})` of each row.

        Averaged over the draws; see :meth:`partita.Fit.density`.

        Parameters
        ----------
        X : array_like or DataFrame, shape (n_samples, n_features)

        Returns
        -------
        ndarray of float, shape (n_samples,)
        """
        check_is_fitted(self)
        with np.errstate(divide="ignore"):  # a row so far away that its density is 0
            return np.log(self.fit_.density(self._checked(X, reset=False)).mean)

    def score(self, X: DataLike, y: Any = None) -> float:  # noqa: ARG002 - scikit-learn's way
        """Mean of :meth:`score_samples`: what ``GridSearchCV`` and ``cross_val_score`` maximise.

        Parameters
        ----------
        X : array_like or DataFrame, shape (n_samples, n_features)
        y : ignored
        """
        return float(self.score_samples(X).mean())

    def _takes_missing(self) -> bool:
        if isinstance(self.kernel, str):
            return not self.kernel.startswith("wishart")
        return not getattr(self.kernel, "joint", False)

    def _takes_categories(self) -> bool:
        return isinstance(self.kernel, (DirichletCategorical, Product)) or (
            self.kernel == "categorical"
        )

    def _checked(self, X: Any, *, reset: bool) -> Any:
        _refuse_views(X)
        # The sampler checks a DataFrame column by column, since they differ in type.
        if hasattr(X, "columns") and hasattr(X, "dtypes"):
            if not len(X):
                raise InvalidDataError("X is a DataFrame without rows; expected one per item.")
            validate_data(self, X, reset=reset, skip_check_array=True)
            return X
        least = 2 if reset else 1
        dtype = None if self._takes_categories() else np.float64
        finite = "allow-nan" if self._takes_missing() else True
        return validate_data(
            self, X, reset=reset, dtype=dtype, ensure_min_samples=least, ensure_all_finite=finite
        )


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
        _refuse_views(X)
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
