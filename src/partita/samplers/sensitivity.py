"""Would another prior say the same? Draws reweighted to it, and what changes over a grid."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from partita._resources import Clock
from partita._result import Page, Result, Table
from partita._validate import Rng, probability, seconds, unexpected
from partita._wording import brief, counted, in_list, in_unit, percent
from partita.credible.ball import credible_ball
from partita.draws import Draws, as_draws
from partita.errors import InvalidInputError, NotSupportedError, ReweightingError
from partita.kernels.arrays import Bools, Floats, Ints
from partita.labels import DrawsLike, Labels, LabelsLike, data_frame, shared_items
from partita.losses.base import Loss
from partita.losses.builtin import VI
from partita.losses.evaluate import as_loss
from partita.mcmc import MAX_K_HAT, ess_mean, is_doubtful, pareto_smoothed
from partita.posterior import Posterior
from partita.samplers.finite_mixture import FiniteMixture
from partita.samplers.priors import (
    PRIORS,
    DirichletProcess,
    Gamma,
    PartitionPrior,
    PitmanYor,
    clean_prior,
    concentration_for,
)
from partita.scan import by_chain, cluster_sizes, map_blocks, shapes_of, weighted_error
from partita.search.estimate import estimate as estimate_of

if TYPE_CHECKING:
    import pandas as pd

    from partita.samplers.fit import Fit
    from partita.search.result import PointEstimate

MIN_EFFECTIVE = 100.0
"""Effective draws below which draws are not reweighted."""


@dataclass(frozen=True, eq=False, repr=False)
class Reweighting(Result):
    """How draws were reweighted to another prior; see ``Draws.reweighting``.

    Attributes
    ----------
    prior, from_prior : str
        The prior that the weights stand for, and the one that the draws were made under.
    n_effective : float
        Kish's effective number of draws, 1/Σw².
    ess : float
        The effective number that counts the correlation within chains, too: for the number
        of clusters and the entropy, the smaller one.
    k_hat : float
        Shape of the Pareto tail of the weights; above 0.7 they are refused, unless they hardly
        differ (90% of the draws effective). −∞ where the largest weight is that of many draws; NaN
        where draws came with weights or are very few.
    log_evidence_ratio : float
        Log of the ratio of the evidences p(data) under the two priors: of the mean weight. NaN
        where a prior's constant is not known.
    log_evidence_ratio_mcse : float
        Its Monte Carlo standard error, correlation within chains counted.
    n_impossible : int
        Draws that the new prior forbids, which are left out.
    log_ratio : ndarray of float, shape (n_draws,)
        log p'(c)/p(c) of each draw, before smoothing.
    base : ndarray of float, shape (n_draws,), or None
        The weights that the draws had before.
    """

    prior: str
    from_prior: str
    n_effective: float
    ess: float
    k_hat: float
    log_evidence_ratio: float
    log_evidence_ratio_mcse: float
    n_impossible: int
    log_ratio: Floats
    base: Floats | None

    def __repr__(self) -> str:
        return (
            f"<Reweighting to {self.prior}: {self.n_effective:,.0f} effective draws, "
            f"k-hat {self.k_hat:.2f}, log evidence ratio {self.log_evidence_ratio:.2f} ± "
            f"{self.log_evidence_ratio_mcse:.2f}>"
        )


def reweight(draws: Draws, prior: PartitionPrior, from_prior: PartitionPrior | None) -> Draws:
    """The draws with weights for another prior; see ``Draws.reweighted``."""
    if draws.kind == "ensemble":
        raise NotSupportedError(
            "these are runs of an ensemble, which have no prior to exchange.", argument="prior"
        )
    prior, from_prior = clean_prior(prior, "prior"), _own_prior(from_prior, "draws.reweighted")
    found = importance_weights(draws, prior, from_prior)
    record = found.reweighting
    assert record is not None
    if np.ptp(record.log_ratio) == 0.0 and not record.n_impossible:  # the same weights
        return found
    effective = min(record.n_effective, record.ess)
    doubtful = is_doubtful(record.k_hat, record.n_effective / draws.n_draws)
    if effective < MIN_EFFECTIVE or doubtful:
        chains = "" if record.ess >= record.n_effective else f", {record.ess:,.0f} within chains"
        raise ReweightingError(
            f"draws under {from_prior!r} say too little about {prior!r}: the weights leave "
            f"{record.n_effective:,.0f} effective draws of {draws.n_draws:,}{chains} "
            f"({MIN_EFFECTIVE:.0f} are needed), k-hat is {record.k_hat:.2f} (at most "
            f"{MAX_K_HAT:g}). Sample again under that prior, or choose one that is closer.",
            n_effective=record.n_effective,
            ess=record.ess,
            k_hat=record.k_hat,
        )
    return found


def _own_prior(from_prior: PartitionPrior | None, function: str) -> PartitionPrior:
    """The prior of draws that do not know it."""
    if from_prior is None:
        raise InvalidInputError(
            "these draws do not say under which prior they were made. Give it, "
            f"as in {function}(…, from_prior=pt.DirichletProcess(1.0)).",
            argument="from_prior",
        )
    return clean_prior(from_prior, "from_prior")


def importance_weights(draws: Draws, prior: PartitionPrior, from_prior: PartitionPrior) -> Draws:
    """The draws with weights ∝ p'(c)/p(c), however few remain effective."""
    sizes = sizes_of(draws)
    new, old = prior.log_probability_of_sizes(sizes), from_prior.log_probability_of_sizes(sizes)
    if not np.isfinite(old).all():
        m = int(np.flatnonzero(~np.isfinite(old))[0])
        raise InvalidInputError(
            f"draw {m} has {int(draws.n_clusters[m])} clusters, which {from_prior!r} does not "
            "allow: these draws were made under another prior.",
            argument="from_prior",
        )
    _check_support(prior, from_prior, draws.n_items)
    before = draws.reweighting
    base = draws.weights if before is None else before.base
    log_ratio = new - old + (0.0 if before is None else before.log_ratio)
    possible = np.isfinite(log_ratio)
    if not possible.any():
        raise ReweightingError(
            f"no draw is possible under {prior!r}. Sample again under that prior.",
            n_effective=0.0,
            ess=0.0,
            k_hat=math.nan,
        )
    smoothed, k_hat = _smoothed(draws, log_ratio, base)
    left_out = 0 if before is None else before.n_impossible
    share = np.full(draws.n_draws, 1.0 / (draws.n_draws + left_out)) if base is None else base
    highest = float(smoothed.max())
    ratio = np.exp(smoothed - highest)
    mean = float(ratio @ share)
    weights = ratio * share / mean
    known = prior.is_normalised(draws.n_items) and from_prior.is_normalised(draws.n_items)
    error = weighted_error(draws._with(weights=base), ratio) / mean
    record = Reweighting(
        prior=repr(prior),
        from_prior=repr(from_prior) if before is None else before.from_prior,
        n_effective=1.0 / float(np.square(weights).sum()),
        ess=_effective(draws, weights),
        k_hat=k_hat,
        log_evidence_ratio=math.log(mean) + highest if known else math.nan,
        log_evidence_ratio_mcse=error if known else math.nan,
        n_impossible=int((~possible).sum()) + left_out,
        log_ratio=log_ratio[possible],
        base=None if base is None else base[possible],
    )
    kept = draws if possible.all() else draws._take(possible)
    return kept._with(weights=weights[possible], reweighting=record)


def _check_support(prior: PartitionPrior, from_prior: PartitionPrior, n_items: int) -> None:
    """Refuse a prior with clusterings that the draws could never have been."""
    most, allowed = (p.most_clusters() or n_items for p in (prior, from_prior))
    if min(most, n_items) > allowed:
        raise ReweightingError(
            f"{from_prior!r} allows {allowed} clusters at most, {prior!r} allows more: no weights "
            "make up for clusterings that were never drawn. Sample again under that prior.",
            n_effective=0.0,
            ess=0.0,
            k_hat=math.inf,
        )


def _smoothed(draws: Draws, log_ratio: Floats, base: Floats | None) -> tuple[Floats, float]:
    """Log weights, smoothed where draws came without weights of their own, and k-hat.

    Weights of their own may be exact masses, as those of ``unique``: of these there is no tail.
    """
    if base is not None:
        return log_ratio, math.nan
    possible = np.isfinite(log_ratio)
    ratio = np.exp(np.where(possible, log_ratio, -math.inf) - log_ratio[possible].max())
    chains = by_chain(draws, ratio)
    effective = ess_mean(chains) if chains.shape[1] >= 8 and np.ptp(chains) > 0 else chains.size
    smoothed, k_hat = pareto_smoothed(log_ratio[possible], min(1.0, effective / chains.size))
    found = np.full(log_ratio.size, -math.inf)
    found[possible] = smoothed + log_ratio[possible].max()
    return found, k_hat


def _effective(draws: Draws, weights: Floats) -> float:
    """Effective draws with the correlation within chains: of cluster numbers and entropy."""
    used = draws._with(weights=np.maximum(weights, np.finfo(np.float64).tiny))
    least = used.n_effective
    for values in (draws.n_clusters.astype(np.float64), shapes_of(draws, 1)[0]):
        error = weighted_error(used, values)
        spread = float(weights @ np.square(values - weights @ values))
        if error > 0.0:
            least = min(least, spread / error**2)
    return least


def sizes_of(draws: Draws) -> Ints:
    """Cluster sizes of each draw, (n_draws, most clusters), 0 for none."""
    counted = partial(cluster_sizes, most=int(draws.n_clusters.max()))
    return np.concatenate(list(map_blocks(counted, draws)))


# ---------------------------------------------------------------- a grid of priors


@dataclass(frozen=True, eq=False, repr=False)
class PriorSensitivity(Result):
    """What would be reported under other priors. Made by :func:`prior_sensitivity`.

    One entry per prior to which the draws could be reweighted; the prior of the draws is among
    them. Priors of the grid come in the order of their concentration.

    Attributes
    ----------
    priors : tuple of str, length n_priors
    scale : ndarray of float, shape (n_priors,)
        Concentration (of a learned one its prior mean) or weight; NaN for priors that are not
        of the draws' own kind.
    parameter : str
        What ``scale`` is: "concentration", "prior mean of the concentration", "weight", …
    own : int
        Position of the prior of the draws.
    labels : ndarray of int, shape (n_priors, n_items)
        The estimate under each prior.
    n_clusters : ndarray of int64, shape (n_priors,)
        Of these estimates.
    distance : ndarray of float, shape (n_priors,)
        To the reported estimate, in ``loss``.
    excess, excess_mcse : ndarray of float, shape (n_priors,)
        Expected loss of the reported estimate under the prior above that of its own estimate, and
        the Monte Carlo error: within two of these the draws cannot tell the two apart.
    expected_clusters, expected_clusters_mcse : ndarray of float, shape (n_priors,)
        Posterior mean of the number of clusters, and its Monte Carlo error.
    radius : ndarray of float, shape (n_priors,)
        Of the credible ball around each estimate.
    jaccard : ndarray of float, shape (n_priors, n_reported)
        Of each reported cluster with the nearest one of the estimate; 1 where it is there as it is.
    n_effective, ess : ndarray of float, shape (n_priors,)
        Effective draws, by Kish and with the correlation within chains.
    log_evidence_ratio, log_evidence_ratio_mcse : ndarray of float, shape (n_priors,)
        Of each prior to that of the draws.
    refused : tuple of str
        Priors about which the draws say too little.
    refused_scale, refused_effective, refused_k_hat : ndarray of float, shape (n_refused,)
        Their scales, and the effective draws and k-hat of their weights.
    missing : tuple of str
        Priors that a time limit or Ctrl-C left no time for; nothing is said about them.
    estimate : ndarray of int, shape (n_items,)
        What is reported.
    loss : Loss
        The metric of distances and radii.
    prob : float
        Of the balls.
    """

    priors: tuple[str, ...]
    scale: Floats
    parameter: str
    own: int
    labels: Labels
    n_clusters: Ints
    distance: Floats
    excess: Floats
    excess_mcse: Floats
    expected_clusters: Floats
    expected_clusters_mcse: Floats
    radius: Floats
    jaccard: Floats
    n_effective: Floats
    ess: Floats
    log_evidence_ratio: Floats
    log_evidence_ratio_mcse: Floats
    refused: tuple[str, ...]
    refused_scale: Floats
    refused_effective: Floats
    refused_k_hat: Floats
    estimate: Labels
    loss: Loss
    prob: float
    missing: tuple[str, ...] = ()

    def __len__(self) -> int:
        return len(self.priors)

    @property
    def same(self) -> Bools:
        """Under which priors the estimate is the reported one, (n_priors,)."""
        return np.asarray(self.distance < 1e-9)

    @property
    def alike(self) -> Bools:
        """Where it is, or differs by at most two Monte Carlo errors of the expected loss."""
        return np.asarray(self.same | (self.excess <= 2.0 * self.excess_mcse))

    @property
    def survives(self) -> Bools:
        """Which reported clusters have one that is nearly theirs (Jaccard 0.5), (n_priors, k)."""
        return np.asarray(self.jaccard >= _SURVIVES)

    @property
    def sentence(self) -> str:
        """One sentence for the paper: over which priors the reported clusters are the estimate."""
        unknown = f" There was no time for {in_list(self.missing)}." if self.missing else ""
        return self._said() + unknown

    def _said(self) -> str:
        k = int(self.estimate.max()) + 1
        if not self.same[self.own]:
            return self._not_the_estimate(k)
        subject = f"The {k:,} clusters are" if k > 1 else "One cluster is"
        on_scale = np.flatnonzero(np.isfinite(self.scale)).tolist()
        others = np.flatnonzero(~np.isfinite(self.scale)).tolist()
        where, away = [], []
        if len(on_scale) > 1:
            low = high = on_scale.index(self.own)
            while low > 0 and self.same[on_scale[low - 1]]:
                low -= 1
            while high + 1 < len(on_scale) and self.same[on_scale[high + 1]]:
                high += 1
            first, last = (f"{self.scale[on_scale[at]]:.3g}" for at in (low, high))
            values = f"all {high - low + 1} values of the {self.parameter} tried from {first} to"
            where.append(
                f"at {values} {last}" if low < high else f"at the {self.parameter} {first}"
            )
            beside = [at for at in (low - 1, high + 1) if 0 <= at < len(on_scale)]
            away = [(f"at {self.scale[on_scale[at]]:.3g}", on_scale[at]) for at in beside]
        elif not others:
            where.append(f"under {self.priors[self.own]}")
        if agreeing := [self.priors[m] for m in others if self.same[m]]:
            where.append(f"under {in_list(agreeing)}")
        away += [(f"under {self.priors[m]}", m) for m in others if not self.same[m]]
        parts = [f"{subject} the estimate {' and '.join(where)}"] if where else []
        parts += [
            f"{at} it has {counted(int(self.n_clusters[m]), 'cluster')}{self._away(m)}"
            for at, m in away
        ]
        said = "; ".join(parts)
        said = said[0].upper() + said[1:]
        beyond = [
            name if math.isnan(scale) else f"the {self.parameter} {scale:.3g}"
            for name, scale in zip(self.refused, self.refused_scale, strict=True)
        ]
        if beyond:
            said += f". The draws say too little about {in_list(beyond)}: sample again"
        return f"{said}."

    def _not_the_estimate(self, k: int) -> str:
        """The sentence on a partition that is not the estimate under the draws' own prior."""
        there = counted(int(self.n_clusters[self.own]), "cluster")
        said = (
            f"The {counted(k, 'cluster')} asked about are not the estimate under "
            f"{self.priors[self.own]}, which has {there}{self._away(self.own)}"
        )
        agreeing = [self.priors[m] for m in np.flatnonzero(self.same).tolist()]
        where = f"under {in_list(agreeing)} they are" if agreeing else "nor under any other tried"
        return f"{said}; {where}."

    def _away(self, at: int) -> str:
        """How far an estimate is from the reported one, and whether that is more than noise."""
        away = in_unit(brief(float(self.distance[at])), self.loss.unit)
        noise = ", within Monte Carlo error" if self.alike[at] else ""
        return f" ({away} away{noise})"

    def table(self) -> Table:
        """One row per prior, as text."""
        rows: list[tuple[str, ...]] = [
            (
                f"{name} (own)" if m == self.own else name,
                f"{self.n_clusters[m]:,}",
                brief(float(self.distance[m])),
                f"{int(self.survives[m].sum())} of {self.jaccard.shape[1]}",
                f"{self.expected_clusters[m]:.2f} ± {self.expected_clusters_mcse[m]:.2f}",
                brief(float(self.radius[m])),
                f"{self.log_evidence_ratio[m]:.2f} ± {self.log_evidence_ratio_mcse[m]:.2f}",
                f"{min(self.ess[m], self.n_effective[m]):,.0f}",
            )
            for m, name in enumerate(self.priors)
        ]
        rows += [
            (
                name,
                *["–"] * 6,
                f"{left:,.0f}: refused" if left < MIN_EFFECTIVE else f"k-hat {k_hat:.2f}: refused",
            )
            for name, left, k_hat in zip(
                self.refused, self.refused_effective, self.refused_k_hat, strict=True
            )
        ]
        rows += [(name, *["–"] * 6, "not reached") for name in self.missing]
        columns = (
            *("Prior", "Clusters", "Distance", "Clusters that survive", "Mean number"),
            *(f"{percent(self.prob)} radius", "Log evidence ratio", "Effective draws"),
        )
        caption = "The estimate under other priors, from the same draws with other weights."
        return Table(caption, columns, tuple(rows))

    def to_columns(self) -> dict[str, list[Any]]:
        """One entry per prior, by name."""
        names = (
            *("scale", "n_clusters", "distance", "excess", "excess_mcse", "expected_clusters"),
            *("expected_clusters_mcse", "radius", "n_effective", "ess", "log_evidence_ratio"),
            "log_evidence_ratio_mcse",
        )
        found = {name: getattr(self, name).tolist() for name in names}
        found["n_surviving"] = self.survives.sum(axis=1).tolist()
        return found

    def to_frame(self) -> pd.DataFrame:
        """One row per prior."""
        return data_frame(self.to_columns(), of="priors", index=self.priors, name="prior")

    def __repr__(self) -> str:
        same = f"{int(self.same.sum())} of {len(self)} priors"
        return (
            f"<PriorSensitivity: the reported estimate under {same}, {len(self.refused)} refused"
            f"{f', {len(self.missing)} not reached' if self.missing else ''}>"
        )

    def __str__(self) -> str:
        return f"{self.table().text()}\n{self.sentence}"

    def _page(self) -> Page:
        return Page("Would another prior say the same?", (), [self.table()], (), [self.sentence])


_SURVIVES = 0.5
"""Jaccard similarity from which on a reported cluster has survived, as in cluster_uncertainty."""

_STEPS = 4
"""Times that a concentration is halved, and doubled, at most."""


def prior_sensitivity(
    source: Fit | DrawsLike,
    priors: Sequence[PartitionPrior] | None = None,
    *,
    from_prior: PartitionPrior | None = None,
    estimate: LabelsLike | None = None,
    loss: str | Loss = "vi",
    prob: float = 0.95,
    time_limit: float | None = None,
    rng: Rng | None = None,
    n_jobs: int | None = None,
) -> PriorSensitivity:
    """Would another prior say the same? The estimate under a grid of priors, from the same draws.

    The draws are reweighted to each prior (:meth:`Fit.reweighted`), and the estimate is searched
    again under these weights. By default the concentration is halved and doubled until the draws
    say too little about it, four times at most, and a Dirichlet or Pitman–Yor process is exchanged
    for a mixture of finite mixtures with as many expected clusters, and the other way round.

    Parameters
    ----------
    source : Fit, or anything as_draws accepts
    priors : sequence of PartitionPrior, optional
        The grid, in place of the default one.
    from_prior : PartitionPrior, optional
        The prior of the draws, where they are not those of a fit.
    estimate : array_like, shape (n_items,), or an estimate, optional
        What is reported; by default the estimate under the draws' own prior.
    loss : str or Loss
        Of the estimates. Distances and radii are in it, or in VI where it is not a metric.
    prob : float
        Of the credible balls.
    time_limit : float, optional
        Seconds after which the priors that are done are returned, as after Ctrl-C; ``missing``
        names the others. The reported estimate takes at most half of them.
    rng : int, SeedSequence or Generator, optional
        Seed of the searches; the same by default.
    n_jobs : int, optional
        Threads; by default every core.

    Returns
    -------
    PriorSensitivity
        For each prior the estimate, its distance to the reported one, which reported clusters
        survive, the mean number of clusters, the radius of the ball, the ratio of evidences and
        the effective number of draws; ``sentence`` for the paper.

    Notes
    -----
    Priors that the draws say too little about are refused, and named. What is said holds for the
    priors tried: nothing is claimed between them. Cost: one search and one ball for each prior.

    Examples
    --------
    >>> import partita as pt
    >>> one = pt.DirichletProcess(1.0)
    >>> data = pt.datasets.galaxies()
    >>> fit = pt.sample(data, kernel="empirical", prior=one, draws=500, chains=4, rng=0)
    >>> found = pt.prior_sensitivity(fit, [pt.DirichletProcess(0.5)])
    >>> found.priors
    ('DirichletProcess(0.5)', 'DirichletProcess(1)')
    """
    draws, own = _draws_and_prior(source, from_prior)
    chosen, level, limit = as_loss(loss), probability(prob), seconds(time_limit)
    clock = Clock(limit)
    if estimate is None:
        half = None if limit is None else 0.5 * limit
        shared: dict[str, Any] = {"bound": None, "rng": rng, "n_jobs": n_jobs, "progress": False}
        with clock:  # Ctrl-C ends the rest, too
            reported = estimate_of(draws, loss=chosen, time_limit=half, **shared).labels
        known = True
    else:
        reported, known = draws.clean(estimate, "estimate"), False
    grid = _Grid(draws, own, clock)
    if priors is None:
        grid.fill(_STEPS)
    else:
        for prior in _clean_priors(priors):
            grid.add(prior)
    return _estimates_over_grid(grid, reported, known, chosen, level, rng, n_jobs)


def sensitivity_of_fit(
    fit: Fit,
    found: PointEstimate,
    *,
    brief: bool,
    prob: float,
    rng: Rng | None,
    n_jobs: int | None,
    clock: Clock,
) -> PriorSensitivity:
    """Like ``prior_sensitivity``, around an estimate; in brief, with one step to either side."""
    grid = _Grid(fit.draws, fit.prior, clock)
    grid.fill(1 if brief else _STEPS)
    known = not found.constraints and found.method == "auto"
    return _estimates_over_grid(grid, found.labels, known, found.loss, prob, rng, n_jobs)


def is_quick(prior: PartitionPrior) -> bool:
    """Whether there is a default grid, and probabilities of many partitions take no time.

    Those of mixtures that learn their weight take up to a millisecond for each draw.
    """
    if isinstance(prior, FiniteMixture):
        return isinstance(prior.weight, float) and not prior.dynamic
    return isinstance(prior, (DirichletProcess, PitmanYor))


def _estimates_over_grid(
    grid: _Grid,
    reported: Labels,
    known: bool,
    loss: Loss,
    prob: float,
    rng: Rng | None,
    n_jobs: int | None,
) -> PriorSensitivity:
    """The estimate under each prior of a grid; under its own it may be known to be the reported."""
    metric = loss if loss.is_metric else VI()
    reported = np.asarray(reported, np.int32)
    entries, own = grid.ordered()
    search: dict[str, Any] = {"loss": loss, "bound": None, "rng": rng, "n_jobs": n_jobs}
    search["progress"] = False
    row = _estimate_under(
        entries[own][1], reported, metric, prob, None if known else search, grid.clock
    )
    rows: dict[int, dict[str, Any]] = {own: row | _weight_diagnostics(entries[own][1], is_own=True)}
    for m, (prior, found) in enumerate(entries):
        if m == own:
            continue
        try:
            if not grid.clock.is_up():
                row = _estimate_under(found, reported, metric, prob, search, grid.clock)
                if not row["cut_short"]:
                    rows[m] = row | _weight_diagnostics(found, is_own=False)
        except KeyboardInterrupt:
            grid.clock.interrupt()
        if m not in rows:
            grid.missing.append(prior)
    entries, own = [entries[m] for m in sorted(rows)], sorted(rows).index(own)
    names = rows[min(rows)].keys() - {"cut_short"}
    columns: dict[str, Any] = {
        name: np.array([rows[m][name] for m in sorted(rows)]) for name in names
    }
    refused = grid.refused
    return PriorSensitivity(
        priors=tuple(named(prior) for prior, _ in entries),
        scale=np.array([grid.scale(prior) for prior, _ in entries]),
        parameter=_parameter(grid.own),
        own=own,
        refused=tuple(named(prior) for prior, _ in refused),
        refused_scale=np.array([grid.scale(prior) for prior, _ in refused], np.float64),
        refused_effective=np.array([min(e.n_effective, e.ess) for _, e in refused], np.float64),
        refused_k_hat=np.array([error.k_hat for _, error in refused], np.float64),
        estimate=reported,
        loss=metric,
        prob=prob,
        missing=tuple(named(prior) for prior in grid.missing),
        **columns,
    )


def _draws_and_prior(source: Any, from_prior: Any) -> tuple[Draws, PartitionPrior]:
    from partita.samplers.fit import Fit

    if isinstance(source, Fit) and from_prior is None:
        return source.draws, source.prior
    return as_draws(source), _own_prior(from_prior, "prior_sensitivity")


def _clean_priors(priors: Any) -> list[PartitionPrior]:
    found = list(priors) if isinstance(priors, Sequence) else [priors]
    if not found or not all(isinstance(prior, PartitionPrior) for prior in found):
        raise unexpected(priors, "priors", f"a list of {PRIORS}")
    return found


class _Grid:
    """Priors with the draws reweighted to them; its own is the first of them.

    Those that there is no time for are missing.
    """

    def __init__(self, draws: Draws, own: PartitionPrior, clock: Clock) -> None:
        self.draws, self.own, self.clock = draws, own, clock
        self.missing: list[PartitionPrior] = []
        self.entries: list[tuple[PartitionPrior, Draws]] = [(own, draws)]
        self.refused: list[tuple[PartitionPrior, ReweightingError]] = []

    def add(self, prior: PartitionPrior) -> bool:
        """Whether the draws say enough about a prior, or there is no time to ask."""
        if prior == self.own:
            return True
        try:
            if self.clock.is_up():
                self.missing.append(prior)
                return True
            found = reweight(self.draws, prior, self.own)
        except KeyboardInterrupt:
            self.clock.interrupt()
            self.missing.append(prior)
            return True
        except ReweightingError as error:
            self.refused.append((prior, error))
            return False
        self.entries.append((prior, found))
        return True

    def fill(self, n_steps: int) -> None:
        """Halve and double until refused, and take the other kind of prior."""
        other = _other_kind(self.own, self.draws.n_items)
        if other is None:
            raise InvalidInputError(
                f"{named(self.own)} has no concentration to halve and double; say which priors to "
                "try: priors=[pt.DirichletProcess(1.0), …].",
                argument="priors",
            )
        for factor in (0.5, 2.0):
            steps = (_scaled(self.own, factor**step) for step in range(1, n_steps + 1))
            all(self.add(prior) for prior in steps)  # ends at the first that is refused
        self.add(other)

    def scale(self, prior: PartitionPrior) -> float:
        """The concentration or weight of a prior of the draws' own kind; else NaN."""
        alike = type(prior) is type(self.own) and _shape(prior) == _shape(self.own)
        return _scale(prior) if alike else math.nan

    def ordered(self) -> tuple[list[tuple[PartitionPrior, Draws]], int]:
        """Entries by their scale, those of other kinds last; and where its own is."""
        scales = [self.scale(prior) for prior, _ in self.entries]
        order = np.argsort(scales, kind="stable").tolist()  # which puts NaN last
        return [self.entries[m] for m in order], order.index(0)


def _value(prior: PartitionPrior) -> Any:
    """The concentration or weight of a prior, or the law of it; NaN where it has none."""
    return getattr(prior, prior.parameter) if prior.parameter else math.nan


def _parameter(prior: PartitionPrior) -> str:
    """The name of the parameter that ``_scale`` holds."""
    fixed = isinstance(_value(prior), float)
    return prior.parameter if fixed else f"prior mean of the {prior.parameter}"


def _scale(prior: PartitionPrior) -> float:
    """The concentration or weight, or the mean of its prior."""
    value = _value(prior)
    value = value.mean if isinstance(value, Gamma) else value
    return value if isinstance(value, float) else math.nan


def _shape(prior: PartitionPrior) -> Any:
    """All of a prior but its scale: equal for the priors of one axis."""
    if not math.isfinite(_scale(prior)):
        return None
    value = _value(prior)
    one: Any = Gamma(value.shape, value.shape) if isinstance(value, Gamma) else 1.0
    return replace(prior, **{prior.parameter: one})  # type: ignore[type-var]


def _scaled(prior: PartitionPrior, factor: float) -> PartitionPrior:
    """The prior with its concentration or weight times a factor; of a learned one, its mean."""
    value = _value(prior)
    if isinstance(value, Gamma):
        value = Gamma(value.shape, value.rate / factor)
    elif isinstance(value, float):  # of a Pitman–Yor process its distance from −discount
        shift = getattr(prior, "discount", 0.0) if value <= 0.0 else 0.0
        value = (value + shift) * factor - shift
    else:  # an F law has no scale: its middle is where chains start
        value = factor * (value.mode or 1.0)
    return replace(prior, **{prior.parameter: value})  # type: ignore[type-var]


def _other_kind(prior: PartitionPrior, n_items: int) -> PartitionPrior | None:
    """A finite mixture for a process and a Dirichlet process for it, with as many clusters."""
    if isinstance(prior, (DirichletProcess, PitmanYor)):
        return FiniteMixture(mean_components=max(round(prior.expected_clusters(n_items), 1), 1.5))
    if isinstance(prior, FiniteMixture):
        expected = min(max(prior.expected_clusters(n_items), 1.01), 0.99 * n_items)
        return DirichletProcess(float(f"{concentration_for(expected, n_items=n_items):.3g}"))
    return None


def named(prior: PartitionPrior) -> str:
    """A prior in few words: DirichletProcess(0.5), FiniteMixture(1, mean_components=5)."""
    if isinstance(prior, DirichletProcess):
        return f"DirichletProcess({_brief(prior.concentration)})"
    if isinstance(prior, PitmanYor):
        return f"PitmanYor({_brief(prior.concentration)}, {prior.discount:g})"
    if isinstance(prior, FiniteMixture) and prior.components is None:
        dynamic = ", dynamic" if prior.dynamic else ""
        mean = f"mean_components={prior.mean_components:g}"
        return f"FiniteMixture({_brief(prior.weight)}, {mean}{dynamic})"
    text = repr(prior)
    return text if len(text) <= 60 else f"{text[:59]}…"


def _brief(value: Any) -> str:
    if isinstance(value, float):
        return f"{value:.4g}"
    numbers = [f"{getattr(value, name):.4g}" for name in value.__dataclass_fields__]
    return f"{type(value).__name__}({', '.join(numbers)})"


def _estimate_under(
    draws: Draws,
    reported: Labels,
    metric: Loss,
    prob: float,
    search: dict[str, Any] | None,
    clock: Clock,
) -> dict[str, Any]:
    """The report under one prior; without a search under the draws' own."""
    n_jobs = None if search is None else search["n_jobs"]
    posterior = Posterior(draws, n_jobs)
    labels = reported
    cut_short = False
    if search is not None:
        # No time left would be no search: a moment is needed for any answer.
        left = None if clock.deadline is None else max(clock.left, 0.01)
        with clock:
            found = estimate_of(posterior, starts=reported, time_limit=left, **search)
        labels, cut_short = found.labels, found.search.interrupted
    ball = credible_ball(posterior, labels, prob=prob, loss=metric, n_jobs=n_jobs)
    k = draws.n_clusters.astype(np.float64)
    more = posterior.distances(metric, reported) - posterior.distances(metric, labels)
    return {
        "cut_short": cut_short,
        "labels": np.asarray(labels, np.int32),
        "n_clusters": int(labels.max()) + 1,
        "distance": float(_distance_between(metric, reported, labels)),
        "excess": float(draws.probabilities @ more),
        "excess_mcse": weighted_error(draws, more),
        "expected_clusters": float(draws.probabilities @ k),
        "expected_clusters_mcse": weighted_error(draws, k),
        "radius": ball.radius,
        "jaccard": _jaccards(reported, labels),
        "n_effective": draws.n_effective,
    }


def _weight_diagnostics(draws: Draws, *, is_own: bool) -> dict[str, float]:
    """Effective draws, and the ratio of evidences to the draws' own prior."""
    record = None if is_own else draws.reweighting
    if record is None:
        ess = _effective(draws, draws.probabilities)
        return {"ess": ess, "log_evidence_ratio": 0.0, "log_evidence_ratio_mcse": 0.0}
    return {
        "ess": record.ess,
        "log_evidence_ratio": record.log_evidence_ratio,
        "log_evidence_ratio_mcse": record.log_evidence_ratio_mcse,
    }


def _distance_between(metric: Loss, a: Labels, b: Labels) -> float:
    rows = np.asarray(b, np.int32)[None, :]
    return float(metric.against(a.size)(a, rows, np.array([int(b.max()) + 1]))[0])


def _jaccards(reported: Labels, found: Labels) -> Floats:
    """Jaccard index of each reported cluster with the nearest one of another partition."""
    table = shared_items(reported, found)
    union = table.sum(axis=1, keepdims=True) + table.sum(axis=0) - table
    return np.asarray((table / union).max(axis=1))
