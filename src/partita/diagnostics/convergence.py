"""Convergence of chains of partitions, in numbers and in words."""

from __future__ import annotations

from functools import partial

import numpy as np
from numpy.typing import NDArray

from partita._parallel import count_jobs, run
from partita._validate import Rng
from partita.diagnostics.agreement import RARE, agreement_of, inflation_of, times_mean
from partita.diagnostics.drift import Drift, drift, first_tenth
from partita.diagnostics.functionals import functionals, trace_functionals
from partita.diagnostics.result import Diagnostics
from partita.diagnostics.warnings import notes_for, warnings_for
from partita.draws import Draws
from partita.errors import NotSupportedError
from partita.kernels.arrays import Floats
from partita.labels import DrawsLike, LabelsLike, as_labels
from partita.mcmc import ess_bulk, ess_tail, ess_within, mcse_mean, rhat
from partita.posterior import as_posterior
from partita.scan import by_chain, chains_of, long_chains

_MIN_DRAWS = 8
"""Draws per chain below which nothing is estimated: a quarter of a chain needs two."""


def diagnose(
    draws: DrawsLike,
    *,
    estimate: LabelsLike | None = None,
    rng: Rng | None = None,
    n_jobs: int | None = None,
) -> Diagnostics:
    """Check whether the chains behind the draws converged.

    Labels mean nothing across draws, so R-hat and effective sample sizes are
    computed for quantities that do not depend on them: the number of clusters,
    the entropy, the size of the largest cluster, the VI distance to an
    estimate, and, for sampler output, the concentration and the log posterior.

    Parameters
    ----------
    draws : Draws, the output of :func:`sample`, or anything as_draws accepts
    estimate : array_like, shape (n_items,), or an estimate, optional
        Adds the VI distance to it.
    rng : int, SeedSequence or Generator, optional
        Chooses the pairs of items compared between chains when there are many; the same ones by
        default.
    n_jobs : int, optional
        Threads; every core by default. The result does not depend on it.

    Returns
    -------
    Diagnostics
        Numbers, and warnings in words.

    Notes
    -----
    R-hat compares halves of each chain after rank normalisation; a single
    chain is cut into quarters instead, and a note says so: one chain cannot
    show a mode it never visited. A warning needs an R-hat above 1.01 that is also above what
    chance gives to the largest of those looked at, once in a thousand times; and a disagreement
    of pairs beyond Monte Carlo error (:func:`chain_agreement`). The beginnings of the chains,
    up to a tenth, are compared with the rest, for burn-in. Chains of different length are cut to
    the shortest at their beginning; those below eight draws or a tenth of the longest are left
    out, and a note says so. Weighted draws have no order: they get Kish's
    effective number and no R-hat. O(M·N), and O(M·5000) between chains.

    References
    ----------
    Vehtari, A., Gelman, A., Simpson, D., Carpenter, B. and Bürkner, P.-C.
    (2021), Rank-normalization, folding, and localization: An improved R-hat.
    Bayesian Analysis 16.

    Examples
    --------
    >>> import numpy as np, partita as pt
    >>> labels = np.random.default_rng(0).integers(0, 3, size=(2_000, 12))
    >>> draws = pt.Draws(labels, chain=np.repeat([0, 1, 2, 3], 500))
    >>> pt.diagnose(draws).ok
    True
    """
    posterior = as_posterior(draws, n_jobs)
    clean = posterior.draws
    if clean.kind == "ensemble":
        raise NotSupportedError(
            "these are runs of an ensemble, which are no chain: nothing converges in them. If they "
            "are draws of a posterior, say so: as_draws(draws, kind='posterior').",
            argument="draws",
        )
    labels = None
    if estimate is not None:
        labels = as_labels(estimate, n_items=clean.n_items, argument="estimate")
    values = functionals(posterior, estimate=labels)
    values |= trace_functionals(draws, clean.n_draws)
    return diagnose_values(values, clean, rng=rng, n_jobs=n_jobs)


def diagnose_values(
    values: dict[str, NDArray[np.float64]],
    draws: Draws,
    *,
    rng: Rng | None = None,
    n_jobs: int | None = None,
) -> Diagnostics:
    """Diagnostics of functionals already computed."""
    weighted = draws.weights is not None
    compared, columns = draws, values
    if not weighted and not (long := long_chains(draws)).all():
        kept = np.flatnonzero(long[chains_of(draws)[1]])
        compared = draws[kept]
        columns = {name: column[kept] for name, column in values.items()}
    measure = _weighted if weighted else _chained
    # In threads, whatever backend is chosen: the draws would travel for little work.
    table = np.array(run(partial(measure, compared), columns.values(), count_jobs(n_jobs))).T
    mean, sd, mcse, ess_bulk, ess_tail, rhat = table
    if compared is not draws:
        mean = np.array([column.mean() for column in values.values()])
        sd = np.array([column.std(ddof=1) for column in values.values()])
    agreement, start = None, None
    by_chance = np.ones(len(values))
    drifted = Drift(*[float("nan")] * 3)
    if not weighted:
        chained = {name: by_chain(compared, column) for name, column in columns.items()}
        inflation = inflation_of(compared, columns.values(), rng=rng, n_jobs=n_jobs)
        if compared.n_chains > 1:
            agreement = agreement_of(compared, inflation, rng=rng, n_jobs=n_jobs)
        by_chance = np.array([_highest_rhat(c, 2 * len(chained)) for c in chained.values()])
        start = first_tenth(chained)
        if compared.n_draws // compared.n_chains >= _MIN_DRAWS:
            # Slow chains are warned about already: what they explain is no drift.
            slow = max(1.0, compared.n_draws / float(np.nanmin(ess_bulk)))
            drifted = drift(compared, inflation=slow, rng=rng, n_jobs=n_jobs)
    names = tuple(values)
    return Diagnostics(
        names=names,
        mean=mean,
        sd=sd,
        mcse=mcse,
        ess_bulk=ess_bulk,
        ess_tail=ess_tail,
        rhat=rhat,
        n_chains=draws.n_chains,
        n_draws=draws.n_draws,
        agreement=agreement,
        warnings=warnings_for(
            names,
            ess=np.fmin(ess_bulk, ess_tail),
            rhat=rhat,
            by_chance=by_chance,
            agreement=agreement,
            drifted=drifted,
            start=start,
            draws=compared,
        ),
        notes=notes_for(draws, compared, agreement),
        drift_average_sd=drifted.average_sd,
        drift_maximal_sd=drifted.maximal_sd,
        drift_moved=drifted.moved,
    )


def _pieces(chains: Floats) -> Floats:
    """Chains as R-hat compares them: a single one is cut in half, and R-hat halves that again."""
    if chains.shape[0] > 1:
        return chains
    half = chains.shape[1] // 2
    return np.stack([chains[0, :half], chains[0, -half:]])


def _highest_rhat(chains: Floats, n_looks: int) -> float:
    """What R-hat of mixed chains exceeds once in a thousand times, the largest of several.

    Of m halves of chains that are worth S draws, (R-hat² − 1)·S/m is χ²/(m − 1) with m − 1
    degrees of freedom, about.
    """
    if chains.shape[1] < _MIN_DRAWS or np.ptp(chains) == 0.0:
        return 1.0
    pieces = _pieces(chains)
    m = 2 * pieces.shape[0]
    return float(np.sqrt(1.0 + times_mean(m - 1.0, RARE / n_looks) * m / ess_within(pieces)))


def _chained(draws: Draws, column: Floats) -> tuple[float, ...]:
    """Mean, sd, mcse, bulk and tail ESS, R-hat, all over the same draws."""
    chains = by_chain(draws, column)
    mean = float(column.mean())
    sd = float(column.std(ddof=1)) if column.size > 1 else float("nan")
    nothing = float("nan")
    if chains.shape[1] < _MIN_DRAWS:
        return mean, sd, nothing, nothing, nothing, nothing
    if np.ptp(column) == 0.0:  # a constant has no error, and its R-hat is 0/0
        return mean, 0.0, 0.0, float(column.size), float(column.size), nothing
    with np.errstate(invalid="ignore", divide="ignore"):
        return (
            mean,
            sd,
            mcse_mean(chains),
            ess_bulk(chains),
            ess_tail(chains),
            rhat(_pieces(chains)),
        )


def _weighted(draws: Draws, column: Floats) -> tuple[float, ...]:
    """The same for weighted draws, as far as it has a meaning."""
    weights, effective = draws.probabilities, draws.n_effective
    mean = float(weights @ column)
    sd = float(np.sqrt(weights @ np.square(column - mean)))
    return mean, sd, sd / effective**0.5, effective, effective, float("nan")
