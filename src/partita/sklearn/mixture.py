"""Data to clusters: a mixture model as a scikit-learn clusterer."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import check_is_fitted, validate_data

from partita._validate import refuse_annotated
from partita.errors import InvalidDataError
from partita.labels import DataLike
from partita.losses.base import Loss
from partita.samplers.base import Kernel
from partita.samplers.categorical import DirichletCategorical
from partita.samplers.fit import Fit
from partita.samplers.priors import PartitionPrior
from partita.samplers.product import Product
from partita.samplers.sample import sample
from partita.sklearn.base import SummaryEstimator
from partita.summary.summarize import summarize


class BayesianMixture(SummaryEstimator):
    r"""Cluster the rows of a table by a Bayesian mixture model with unknown number of clusters.

    ``fit`` samples partitions c from the posterior :math:`p(c \mid x)`, keeps the one that
    minimises the posterior expected loss, and measures how far the posterior strays from it.
    Choose it where the number of clusters is a question, and where it matters how sure the
    answer is; ``summary_`` says so in words.

    Parameters
    ----------
    kernel : Kernel, optional
        The density of a cluster, such as ``pt.NormalInverseWishart(...)``. By default
        independent normals with the paper's empirical rule for numbers, and by the columns'
        types in a DataFrame; see :func:`partita.sample`.
    prior : PartitionPrior, optional
        By default ``pt.DirichletProcess(pt.Gamma(1, 1))``.
    draws, burn_in, thin, chains : int
        Draws kept from each chain, iterations before the first, iterations per draw, chains.
    loss : str or Loss, default "vi"
        What ``labels_`` minimise in posterior expectation.
    prob : float in (0, 1], default 0.95
        Probability of the credible ball.
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
    >>> import partita as pt
    >>> from partita.sklearn import BayesianMixture
    >>> galaxies = pt.datasets.galaxies().reshape(-1, 1)
    >>> mixture = BayesianMixture(draws=500, burn_in=200, random_state=0).fit(galaxies)
    >>> mixture.labels_.shape, mixture.n_clusters_
    ((82,), 3)
    >>> mixture.predict([[9.5], [21.0], [33.0]])
    array([1, 0, 2])
    >>> mixture.predict_proba([[21.0]]).shape  # three clusters, and a new one
    (1, 4)
    """

    fit_: Fit

    def __init__(
        self,
        *,
        kernel: Kernel | None = None,
        prior: PartitionPrior | None = None,
        draws: int = 2_000,
        burn_in: int = 1_000,
        thin: int = 1,
        chains: int = 4,
        loss: str | Loss = "vi",
        prob: float = 0.95,
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
        return self._keep(
            summarize(
                self.fit_,
                loss=self.loss,
                prob=self.prob,
                data=self.fit_.values,
                rng=searching,
                n_jobs=self.n_jobs,
                progress=None if self.verbose else False,
            )
        )

    def predict_proba(self, X: DataLike) -> NDArray[np.float64]:
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

    def score_samples(self, X: DataLike) -> NDArray[np.float64]:
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
        return not getattr(self.kernel, "joint", False)

    def _takes_categories(self) -> bool:
        return isinstance(self.kernel, (DirichletCategorical, Product))

    def _checked(self, X: Any, *, reset: bool) -> Any:
        refuse_annotated(X, "X")
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
