"""Everything about a posterior of clusterings in one call, and in one file."""

from __future__ import annotations

import sys
import time
import warnings
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, Any, Literal, TypeGuard, TypeVar

import numpy as np
from numpy.typing import NDArray

from partita._archive import Form, check_parts, read_parts, write_parts
from partita._files import PathLike
from partita._resources import Clock
from partita._validate import Rng, boolean, probability, refuse_masked, seconds, unexpected
from partita.credible import uncertainty
from partita.credible.ball import credible_ball
from partita.credible.profiles import Profiles
from partita.credible.profiles import profiles as profiles_of
from partita.credible.uncertainty import JACCARD, compare
from partita.diagnostics import diagnose
from partita.diagnostics.agreement import functionals
from partita.diagnostics.diagnose import Diagnostics
from partita.draws import Draws, any_draws, as_draws
from partita.errors import (
    FileFormatError,
    InvalidDataError,
    InvalidInputError,
    MemoryLimitError,
    PartitaWarning,
)
from partita.io.data_table import as_table
from partita.labels import DataLike, DrawsLike, Labels
from partita.losses.base import Loss
from partita.losses.builtin import VI, Binder, VILowerBound
from partita.losses.evaluate import loss_for
from partita.posterior import Posterior
from partita.scan import is_remote
from partita.search.clusters_curve import clusters_curve, plateau
from partita.search.estimate import estimate as estimate_of
from partita.search.price_path import clean_prices, price_path
from partita.search.result import PointEstimate, constraints_in_words
from partita.summary.result import (
    CHEAP_CELLS,
    AnySummary,
    LossComparison,
    Summary,
    recorded,
    versions_used,
)
from partita.summary.text import DEFERRED

if TYPE_CHECKING:
    from partita.samplers.fit import Fit


@dataclass(frozen=True, eq=False)
class Observations:
    """Columns of numbers, shape (n_items, n_columns), and their names where they have any.

    In the columns of ``categories`` numbers are codes of levels, which have no order.
    """

    values: NDArray[np.float64]
    names: tuple[str, ...] | None
    categories: tuple[int, ...] = ()

    @property
    def titles(self) -> tuple[str, ...]:
        """The names, or x, or x1, x2, …."""
        n_columns = self.values.shape[1]
        if self.names is not None:
            return self.names
        return tuple(f"x{j + 1}" for j in range(n_columns)) if n_columns > 1 else ("x",)

    @property
    def columns(self) -> tuple[str, ...] | None:
        """The names as a table calls them, so that observations are read as a table is."""
        return self.names

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> NDArray[Any]:
        return np.array(self.values, dtype=dtype, copy=copy)


def as_observations(data: DataLike, n_items: int) -> Observations:
    """Observations from an array or a table of numbers with one row per item."""
    refuse_masked(data, "data", InvalidDataError)
    table = as_table(data)
    texts = [
        name for name, c in zip(table.names, table.columns, strict=True) if c.dtype.kind == "O"
    ]
    if texts:
        raise InvalidDataError(
            f"data cannot be read as numbers: column {', '.join(map(repr, texts[:5]))} holds "
            "text, categories or dates. Leave such columns out."
        )
    values = np.column_stack([column.astype(np.float64) for column in table.columns])
    if table.n_rows != n_items:
        raise InvalidDataError(
            f"data have shape {values.shape}; expected one row per item, ({n_items},) or "
            f"({n_items}, n_columns)."
        )
    values.flags.writeable = False
    unnamed = table.names == tuple(str(j) for j in range(table.n_columns))
    return Observations(values, None if unnamed else table.names)


CROWDED_CELLS = 300_000_000
"""As ``CHEAP_CELLS``, for a curve where the estimate has more clusters than any draw, which calls
for an explanation: at 230 million it took 0.6 of the estimate's processor time."""
CHEAP_ITEMS = 8
"""Items, at most, for a price path without request: all partitions of so few are compared."""


def _cells(draws: Draws, found: PointEstimate) -> int:
    """About the work of one more search."""
    return draws.n_draws * draws.n_items * (found.n_clusters + 4)


def _is_free(search_options: dict[str, Any]) -> bool:
    """Whether the estimate was searched for without constraints."""
    free = search_options["max_clusters"] is None and search_options["n_clusters"] is None
    return free and search_options["min_size"] == 1 and search_options["method"] == "auto"


def _has_cheap_curve(draws: Draws, found: PointEstimate, search_options: dict[str, Any]) -> bool:
    """Whether a short curve is made without request.

    Cheap is counted in work, so that the same call gives the same summary on every machine. The
    curve begins at the estimate, which must have been searched for freely.
    """
    crowded = found.n_clusters > int(draws.n_clusters.max()) and not is_remote(draws)
    most = CROWDED_CELLS if crowded else CHEAP_CELLS
    quick = found.loss.form(1) is not None and _cells(draws, found) <= most
    return quick and _is_free(search_options)


T = TypeVar("T")

_SEARCH_SHARE = 0.6
"""Share of a time limit for the estimate and its proof; the rest is for other parts."""


def summarize(
    draws: DrawsLike,
    *,
    loss: str | Loss | None = None,
    prob: float = 0.95,
    data: DataLike | None = None,
    var_name: str | None = None,
    jaccard: float = JACCARD,
    method: str = "auto",
    bound: Literal["auto", "fast", "tight"] | None = "auto",
    max_clusters: int | None = None,
    n_clusters: int | None = None,
    min_size: int = 1,
    path: bool | tuple[float, float] | None = None,
    sensitivity: bool | None = None,
    time_limit: float | None = None,
    rng: Rng | None = None,
    n_jobs: int | None = None,
    progress: bool | None = None,
) -> Summary:
    """Estimate, credible ball, item and cluster uncertainty, and diagnostics in one object.

    Parameters
    ----------
    draws : Draws, the output of :func:`sample`, or anything as_draws accepts; or FeatureDraws
    loss : str or Loss, optional
        What the estimate minimises; VI by default, and FARO of feature draws. The ball uses
        it too when it is a metric, and VI otherwise.
    prob : float in (0, 1], default 0.95
        Probability of the credible ball and of the intervals.
    data : array_like, shape (n_items,) or (n_items, n_columns), optional
        The observations, for profiles, figures and reports; no other number depends on
        them.
        Sampler output brings its own.
    var_name : str, optional
        The variable that holds the labels, where ``draws`` has several; see :func:`as_draws`.
    jaccard : float in (0, 1], default 0.8
        Overlap from which on a cluster of a draw counts as one of the estimate.
    path : bool or (low, high), optional
        Whether to find out what other numbers of clusters cost (``Summary.curve``)
        and over which prices of splitting the estimate is optimal
        (``Summary.path``); ``Summary.how_many`` states both. True takes several
        times as long as all the rest; a pair of prices between 0 and 2, such as
        (0.5, 1.5), confines the path to these, see :func:`price_path`. By default
        what is cheap is done: a short
        curve around an estimate that was searched freely, where
        draws × items × (clusters + 4) is at most 30 million, and the path of at
        most 8 items. False does neither.
    sensitivity : bool, optional
        Whether to find out what other priors would say, of a fit: :func:`prior_sensitivity`, as
        ``Summary.sensitivity``. By default for a concentration halved and doubled and one other
        kind of prior, where chains agree and draws × items × (clusters + 4) is at most 10
        million; True takes the whole grid, False none.
    bound : {"auto", "fast", "tight"} or None, default "auto"
        As in :func:`estimate`: what is proven about the estimate. About the VI
        and Binder estimates made for comparison nothing is.
    method, max_clusters, n_clusters, min_size, time_limit, rng, n_jobs, progress
        As in :func:`estimate`. The estimates made for comparison use them as
        well, except for methods that only one loss has.

    Returns
    -------
    Summary, or FeatureSummary of feature draws
        ``print`` shows one screen; ``save``, ``to_json``, ``to_frame`` and
        ``to_html`` write it.

    Notes
    -----
    Two estimates (three when the loss is neither VI nor Binder's), one pass for
    the ball, one for items and clusters in O(M·N·K), one for the diagnostics.
    Of more than 50,000 items the estimates for comparison are brief ones (see
    ``method`` of :func:`estimate`).
    The short curve takes half as long again where clusters are few, and up to
    three times as long where they are many.
    Where chains disagree, :func:`representatives` says what each of them holds.
    The estimate and its proof take at most 0.6 of a ``time_limit``. Ball, numbers of clusters and
    diagnostics are always made; what else there is no time for, or Ctrl-C ends,
    is named in ``Summary.missing``.

    References
    ----------
    Wade, S. and Ghahramani, Z. (2018), Bayesian cluster analysis: Point
    estimation and credible balls. Bayesian Analysis 13.

    Examples
    --------
    >>> import numpy as np, partita as pt
    >>> rng = np.random.default_rng(1)
    >>> truth = np.repeat([0, 1, 2], 10)
    >>> labels = np.where(rng.random((400, 30)) < 0.1, rng.integers(0, 3, (400, 30)), truth)
    >>> summary = pt.summarize(labels)
    >>> summary.n_clusters
    3
    >>> print(summary.sentence[:72])
    With 95% posterior probability the clustering lies within 1.24 bits of t
    """
    if sensitivity is not None:
        boolean(sensitivity, "sensitivity")
    if hasattr(type(draws), "__features__"):
        from partita.features.draws import partitions_only
        from partita.summary.features import summarize_features

        partitions_only(
            data=(data, None),
            var_name=(var_name, None),
            jaccard=(jaccard, JACCARD),
            method=(method, "auto"),
            max_clusters=(max_clusters, None),
            n_clusters=(n_clusters, None),
            min_size=(min_size, 1),
            sensitivity=(sensitivity or None, None),
        )
        shared = {"bound": bound, "time_limit": time_limit, "rng": rng, "n_jobs": n_jobs}
        return summarize_features(  # type: ignore[return-value] # of feature draws
            any_draws(draws),
            loss=loss,
            prob=prob,
            search_options={**shared, "progress": progress, "path": _clean_path(path)},
        )
    started = time.perf_counter()
    posterior = _posterior(draws, var_name, n_jobs)
    clean = posterior.draws
    measure, level = loss_for(loss, clean), probability(prob)
    overlap = uncertainty.clean_jaccard(jaccard)
    path = _clean_path(path)
    observed = _observations(draws, data, clean.n_items)
    search_options: dict[str, Any] = {
        "method": method,
        "bound": bound,
        "max_clusters": max_clusters,
        "n_clusters": n_clusters,
        "min_size": min_size,
        "time_limit": time_limit,
        "rng": rng,
        "n_jobs": n_jobs,
        "progress": progress,
    }
    clock = Clock(seconds(time_limit))
    share = None if time_limit is None else _SEARCH_SHARE * time_limit
    with clock:
        found = estimate_of(posterior, loss=measure, **{**search_options, "time_limit": share})
    metric = measure if measure.is_metric else VI()
    sizes = uncertainty.cluster_sizes_posterior(posterior, prob=level)
    diagnostics = _diagnostics(draws, posterior, found.labels, n_jobs)
    ball = credible_ball(posterior, found.labels, prob=level, loss=metric, n_jobs=n_jobs)
    parts = _Parts(clock, search_options)
    certainty, estimates = DEFERRED
    some: dict[str, Any] = dict.fromkeys(name for names in DEFERRED.values() for name in names)
    some |= parts.made(certainty, _uncertainty, found.labels, clean, overlap, n_jobs, clock) or {}
    profiled = prices = curve = priors = several = None
    if observed is not None:
        made = (draws, clean, found.labels, observed, level)
        profiled = parts.made("profiles", _profiles, *made)
    some |= parts.made(estimates, lambda: _for_comparison(posterior, found, parts.options)) or {}
    few = path is None and clean.n_items <= CHEAP_ITEMS
    if measure.has_price and (path or few):
        low, high = path if isinstance(path, tuple) else (0.0, 2.0)
        asked: dict[str, Any] = {"loss": measure, "low": low, "high": high, "bound": None}
        prices = parts.made("price path", lambda: price_path(clean, **asked, **parts.shared))
    cheap = path is None and _has_cheap_curve(clean, found, search_options)
    if measure.averages_distances and (path or cheap):
        short = partial(plateau, posterior, found.labels)
        around = partial(partial(clusters_curve, clean) if path else short, loss=measure)
        curve = parts.made("curve over numbers of clusters", lambda: around(**parts.shared))
    if _wants_priors(sensitivity, draws, found, search_options, diagnostics):
        from partita.samplers.sensitivity import sensitivity_of_fit

        asked = {"prob": level, "rng": rng, "n_jobs": n_jobs, "clock": clock}
        whole = partial(sensitivity_of_fit, brief=sensitivity is not True, **asked)
        priors = parts.made("sensitivity to the prior", whole, draws, found)
    if diagnostics.chains_disagree:
        from partita.representative.representatives import representatives

        answers = partial(representatives, clean, loss=metric, prob=level, bound=None)
        several = parts.made("representatives of the chains", lambda: answers(**parts.shared))
    summary = Summary(
        draws=clean,
        data=None if observed is None else observed.values,
        data_names=None if observed is None else observed.names,
        data_categories=() if observed is None else observed.categories,
        estimate=found,
        ball=ball,
        counts=uncertainty.n_clusters_posterior(clean),
        sizes_posterior=sizes,
        profiles=profiled,
        diagnostics=diagnostics,
        options=recorded(
            measure,
            level,
            {"jaccard": overlap, **search_options, "path": path, "sensitivity": sensitivity},
        ),
        versions=versions_used(),
        seconds=time.perf_counter() - started,
        representatives=several,
        path=prices,
        curve=curve,
        sensitivity=priors,
        missing=tuple(parts.missing),
        **some,
    )
    for part in parts.missing:
        for name in DEFERRED.get(part, ()):
            del summary.__dict__[name]
    summary.__dict__["_posterior"] = posterior  # as the cached property would keep it
    return summary


CHEAP_PRIORS = 10_000_000
"""Draws × items × (clusters of the estimate + 4), at most, for other priors without request: three
searches, which take about a third of the summary's time there."""


def _wants_priors(
    wanted: bool | None,
    source: object,
    found: PointEstimate,
    search_options: dict[str, Any],
    diagnostics: Diagnostics,
) -> bool:
    """Whether other priors are to be looked at."""
    if wanted:
        if not _is_fit(source):
            raise InvalidInputError(
                "sensitivity=True asks what other priors would say, and these draws do not say "
                "which prior they have. Give the fit, or ask "
                "prior_sensitivity(draws, from_prior=...).",
                argument="sensitivity",
            )
        return True
    if wanted is False or not _is_fit(source) or diagnostics.chains_disagree:
        return False
    from partita.samplers.sensitivity import is_quick

    plain = source.draws.weights is None and source.draws.kind == "posterior"
    free = search_options["time_limit"] is None and _is_free(search_options) and plain
    return free and _cells(source.draws, found) <= CHEAP_PRIORS and is_quick(source.prior)


class _Parts:
    """Makes the parts of a summary while there is time; those it does not reach are missing."""

    def __init__(self, clock: Clock, search_options: dict[str, Any]) -> None:
        self.clock, self._search_options = clock, search_options
        self.missing: list[str] = []

    def made(self, name: str, make: Callable[..., T], *arguments: Any) -> T | None:
        try:
            if not self.clock.is_up():
                with self.clock:
                    return make(*arguments)
        except KeyboardInterrupt:
            self.clock.interrupt()
        except MemoryLimitError as error:  # refused before the work; the rest does not need it
            warnings.warn(f"{name}: {error}", PartitaWarning, stacklevel=4)
        self.missing.append(name)
        return None

    @property
    def options(self) -> dict[str, Any]:
        """The arguments of a search with what is left of the time."""
        left = None if self.clock.deadline is None else max(self.clock.left, 0.01)
        return {**self._search_options, "time_limit": left}

    @property
    def shared(self) -> dict[str, Any]:
        """Those of them that every search takes."""
        options = self.options
        return {name: options[name] for name in ("time_limit", "rng", "n_jobs", "progress")}


def compute_missing(summary: Summary, part: str) -> dict[str, Any]:
    """A part that a summary was made without."""
    options = dict(summary.options)
    jobs = options.get("n_jobs")
    if part == next(iter(DEFERRED)):
        return _uncertainty(summary.labels, summary.draws, options["jaccard"], jobs)
    names = ("method", "max_clusters", "n_clusters", "min_size", "n_jobs")
    search_options = {name: options.get(name) for name in names if name in options}
    rng = options.get("rng")
    search_options |= {"rng": None if isinstance(rng, str) else rng, "time_limit": None}
    return _for_comparison(summary._posterior, summary.estimate, search_options)


def _uncertainty(
    labels: Labels, draws: Draws, jaccard: float, n_jobs: int | None, clock: Clock | None = None
) -> dict[str, Any]:
    comparison = compare(labels, draws, jaccard=jaccard, n_jobs=n_jobs, clock=clock)
    return {
        "items": uncertainty.items_from(comparison, draws),
        "clusters": uncertainty.clusters_from(comparison),
    }


def _for_comparison(
    posterior: Posterior, found: PointEstimate, search_options: dict[str, Any]
) -> dict[str, Any]:
    losses = VI(), Binder()
    vi, binder = [
        _estimate_for_comparison(posterior, loss, found, search_options) for loss in losses
    ]
    posterior.keep_distances(found.labels, vi.labels, binder.labels)
    table = _side_by_side(posterior, found, vi, binder)
    return {"vi_estimate": vi, "binder_estimate": binder, "comparison": table}


def _posterior(draws: DrawsLike, var_name: str | None, n_jobs: int | None) -> Posterior:
    """The posterior to share; that of a summary with what it knows already."""
    if isinstance(draws, (Posterior, Summary)) and var_name is None:
        return draws._posterior if isinstance(draws, Summary) else draws
    return Posterior(as_draws(draws, var_name=var_name), n_jobs)


def _is_fit(source: object) -> TypeGuard[Fit]:
    """Whether this is output of :func:`sample`; its class is loaded where there is any."""
    samplers = sys.modules.get("partita.samplers.fit")
    return samplers is not None and isinstance(source, samplers.Fit)


def _diagnostics(
    source: object, posterior: Posterior, labels: Labels, n_jobs: int | None
) -> Diagnostics:
    """Return the diagnostics; those of an ensemble are empty."""
    draws = posterior.draws
    if draws.kind == "ensemble":
        return diagnose.empty_diagnostics(draws)
    values = functionals(posterior, estimate=labels) | diagnose.trace_functionals(
        source, draws.n_draws
    )
    found = diagnose.diagnose_values(values, draws, n_jobs=n_jobs)
    if not _is_fit(source):
        return found
    from partita.samplers.fit import STARTED

    warning = _correlated_columns(source, labels)
    begun = tuple(f"E{note[1:]}" for note in source.notes if note.startswith(STARTED))
    return replace(
        found,
        warnings=found.warnings if warning is None else (*found.warnings, warning),
        notes=(*found.notes, *begun),
    )


_SMALLEST = 20
"""Items of a cluster from which on its correlations count."""


def _correlated_columns(fit: Any, labels: Labels) -> str | None:
    """A warning where independent normals are fitted to columns that correlate within clusters.

    That is where full covariances within the clusters gain more log likelihood than BIC charges
    for them.
    """
    from partita.samplers.normal import NormalInverseGamma

    parts = getattr(fit.kernel, "parts", ((fit.kernel, range(len(fit.columns))),))
    columns = [c for kernel, of in parts if isinstance(kernel, NormalInverseGamma) for c in of]
    values = np.asarray(fit.values)[:, columns] if len(columns) > 1 else np.empty((0, 0))
    if values.size == 0 or len(values) != labels.size or not np.isfinite(values).all():
        return None
    d, gain, largest = len(columns), 0.0, 0.0
    for j in range(int(labels.max()) + 1):
        rows = values[labels == j]
        spread = rows.std(axis=0)
        if len(rows) < max(_SMALLEST, 3 * d) or not (spread > 0).all():
            continue
        matrix = np.corrcoef(rows.T)
        gain -= len(rows) / 2 * np.linalg.slogdet(matrix)[1]
        gain -= d * (d - 1) / 4 * np.log(len(rows))
        largest = max(largest, float(np.abs(matrix - np.eye(d)).max()))
    if gain <= 0.0:
        return None
    return (
        f"Columns correlate up to {largest:.2f} within clusters, and the kernel treats them as "
        "independent: try kernel='wishart' (--kernel wishart)."
    )


def _profiles(
    source: object, draws: Draws, labels: Labels, observed: Observations, prob: float
) -> Profiles:
    """Return profiles by the model if there is one, otherwise by the data."""
    if _is_fit(source) and observed.values is source.values:
        return source.profiles(labels, prob=prob)
    return profiles_of(draws, labels, data=observed.values, names=observed.titles, prob=prob)


def _estimate_for_comparison(
    draws: Posterior, loss: Loss, main: PointEstimate, search_options: dict[str, Any]
) -> PointEstimate:
    if main.loss == loss:
        return main
    method = "auto" if search_options["method"] in ("ilp", "hasse") else search_options["method"]
    more: dict[str, Any] = {"method": method, "bound": None}
    if method == "auto" and main.search.settled is not None:  # by passes: items are very many
        more = {"method": "brief", "bound": None, "starts": main.labels}
    return estimate_of(draws, loss=loss, **{**search_options, **more})


def _side_by_side(
    posterior: Posterior, main: PointEstimate, vi: PointEstimate, binder: PointEstimate
) -> LossComparison:
    estimates = {"VI": vi, "Binder": binder}
    if main.loss not in (vi.loss, binder.loss):
        estimates[repr(main.loss)] = main
    losses: tuple[Loss, ...] = (binder.loss, VILowerBound(), vi.loss)
    expected = [
        np.array([posterior.expected(loss, found.labels) for found in estimates.values()])
        for loss in losses
    ]
    return LossComparison(
        names=tuple(estimates),
        n_clusters=np.array([found.n_clusters for found in estimates.values()]),
        expected_binder=expected[0],
        expected_vi_lb=expected[1],
        expected_vi=expected[2],
        vi_distance=_distance(vi.loss, vi.labels, binder.labels),
        binder_distance=_distance(binder.loss, vi.labels, binder.labels),
    )


def _distance(loss: Loss, a: Labels, b: Labels) -> float:
    return float(loss.against(a.size)(a, b[None, :], np.array([int(b.max()) + 1]))[0])


def _observations(draws: object, data: DataLike | None, n_items: int) -> Observations | None:
    """The data given, else those that sampler output or a summary brings."""
    if data is not None:
        return as_observations(data, n_items)
    if _is_fit(draws) and isinstance(draws.values, np.ndarray):  # and not rows on workers
        return Observations(
            draws.values, draws.columns, draws.kernel.categories(len(draws.columns))
        )
    if isinstance(draws, Summary) and draws.data is not None:
        return Observations(draws.data, draws.data_names, draws.data_categories)
    return None


def _clean_path(path: bool | tuple[float, float] | None) -> bool | tuple[float, float] | None:
    if path is None or isinstance(path, (bool, np.bool_)):
        return None if path is None else bool(path)
    try:
        low, high = path
    except (TypeError, ValueError):
        wanted = "True, False, or the lowest and the highest price, as in (0.5, 1.5)"
        raise unexpected(path, "path", wanted) from None
    return clean_prices(low, high)


# ---------------------------------------------------------------- in files

_SUMMARY = Form("partita summary", 2)


def save_summary(summary: AnySummary, path: PathLike, *, overwrite: bool = False) -> None:
    """Write a summary to one file, atomically."""
    write_parts(path, _SUMMARY, "summary", summary, overwrite=overwrite)


def load_summary(path: PathLike) -> AnySummary:
    """Read a summary written by :func:`save_summary`."""
    found = read_parts(path, _SUMMARY, "summary")
    if not isinstance(found, AnySummary):
        raise FileFormatError(f"{path} holds a {type(found).__name__}, not a summary.")
    try:
        check_parts(found)
        summary = _fill_missing_parts(found) if isinstance(found, Summary) else found
        _check_use(summary)
    except Exception as error:
        raise FileFormatError(f"{path} is damaged: {error}.") from error
    return summary


def _fill_missing_parts(summary: Summary) -> Summary:
    """The summary with what its file left out, and the parts that earlier versions lack."""
    asked = summary.options.get
    constraints = constraints_in_words(
        asked("n_clusters"), asked("min_size") or 1, asked("max_clusters")
    )
    if constraints and not summary.estimate.constraints:  # earlier versions kept options only
        found = replace(summary.estimate, constraints=constraints)
        summary = replace(summary, estimate=found)
    if summary.path is not None:
        path = replace(summary.path, _draws=summary.draws.unique())
        summary = replace(summary, path=path)
    if summary.items is not None:
        return summary
    jaccard = summary.clusters.jaccard
    comparison = compare(np.array(summary.labels), summary.draws, jaccard=jaccard)
    items = uncertainty.items_from(comparison, summary.draws)
    return replace(summary, items=items, clusters=uncertainty.clusters_from(comparison))


def _check_use(summary: AnySummary) -> None:
    """Raise an error, of whatever kind, unless the summary can be shown and its ball asked."""
    str(summary), repr(summary), summary.to_dict()
    ball, n_draws = summary.ball, summary.draws.n_draws
    if ball.distances.shape != (n_draws,) or ball.inside.shape != (n_draws,):
        raise ValueError("its ball has not one distance for each draw")
    if not ball.contains(summary):
        raise ValueError("its estimate lies outside of its ball")
