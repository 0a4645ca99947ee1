"""Convergence of chains of partitions: numbers, warnings and notes."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from textwrap import wrap
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from partita import mcmc
from partita._resources import count_jobs, run
from partita._result import Page, Result, Table
from partita._validate import Rng
from partita._wording import Kind, counted, printable, rhat_in_words
from partita.diagnostics.agreement import (
    MAX_PAIRS,
    RARE,
    ChainAgreement,
    Drift,
    InitialTransient,
    agreement_of,
    autocorrelation_time,
    chi2_ratio,
    count_pairs,
    drift,
    functionals,
    initial_transient,
    pair_autocorrelation_time,
)
from partita.draws import AnyDraws
from partita.errors import InvalidInputError, NotSupportedError
from partita.kernels.arrays import Floats, Ints
from partita.labels import DrawsLike, LabelsLike, data_frame
from partita.posterior import any_posterior
from partita.scan import chain_rows, chains_of, long_chains, weighted_error

if TYPE_CHECKING:
    import pandas as pd


LEARNED = ("concentration", "weight", "n_components")
"""Traces of samplers that describe a draw beside its partition, as rates and scales do."""


TITLES = {
    "n_clusters": "number of clusters",
    "entropy": "entropy (bits)",
    "largest_cluster": "size of the largest cluster",
    "vi_to_estimate": "VI to the estimate (bits)",
    "n_features": "number of features",
    "n_memberships": "number of memberships",
    "most_of_an_item": "features of the item that has most",
    "distance_to_estimate": "distance to the estimate (memberships)",
    "concentration": "concentration",
    "weight": "Dirichlet weight",
    "n_components": "number of components",
    "log_posterior": "log posterior",
}
"""Functionals as headings call them."""


def title_of(name: str) -> str:
    """A functional in prose; learned rates have the names of their traces."""
    return TITLES.get(name) or printable(name)


def trace_functionals(source: object, n_draws: int) -> dict[str, NDArray[np.float64]]:
    """Learned parameters and log posterior of a fit; empty for other draws."""
    # Only what says it holds draws: NumPy arrays have a method of the name ``trace``.
    trace = getattr(source, "trace", None) if hasattr(type(source), "__draws__") else None
    values: dict[str, NDArray[np.float64]] = {}
    if not isinstance(trace, Mapping):
        return values
    prefixes = ("rate of ", "scale of ")
    learned = [name for name in trace if name in LEARNED or name.startswith(prefixes)]
    for name in (*learned, "log_posterior"):
        if name not in trace:
            continue
        column = np.asarray(trace[name], np.float64).reshape(-1)
        if column.size != n_draws:
            raise InvalidInputError(
                f"trace[{name!r}] has {column.size} values; expected one per draw ({n_draws})."
            )
        values[name] = column
    return values


MAX_RHAT = 1.01
MIN_ESS = 400.0
MAX_AVERAGE_SD = 0.05
MAX_SD = 0.25
MAX_MOVED = 0.1
"""Limits beyond which a warning is given; R-hat and ESS after Vehtari et al. (2021)."""

MAX_PAIR_EXCESS = 0.1
"""Standard deviation of one pair's probability over chains, beyond Monte Carlo error."""

FEW = 25.0
"""Effective draws of a chain, estimated within it, below which its Monte Carlo error is not known:
of chains of three the estimate was 10 to 20 (200 draws, 3% of the items renewed in each)."""

PROSE = {
    "vi_to_estimate": "distance to the estimate",
    "most_of_an_item": "number of features of the item that has most",
}
"""Functionals that sentences call otherwise than headings do."""


def warnings_for(
    names: tuple[str, ...],
    *,
    ess: Floats,
    rhat: Floats,
    by_chance: Floats,
    agreement: ChainAgreement | None,
    tau: float,
    drifted: Drift,
    start: InitialTransient | None,
    draws: AnyDraws,
) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Sentences that say what is wrong and what to do, and others with the numbers behind them.

    Within a chain, ``tau`` draws are worth an independent one.
    """
    texts, numbers = [], []
    pairs, change = "pair probabilities", "items change clusters"
    if draws.part_name == "feature":
        pairs, change = "expected numbers of shared features", "memberships change"
    if np.isnan(ess).all():
        texts.append(
            "There are too few draws per chain to check convergence. Draw at least a few hundred."
        )
    worst = _worst(rhat / np.maximum(by_chance, MAX_RHAT), largest=True)
    if worst is not None and rhat[worst] > max(by_chance[worst], MAX_RHAT):
        chains = "Chains have" if draws.n_chains > 1 else "The chain has"
        name, chance = prose(names[worst]), max(by_chance[worst], MAX_RHAT)
        shown = rhat_in_words(rhat[worst])
        texts.append(f"{chains} not mixed: R-hat of {name} is {shown}. Run longer.")
        numbers.append(f"Of the R-hat of {name}, {shown}, chance explains {chance:.3g}.")
    worst = _worst(ess, largest=False)
    if worst is not None and ess[worst] < MIN_ESS:
        weighted = draws.weights is not None
        advice = "Use more draws or more even weights." if weighted else "Run longer."
        name = prose(names[worst]).removeprefix("the ")
        texts.append(
            f"{name[0].upper()}{name[1:]}: only {counted(round(ess[worst]), 'effective draw')} "
            f"({MIN_ESS:.0f} wanted). {advice}"
        )
    if agreement is not None and disagree(agreement):
        each = draws.n_draws / draws.n_chains / tau
        beyond = "more than Monte Carlo error explains"
        if each < FEW:
            beyond = f"but with about {each:.0f} effective draws each they may only be slow"
        texts.append(
            f"The chains disagree on which items belong together: {pairs} differ by "
            f"{agreement.average_sd:.2f} on average and up to {agreement.maximal_sd:.2f} (standard "
            f"deviations), {beyond}. representatives(draws) shows the answers they hold"
            # Of a fit there are data to predict.
            + (
                ", and fit.stack_chains() weighs chains by how well they predict; log_posterior "
                "does not rank them."
                if "log_posterior" in names
                else "."
            )
        )
    if start is not None:
        texts.append(
            "The chains start far from where they settle. Drop burn-in: "
            f"draws.drop({draws.n_draws // draws.n_chains // 10:,})."
        )
        numbers.append(
            f"In the first {start.n_draws:,} draws of the chains, {prose(start.name)} is "
            f"{start.shift:.1f} standard deviations from the rest."
        )
    if moves_between_modes(drifted):
        texts.append(
            f"{'A' if draws.n_chains > 1 else 'The'} chain moves between modes too rarely to say "
            "how probable each is. Run several longer chains."
        )
        numbers.append(
            f"Between quarters of a chain, {pairs} differ by {drifted.average_sd:.2f} on average "
            f"and up to {drifted.maximal_sd:.2f} (standard deviations, beyond chance), and "
            f"{100 * drifted.moved:.0f}% of the {change}."
        )
    return tuple(texts), tuple(numbers)


def prose(name: str) -> str:
    """A functional as it is called in sentences; learned rates by the names they have."""
    title = PROSE.get(name) or TITLES.get(name, "").partition(" (")[0] or printable(name)
    title = title.removeprefix("size of the ")
    return f"the {title}"


def disagree(agreement: ChainAgreement) -> bool:
    """Whether chains describe different posteriors, by the pairs of items they keep together."""
    if np.isnan(agreement.average_excess):  # very short chains, and files of earlier versions
        return agreement.average_sd > MAX_AVERAGE_SD or agreement.maximal_sd > MAX_SD
    beyond = agreement.average_excess > MAX_AVERAGE_SD
    return beyond or agreement.maximal_excess > MAX_PAIR_EXCESS


def moves_between_modes(drifted: Drift) -> bool:
    """Whether the parts of a chain describe different posteriors; not where none were compared."""
    return (
        drifted.average_sd > MAX_AVERAGE_SD
        or drifted.maximal_sd > MAX_SD
        or drifted.moved > MAX_MOVED
    )


def notes_for(
    draws: AnyDraws, compared: AnyDraws, agreement: ChainAgreement | None
) -> tuple[str, ...]:
    """Sentences that say how numbers were made when it was not the usual way.

    ``compared`` are the draws of the chains that are long enough.
    """
    texts = []
    left_out = draws.n_chains - compared.n_chains
    if left_out:
        texts.append(
            f"{left_out} of {draws.n_chains} chains {'has' if left_out == 1 else 'have'} fewer "
            "than eight draws or a tenth of the longest: left out of R-hat, effective sizes and "
            "the comparison of chains."
        )
    if draws.weights is not None:
        texts.append(
            "Draws are weighted: effective sizes are Kish's 1/Σw², and R-hat is not defined."
            if draws.chain is None
            else "Draws are weighted: effective sizes count the weights and the correlation within "
            "chains, and R-hat is not defined."
        )
    elif compared.n_chains == 1:
        texts.append(
            "One chain: R-hat compares its quarters, and cannot show a mode it never visited. "
            "Run several chains."
        )
    if compared.chain is not None and draws.weights is None:
        lengths = np.unique(compared.chain, return_counts=True)[1]
        if lengths.min() != lengths.max():
            texts.append(
                f"Chains differ in length ({lengths.min():,} to {lengths.max():,} draws); the "
                "longer ones were cut at their beginning."
            )
    if agreement is not None and not agreement.all_pairs:
        texts.append(
            f"Agreement between chains was measured on {agreement.n_pairs:,} random pairs of items."
        )
    return tuple(texts)


def _worst(values: Floats, *, largest: bool) -> int | None:
    if np.isnan(values).all():
        return None
    return int(np.nanargmax(values) if largest else np.nanargmin(values))


@dataclass(frozen=True, eq=False, repr=False)
class Diagnostics(Result):
    """Convergence of label-invariant quantities of the draws. Made by :func:`diagnose`.

    Attributes
    ----------
    names : tuple of str
        The quantities: n_clusters, entropy, largest_cluster, and where known
        vi_to_estimate, concentration and what else was learned, log_posterior.
    mean, sd, mcse : ndarray of float, shape (n_names,)
        Posterior mean, standard deviation, and Monte Carlo standard error of the mean.
    ess_bulk, ess_tail : ndarray of float, shape (n_names,)
        Effective sample sizes for the mean and for the 5% and 95% quantiles.
    rhat : ndarray of float, shape (n_names,)
        Rank-normalised split R-hat; NaN where undefined.
    n_chains, n_draws : int
    agreement : ChainAgreement or None
        Between chains; None when there is one chain or draws are weighted.
    warnings : tuple of str
        What is wrong and what to do; empty when nothing is.
    notes : tuple of str
        How numbers were made when it was not the usual way.
    drift_average_sd, drift_maximal_sd : float
        Between the halves and quarters of a chain: standard deviations of the
        pair probabilities beyond chance, of the chain where they are largest.
        NaN where not compared: weighted draws, very short chains.
    drift_moved : float
        Share of the items that change clusters between two such parts, clusters
        matched one to one, beyond the share within them and beyond chance; or between
        any two draws, beyond the share from one of 64 that are compared to the next.
    kind : "posterior" or "ensemble"
        Of the draws. Of an ensemble there are no quantities.

    Examples
    --------
    >>> import numpy as np, partita as pt
    >>> labels = np.random.default_rng(0).integers(0, 3, size=(2_000, 12))
    >>> checks = pt.diagnose(pt.Draws(labels, chain=np.repeat([0, 1, 2, 3], 500)))
    >>> checks.names
    ('n_clusters', 'entropy', 'largest_cluster')
    >>> bool((checks.ess_bulk[1:] > 400).all()), checks.warnings
    (True, ())
    """

    names: tuple[str, ...]
    mean: NDArray[np.float64]
    sd: NDArray[np.float64]
    mcse: NDArray[np.float64]
    ess_bulk: NDArray[np.float64]
    ess_tail: NDArray[np.float64]
    rhat: NDArray[np.float64]
    n_chains: int
    n_draws: int
    agreement: ChainAgreement | None
    warnings: tuple[str, ...]
    notes: tuple[str, ...]
    drift_average_sd: float = float("nan")
    drift_maximal_sd: float = float("nan")
    drift_moved: float = float("nan")
    kind: Kind = "posterior"

    @property
    def ok(self) -> bool:
        """Whether there is nothing to warn about."""
        return not self.warnings

    @property
    def chains_disagree(self) -> bool:
        """Whether the chains disagree on which items belong together."""
        return self.agreement is not None and disagree(self.agreement)

    def to_frame(self) -> pd.DataFrame:
        """One row per quantity."""
        names = ("mean", "sd", "mcse", "ess_bulk", "ess_tail", "rhat")
        columns = {name: getattr(self, name) for name in names}
        return data_frame(columns, of="diagnostics", index=list(self.names), name="quantity")

    def __repr__(self) -> str:
        if self.kind == "ensemble":
            return f"<Diagnostics: {self._of_ensemble()}>"
        state = "nothing to warn about" if self.ok else counted(len(self.warnings), "warning")
        return (
            f"<Diagnostics: {counted(self.n_chains, 'chain')}, {counted(self.n_draws, 'draw')}, "
            f"{len(self.names)} quantities, {state}>"
        )

    def _of_ensemble(self) -> str:
        return f"none for {counted(self.n_draws, 'run')} of an ensemble"

    def table(self, names: Sequence[str] | None = None) -> Table:
        """One row per quantity, as text, by other names where these are given."""
        forms: dict[str, tuple[Floats, Callable[[float], str]]] = {
            "Mean": (self.mean, "{:.4g}".format),
            "SD": (self.sd, "{:.4g}".format),
            "MCSE": (self.mcse, "{:.2g}".format),
            "Bulk ESS": (self.ess_bulk, "{:,.0f}".format),
            "Tail ESS": (self.ess_tail, "{:,.0f}".format),
            "R-hat": (self.rhat, rhat_in_words),
        }
        columns = {
            heading: [in_words(value) if np.isfinite(value) else "–" for value in column]
            for heading, (column, in_words) in forms.items()
        }
        caption = "Quantities that do not depend on labels, and their convergence."
        return Table.of_columns(caption, {"Quantity": names or self.names, **columns})

    def __str__(self) -> str:
        if self.kind == "ensemble":
            return f"Diagnostics: {self._of_ensemble()}"
        lines = [self.table().text()]
        for sign, texts in (("! ", self.warnings), ("  ", self.notes)):
            for text in texts:
                lines += wrap(text, 80, initial_indent=sign, subsequent_indent="  ")
        return "\n".join(lines)

    def _page(self) -> Page:
        if self.kind == "ensemble":
            return Page(f"Diagnostics: {self._of_ensemble()}")
        state = "nothing to warn about" if self.ok else counted(len(self.warnings), "warning")
        title = f"Diagnostics of {counted(self.n_draws, 'draw')}: {state}"
        return Page(title, (), [self.table()], self.warnings, self.notes)


def empty_diagnostics(draws: AnyDraws) -> Diagnostics:
    """The diagnostics of an ensemble, whose runs are not chains."""
    none = np.empty(0)
    return Diagnostics(
        names=(),
        mean=none,
        sd=none,
        mcse=none,
        ess_bulk=none,
        ess_tail=none,
        rhat=none,
        n_chains=draws.n_chains,
        n_draws=draws.n_draws,
        agreement=None,
        warnings=(),
        notes=(),
        kind=draws.kind,
    )


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
    Of feature draws these are the numbers of features, of memberships, and of features of the
    item that has most; chains are compared by the expected numbers of features that pairs of
    items share.

    Parameters
    ----------
    draws : Draws, the output of :func:`sample`, or anything as_draws accepts; or FeatureDraws
    estimate : array_like, shape (n_items,), or an estimate, optional
        Adds the VI distance to it, or the FARO distance of feature draws.
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
    out, and a note says so. Weighted draws get no R-hat, and one effective
    number: with chains that of the weighted mean, correlation counted, else Kish's.
    O(M·N), and O(M·5000) between chains.

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
    posterior = any_posterior(draws, n_jobs)
    clean: AnyDraws = posterior.draws
    if clean.kind == "ensemble":
        raise NotSupportedError(
            "these are runs of an ensemble, which are not chains: nothing converges in them. If "
            "they are draws of a posterior, say so: as_draws(draws, kind='posterior').",
            argument="draws",
        )
    point = None if estimate is None else clean.clean(estimate, "estimate")
    values = functionals(posterior, estimate=point)
    values |= trace_functionals(draws, clean.n_draws)
    return diagnose_values(values, clean, rng=rng, n_jobs=n_jobs)


def diagnose_values(
    values: dict[str, NDArray[np.float64]],
    draws: AnyDraws,
    *,
    rng: Rng | None = None,
    n_jobs: int | None = None,
) -> Diagnostics:
    """Diagnostics of functionals already computed."""
    compared, columns, table = _diagnose_each(values, draws, n_jobs)
    mean, sd, mcse, ess_bulk, ess_tail, rhat, by_chance, times = table
    if compared is not draws:
        mean = np.array([column.mean() for column in values.values()])
        sd = np.array([column.std(ddof=1) for column in values.values()])
    agreement, start, tau = None, None, 1.0
    drifted = Drift(*[float("nan")] * 3)
    if draws.weights is None:
        rows = chain_rows(compared)
        pairs = count_pairs(compared, MAX_PAIRS, rng, n_jobs)
        tau = max(pair_autocorrelation_time(pairs.some, rows), float(times.max()))
        if compared.n_chains > 1:
            agreement = agreement_of(compared, pairs, tau, n_jobs)
        start = initial_transient({name: column[rows] for name, column in columns.items()})
        if compared.n_draws // compared.n_chains >= _MIN_DRAWS:
            # Slow chains are warned about already: what they explain is not drift.
            slow = max(1.0, compared.n_draws / float(np.nanmin(ess_bulk)))
            drifted = drift(compared, pairs, tau=slow, rng=rng, n_jobs=n_jobs)
    names = tuple(values)
    warned, numbers = warnings_for(
        names,
        ess=np.fmin(ess_bulk, ess_tail),
        rhat=rhat,
        by_chance=by_chance,
        agreement=agreement,
        tau=tau,
        drifted=drifted,
        start=start,
        draws=compared,
    )
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
        warnings=warned,
        notes=(*numbers, *notes_for(draws, compared, agreement)),
        drift_average_sd=drifted.average_sd,
        drift_maximal_sd=drifted.maximal_sd,
        drift_moved=drifted.moved,
    )


def rhat_and_ess(
    values: dict[str, Floats], draws: AnyDraws, n_jobs: int | None = None
) -> tuple[Floats, Floats]:
    """R-hat and bulk effective sample size of each functional."""
    _, _, (_, _, _, ess_bulk, _, rhat, _, _) = _diagnose_each(values, draws, n_jobs)
    return rhat, ess_bulk


def _diagnose_each(
    values: dict[str, Floats], draws: AnyDraws, n_jobs: int | None
) -> tuple[AnyDraws, dict[str, Floats], Floats]:
    """The draws and values of the chains that are long enough, and a column for each functional.

    The rows are those of :func:`_diagnose_chains`.
    """
    compared, columns = draws, values
    if draws.weights is not None:
        measure = partial(_diagnose_weighted, draws)
    else:
        if not (long := long_chains(draws)).all():
            kept = np.flatnonzero(long[chains_of(draws)[1]])
            compared = draws[kept]
            columns = {name: column[kept] for name, column in values.items()}
        measure = partial(_diagnose_chains, chain_rows(compared), 2 * len(columns))
    # In threads, whatever backend is chosen: the draws would travel for little work.
    return compared, columns, np.array(run(measure, columns.values(), count_jobs(n_jobs))).T


def _diagnose_chains(rows: Ints, n_looks: int, column: Floats) -> tuple[float, ...]:
    """Mean, sd, mcse, bulk and tail ESS, R-hat, what chance explains of it, draws worth one.

    R-hat compares the chains, a single one as two halves, each cut in half again. Of the largest
    of ``n_looks`` mixed ones, chance explains what they exceed once in a thousand times: of m
    halves of chains that are worth S draws, (R-hat² − 1)·S/m is χ²/(m − 1) with m − 1 degrees of
    freedom, about. The last number is :func:`autocorrelation_time`.
    """
    chains = column[rows]
    mean = float(column.mean())
    sd = float(column.std(ddof=1)) if column.size > 1 else float("nan")
    nothing = float("nan")
    if chains.shape[1] < _MIN_DRAWS:
        return mean, sd, nothing, nothing, nothing, nothing, 1.0, autocorrelation_time(chains)
    if np.ptp(column) == 0.0:  # a constant has no error, and its R-hat is 0/0
        size = float(column.size)
        return mean, 0.0, 0.0, size, size, nothing, 1.0, 1.0
    if np.ptp(chains) == 0.0:  # what varies was cut off
        return mean, sd, 0.0, float(chains.size), float(chains.size), nothing, 1.0, 1.0
    halves = mcmc.split(chains)
    ranked = mcmc.rank_normalised(halves)
    # Ranks without the variance between chains, ranks, values, and both tails.
    looked_at = np.stack([ranked, ranked, halves, *mcmc.split(mcmc.below_tails(chains))])
    between = np.arange(len(looked_at)) > 0
    within, bulk, of_mean, *tails = mcmc.effective_sizes(looked_at, between=between).tolist()
    parts, ranked_parts, worth = halves, ranked, within
    if len(chains) == 1:
        parts, ranked_parts = mcmc.split(halves), mcmc.split(ranked)
        if ranked_parts.size < ranked.size:  # some draws are left out, and ranks are others
            ranked_parts = mcmc.rank_normalised(parts)
        worth = mcmc.ess_of_halves(ranked_parts, between=False)
    m = len(parts)
    with np.errstate(invalid="ignore", divide="ignore"):
        return (
            mean,
            sd,
            float(chains.std(ddof=1)) / of_mean**0.5,
            bulk,
            min(tails),
            max(mcmc.rhat_of_halves(ranked_parts), mcmc.rhat_of_scale(parts)),
            float(np.sqrt(1.0 + chi2_ratio(m - 1.0, RARE / n_looks) * m / worth)),
            chains.size / within,
        )


def _diagnose_weighted(draws: AnyDraws, column: Floats) -> tuple[float, ...]:
    """The same for weighted draws, as far as it has a meaning: one effective size, no R-hat."""
    weights, effective = draws.probabilities, draws.n_effective
    mean = float(weights @ column)
    sd = float(np.sqrt(weights @ np.square(column - mean)))
    nothing = float("nan")
    if draws.chain is None or sd == 0.0:
        return mean, sd, sd / effective**0.5, effective, effective, nothing, 1.0, 1.0
    mcse = weighted_error(draws, column)
    effective = (sd / mcse) ** 2 if mcse > 0.0 else effective
    return mean, sd, mcse, effective, effective, nothing, 1.0, 1.0
