"""Convergence of chains of partitions, in numbers and in words."""

from __future__ import annotations

from dataclasses import dataclass
from textwrap import wrap
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from partita import _html as html
from partita._optional import require
from partita._result import Result
from partita._validate import Rng
from partita._vocabulary import Kind
from partita._wording import counted
from partita.diagnostics.agreement import ChainAgreement, chain_agreement
from partita.diagnostics.drift import Drift, drift
from partita.diagnostics.functionals import functionals, trace_functionals
from partita.diagnostics.warnings import disagree, notes_for, warnings_for
from partita.errors import NotSupportedError
from partita.losses.posterior import as_posterior
from partita.partitions.draws import Draws
from partita.partitions.functionals import by_chain
from partita.partitions.labels import as_labels
from partita.partitions.mcmc import ess_bulk, ess_tail, mcse_mean, rhat
from partita.partitions.types import DrawsLike, LabelsLike

if TYPE_CHECKING:
    import pandas as pd

_MIN_DRAWS = 8
"""Draws per chain below which nothing is estimated: a quarter of a chain needs two."""


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
        matched one to one, beyond the share within them and beyond chance.
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
        pandas = require("pandas", extra="pandas", purpose="a table of diagnostics")
        columns = ("mean", "sd", "mcse", "ess_bulk", "ess_tail", "rhat")
        index = pandas.Index(list(self.names), name="quantity")
        frame: pd.DataFrame = pandas.DataFrame(
            {column: getattr(self, column) for column in columns}, index=index
        )
        return frame

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

    def __str__(self) -> str:
        if self.kind == "ensemble":
            return f"Diagnostics: {self._of_ensemble()}"
        lines = [f"{'':<16}{'mean':>10}{'sd':>9}{'mcse':>9}{'ESS':>8}{'tail':>8}{'R-hat':>8}"]
        for j, name in enumerate(self.names):
            lines.append(
                f"{name:<16}{self.mean[j]:>10.4g}{self.sd[j]:>9.3g}{self.mcse[j]:>9.2g}"
                f"{self.ess_bulk[j]:>8.0f}{self.ess_tail[j]:>8.0f}{self.rhat[j]:>8.3f}"
            )
        for sign, texts in (("! ", self.warnings), ("  ", self.notes)):
            for text in texts:
                lines += wrap(text, 80, initial_indent=sign, subsequent_indent="  ")
        return "\n".join(lines)

    def _repr_html_(self) -> str:
        if self.kind == "ensemble":
            return html.title(f"Diagnostics: {self._of_ensemble()}")
        state = "nothing to warn about" if self.ok else counted(len(self.warnings), "warning")
        columns = (self.mean, self.sd, self.mcse, self.ess_bulk, self.ess_tail, self.rhat)
        forms = (".4g", ".3g", ".2g", ",.0f", ",.0f", ".3f")
        rows = [
            [name, *(format(column[j], form) for column, form in zip(columns, forms, strict=True))]
            for j, name in enumerate(self.names)
        ]
        return (
            html.title(f"Diagnostics of {counted(self.n_draws, 'draw')}: {state}")
            + "".join(map(html.warning, self.warnings))
            + html.table(["", "mean", "sd", "mcse", "ESS", "tail ESS", "R-hat"], rows)
            + "".join(map(html.note, self.notes))
        )


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
    show a mode it never visited. Chains of different length are cut to the
    shortest at their beginning. Weighted draws have no order: they get Kish's
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
            "are draws of a posterior, say so: as_draws(draws, kind='posterior')."
        )
    labels = None
    if estimate is not None:
        labels = as_labels(estimate, n_items=clean.n_items, what="labels of the estimate")
    values = functionals(posterior, estimate=labels)
    values |= trace_functionals(draws, clean.n_draws)
    return diagnose_values(values, clean, rng=rng, n_jobs=n_jobs)


def nothing_to_diagnose(draws: Draws) -> Diagnostics:
    """The diagnostics of an ensemble, whose runs are no chain."""
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


def diagnose_values(
    values: dict[str, NDArray[np.float64]],
    draws: Draws,
    *,
    rng: Rng | None = None,
    n_jobs: int | None = None,
) -> Diagnostics:
    """Diagnostics of functionals already computed."""
    measure = _weighted if draws.weights is not None else _chained
    table = np.array([measure(draws, column) for column in values.values()]).T
    mean, sd, mcse, ess_bulk, ess_tail, rhat = table
    agreement = None
    if draws.weights is None and draws.n_chains > 1:
        agreement = chain_agreement(draws, rng=rng, n_jobs=n_jobs)
    drifted = Drift(*[float("nan")] * 3)
    if draws.weights is None and draws.n_draws // draws.n_chains >= _MIN_DRAWS:
        # Slow chains are warned about already: what they explain is no drift.
        inflation = max(1.0, draws.n_draws / float(np.nanmin(ess_bulk)))
        drifted = drift(draws, inflation=inflation, rng=rng, n_jobs=n_jobs)
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
        warnings=warnings_for(names, ess_bulk, ess_tail, rhat, agreement, drifted, draws),
        notes=notes_for(draws, agreement),
        drift_average_sd=drifted.average_sd,
        drift_maximal_sd=drifted.maximal_sd,
        drift_moved=drifted.moved,
    )


def _chained(draws: Draws, column: NDArray[np.float64]) -> tuple[float, ...]:
    """Mean, sd, mcse, bulk and tail ESS, R-hat, all over the same draws."""
    chains = by_chain(draws, column)
    mean = float(column.mean())
    sd = float(column.std(ddof=1)) if column.size > 1 else float("nan")
    nothing = float("nan")
    if chains.shape[1] < _MIN_DRAWS:
        return mean, sd, nothing, nothing, nothing, nothing
    if np.ptp(column) == 0.0:  # a constant has no error, and its R-hat is 0/0
        return mean, 0.0, 0.0, float(column.size), float(column.size), nothing
    pieces = chains
    if chains.shape[0] == 1:
        half = chains.shape[1] // 2
        pieces = np.stack([chains[0, :half], chains[0, -half:]])
    with np.errstate(invalid="ignore", divide="ignore"):
        return (
            mean,
            sd,
            mcse_mean(chains),
            ess_bulk(chains),
            ess_tail(chains),
            rhat(pieces),
        )


def _weighted(draws: Draws, column: NDArray[np.float64]) -> tuple[float, ...]:
    """The same for weighted draws, as far as it has a meaning."""
    weights = draws.probabilities
    effective = 1.0 / float(np.square(weights).sum())
    mean = float(weights @ column)
    sd = float(np.sqrt(weights @ np.square(column - mean)))
    return mean, sd, sd / effective**0.5, effective, effective, float("nan")
