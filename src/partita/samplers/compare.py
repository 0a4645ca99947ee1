"""Held-out predictive densities: which model predicts best, and which chain."""

from __future__ import annotations

import math
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np

from partita._result import Page, Result, Table
from partita._validate import Rng, generator, integer, unexpected
from partita._wording import counted, printable
from partita.credible.profiles import evenly_spaced
from partita.errors import Interrupted, InvalidInputError, about
from partita.kernels.arrays import Bools, Floats, Ints
from partita.labels import DataSource, data_frame
from partita.mcmc import is_doubtful, pareto_smoothed
from partita.samplers.base import Kernel
from partita.samplers.chains import Settings, advance_all, build_model, runner
from partita.samplers.fit import Fit, collect_draws
from partita.samplers.priors import PartitionPrior
from partita.samplers.sample import chain_states, initial_state, initialise_parameters, split_merges
from partita.scan import chains_of

if TYPE_CHECKING:
    import pandas as pd

    from partita.draws import Draws


def refit(
    kernel: Kernel,
    prior: PartitionPrior,
    values: Floats,
    columns: Sequence[str],
    settings: Settings,
    *,
    rng: Rng | None = None,
    n_jobs: int | None = None,
) -> Fit:
    """The fit of a bound kernel to encoded rows; Ctrl-C raises."""
    prior = prior.bind(len(values))
    states = chain_states(None, kernel, prior, values, settings.chains, rng)
    model = build_model(kernel, prior, values)
    begun = initialise_parameters(initial_state(states), model)
    start = time.perf_counter()
    reached, interrupted = advance_all(settings, begun, runner(model, n_jobs), lambda _: None)
    if interrupted:
        raise Interrupted("interrupted while models were fitted to a part of the rows.")
    names = tuple(columns)
    draws, trace = collect_draws(reached, model, kernel, names, None)
    how = (settings, (), time.perf_counter() - start, False, reached.without_draws())
    return Fit(draws, trace, kernel, prior, values, names, *how)


def mean_by_chain(draws: Draws, log_densities: Floats) -> Floats:
    """Log of the mean over the draws of each chain, (n_chains, n_points)."""
    from scipy.special import logsumexp

    names, number = chains_of(draws)
    weights = draws.probabilities[:, None]
    found = np.empty((names.size, log_densities.shape[1]))
    for c in range(names.size):
        mine = number == c
        found[c] = logsumexp(log_densities[mine], axis=0, b=weights[mine] / weights[mine].sum())
    return found


def log_density_by_chain(fit: Fit, points: Floats, n_jobs: int | None = None) -> Floats:
    """Log predictive density of new encoded rows under each chain, (n_chains, n_points)."""
    parts = [mean_by_chain(fit.draws, found) for found in fit._log_densities(points, n_jobs)]
    return np.concatenate(parts, axis=1)


def heldout_log_density(
    values: Floats,
    held_out: Ints,
    *,
    kernel: Kernel,
    prior: PartitionPrior,
    draws: int = 300,
    burn_in: int = 300,
    chains: int = 2,
    rng: Rng | None = None,
    n_jobs: int | None = None,
) -> Floats:
    """Log predictive density of held-out rows under a fit to all other rows, (n_held_out,).

    ``values`` are all rows as the bound kernel encodes them, ``held_out`` positions among them.
    Densities are averaged over the draws of all chains. The hyperparameters of the kernel stay:
    where a rule set them from all rows, that is the model that is judged.
    """
    from scipy.special import logsumexp

    left = np.ones(len(values), bool)
    left[held_out] = False
    settings = Settings(draws, burn_in, 1, chains, 1, split_merges(int(left.sum())))
    columns = [str(c) for c in range(values.shape[1])]
    fit = refit(kernel, prior, values[left], columns, settings, rng=rng, n_jobs=n_jobs)
    by_chain = log_density_by_chain(fit, values[held_out], n_jobs)
    return np.asarray(logsumexp(by_chain, axis=0) - np.log(len(by_chain)))


# ---------------------------------------------------------------- chains


@dataclass(frozen=True, eq=False, repr=False)
class ChainStacking(Result):
    """Chains weighed by how well they predict. Made by ``Fit.stack_chains``.

    Attributes
    ----------
    chains : tuple of str
        Their names.
    weights : ndarray of float, shape (n_chains,)
        Stacking weights; 0 for a chain that adds nothing to the others.
    log_density : ndarray of float, shape (n_chains, n_rows)
        Log predictive density of each row under each chain.
    n_clusters : ndarray of float, shape (n_chains,)
        Mean number of clusters in each chain.
    held_out : bool
        Whether rows were new; else each was predicted from all others.
    unreliable : float
        Share of the leave-one-out densities whose importance weights have k-hat above 0.7 and
        leave less than 90% of the draws effective.
    draws : Draws
        The draws of the chains that count, with weights.
    """

    chains: tuple[str, ...]
    weights: Floats
    log_density: Floats
    n_clusters: Floats
    held_out: bool
    unreliable: float
    draws: Draws

    def __draws__(self) -> Draws:
        return self.draws

    @property
    def mean_log_density(self) -> Floats:
        """Per row, (n_chains,)."""
        return np.asarray(self.log_density.mean(axis=1))

    @property
    def difference(self) -> Floats:
        """Mean log density of each chain less that of the best, (n_chains,)."""
        return np.asarray(self.mean_log_density - self.mean_log_density.max())

    @property
    def difference_se(self) -> Floats:
        """Standard error of each difference, over rows."""
        return np.asarray(_difference_errors(self.log_density) / self.log_density.shape[1])

    def to_frame(self) -> pd.DataFrame:
        """One row per chain."""
        columns = {
            "weight": self.weights,
            "n_clusters": self.n_clusters,
            "log_density": self.mean_log_density,
            "difference": self.difference,
            "difference_se": self.difference_se,
        }
        return data_frame(columns, of="chains", index=self.chains, name="chain")

    def _table(self) -> Table:
        away = zip(self.difference, self.difference_se, strict=True)
        columns = {
            "Chain": self.chains,
            "Weight": (f"{weight:.2f}" for weight in self.weights),
            "Mean clusters": (f"{number:.1f}" for number in self.n_clusters),
            "Log density per row": (f"{mean:.3f}" for mean in self.mean_log_density),
            "Less than the best": (f"{difference:.3f} ± {error:.3f}" for difference, error in away),
        }
        return Table.of_columns("", columns)

    def _notes(self) -> tuple[str, ...]:
        rows = counted(self.log_density.shape[1], "row")
        how = f"{rows} that were held out" if self.held_out else f"each of {rows} given the others"
        notes = [f"Weights of the mixture of chains that predicts best: {how}."]
        if self.unreliable > 0.0:
            notes.append(
                f"{100 * self.unreliable:.1f}% of the leave-one-out densities are not reliable "
                "(k-hat above 0.7)."
            )
        return tuple(notes)

    def __repr__(self) -> str:
        shown = ", ".join(f"{w:.2f}" for w in self.weights[:8])
        return f"<ChainStacking: {counted(len(self.chains), 'chain')}, weights {shown}>"

    def __str__(self) -> str:
        return "\n".join([self._table().text(), *self._notes()])

    def _page(self) -> Page:
        return Page("Chains by how well they predict", (), [self._table()], (), self._notes())


_LEFT_OUT, _LEFT_DRAWS = 2_000, 1_000
"""Rows, and draws of each chain, of leave-one-out densities: each costs a fit of a Pareto tail."""


def stack_chains(fit: Fit, new_data: DataSource | None, n_jobs: int | None) -> ChainStacking:
    """See ``Fit.stack_chains``."""
    names, number = chains_of(fit.draws)
    unreliable = 0.0
    if new_data is None:
        found, doubtful = leave_one_out(fit, n_jobs)
        unreliable = float(doubtful.mean())
    else:
        with about("new_data", "data"):
            points = fit._encode_rows(new_data)
        found = log_density_by_chain(fit, points, n_jobs)
    weights = stacking_weights(found)
    own = fit.draws.probabilities
    share = np.bincount(number, weights=own)
    kept = weights[number] > 0.0
    draws = fit.draws._take(kept)._with(weights=(weights / share)[number[kept]] * own[kept])
    mean = np.bincount(number, weights=own * fit.draws.n_clusters) / share
    texts = tuple(str(name) for name in names.tolist())
    return ChainStacking(texts, weights, found, mean, new_data is not None, unreliable, draws)


def leave_one_out(fit: Fit, n_jobs: int | None = None) -> tuple[Floats, Bools]:
    """Log densities of rows given all others under each chain, and which of them are doubtful.

    Both (n_chains, n_rows). With r = 1/p(x_i | x_−i, c_−i) over the draws of a chain, smoothed by
    a Pareto tail, p(x_i | x_−i) is the mean of p weighted by r.
    """
    from scipy.special import logsumexp

    n_items = fit.draws.n_items
    items = evenly_spaced(n_items, min(n_items, _LEFT_OUT))
    names, number = chains_of(fit.draws)
    found = np.empty((names.size, items.size))
    doubtful = np.zeros(found.shape, bool)
    for c in range(names.size):
        mine = np.flatnonzero(number == c)
        chosen = mine[evenly_spaced(mine.size, min(mine.size, _LEFT_DRAWS))]
        log_p = fit._leave_one_out(chosen, items, n_jobs)
        for i, column in enumerate(log_p.T):
            smoothed, k_hat = pareto_smoothed(-column)
            total = logsumexp(smoothed)
            found[c, i] = logsumexp(smoothed + column) - total
            effective = np.exp(2.0 * total - logsumexp(2.0 * smoothed))
            doubtful[c, i] = is_doubtful(k_hat, effective / column.size)
    return found, doubtful


def stacking_weights(log_density: Floats) -> Floats:
    """Weights w ≥ 0, Σw = 1, that maximise the mean over rows of log Σ_c w_c exp(log_density[c]).

    By EM, until no weight could raise the mean by more than 1e-6: where g_c is the mean over rows
    of p_c/Σwp, the maximum is at most max g − 1 above. Weights below a thousandth go to 0 where
    that costs less than 1e-5.
    """
    with np.errstate(invalid="ignore"):
        p = np.exp(log_density - log_density.max(axis=0))
    p = np.where(np.isfinite(p), p, 1.0)  # a row that is impossible under all says nothing
    weights = np.full(len(p), 1.0 / len(p))
    for _ in range(20_000):
        gain = (p / (weights @ p)).mean(axis=1)
        if gain.max() < 1.0 + 1e-6:
            break
        weights = weights * gain
    large: Floats = np.where(weights < 1e-3, 0.0, weights)
    large = large / large.sum()
    with np.errstate(divide="ignore"):
        lost = np.log(weights @ p).mean() - np.log(large @ p).mean()
    return np.asarray(large if lost < 1e-5 else weights / weights.sum())


def _difference_errors(log_density: Floats) -> Floats:
    """Standard errors of the sums over rows of each row less the best one, paired by column."""
    n = log_density.shape[1]
    away = log_density - log_density[int(log_density.sum(axis=1).argmax())]
    if n < 2:
        return np.full(len(log_density), math.nan)
    return np.asarray(math.sqrt(n) * away.std(axis=1, ddof=1))


# ---------------------------------------------------------------- models


@dataclass(frozen=True, eq=False, repr=False)
class ModelComparison(Result):
    """Models by how well they predict rows that they have not seen. Made by :func:`compare`.

    Models stand in the order of ``elpd``, the best first.

    Attributes
    ----------
    names : tuple of str, length n_models
    elpd : ndarray of float, shape (n_models,)
        Sum over rows of the log predictive density: the expected log predictive density of as
        many new rows.
    se : ndarray of float, shape (n_models,)
        Its standard error, over rows.
    difference, difference_se : ndarray of float, shape (n_models,)
        ``elpd`` of the best less this one, and its standard error, rows paired.
    weights : ndarray of float, shape (n_models,)
        Stacking weights: of the mixture of models that predicts best.
    log_density : ndarray of float, shape (n_models, n_rows)
        Log predictive density of each row.
    folds : int
        Parts of the rows, each predicted from the others; 0 where rows were new.
    """

    names: tuple[str, ...]
    elpd: Floats
    se: Floats
    difference: Floats
    difference_se: Floats
    weights: Floats
    log_density: Floats
    folds: int

    @property
    def best(self) -> str:
        """Name of the model with the highest ``elpd``."""
        return self.names[0]

    @property
    def sentence(self) -> str:
        """What the comparison says, in one sentence."""
        rows = counted(self.log_density.shape[1], "row")
        how = f"{self.folds}-fold cross-validation of {rows}" if self.folds else f"{rows} held out"
        if len(self.names) == 1:
            return f"{printable(self.best)} predicts with an elpd of {self.elpd[0]:.1f} ({how})."
        away, error = self.difference[1], self.difference_se[1]
        clear = away > 2.0 * error and away >= _SMALL
        verb = "predicts best" if clear else "predicts best, but not clearly"
        return (
            f"{printable(self.best)} {verb}: the next, {printable(self.names[1])}, is {away:.1f} ± "
            f"{error:.1f} lower in elpd ({how})."
        )

    def to_frame(self) -> pd.DataFrame:
        """One row per model, with the columns of ArviZ's ``compare``."""
        return data_frame(self.to_columns(), of="models", index=self.names, name="model")

    def to_columns(self) -> dict[str, list[Any]]:
        """The columns of :meth:`to_frame` by name."""
        found = {
            "rank": np.arange(len(self.names)),
            "elpd": self.elpd,
            "elpd_diff": self.difference,
            "weight": self.weights,
            "se": self.se,
            "dse": self.difference_se,
        }
        return {name: column.tolist() for name, column in found.items()}

    def table(self) -> Table:
        """Return the comparison as a text table."""
        named = {
            "elpd": self.elpd,
            "SE": self.se,
            "Difference": self.difference,
            "SE of it": self.difference_se,
        }
        columns = {name: [f"{value:.1f}" for value in found] for name, found in named.items()}
        weights = [f"{weight:.2f}" for weight in self.weights]
        return Table.of_columns("", {"Model": self.names, **columns, "Weight": weights})

    def _notes(self) -> tuple[str, ...]:
        notes = [self.sentence]
        if len(self.names) > 1 and (self.log_density.shape[1] < 100 or self.difference[1] < _SMALL):
            notes.append(
                "Below 100 rows, or a difference of 4, standard errors are too small (Sivula et "
                "al. 2025)."
            )
        return tuple(notes)

    def __repr__(self) -> str:
        shown = ", ".join(f"{name} {e:.1f}" for name, e in zip(self.names, self.elpd, strict=True))
        return f"<ModelComparison by elpd: {printable(shown)}>"[:290]

    def __str__(self) -> str:
        return "\n".join([self.table().text(), *self._notes()])

    def _page(self) -> Page:
        return Page("Models by how well they predict", (), [self.table()], (), self._notes())


_SMALL = 4.0
"""Differences of elpd below which a standard error says little (Sivula et al. 2025)."""


def compare(
    fits: Mapping[str, Fit] | Sequence[Fit],
    *,
    new_data: DataSource | None = None,
    folds: int = 5,
    draws: int = 500,
    rng: Rng | None = None,
    n_jobs: int | None = None,
) -> ModelComparison:
    """Compare kernels and priors by their log predictive density of unseen rows.

    elpd = Σ_i log p(x_i | rows that do not include i). By default in folds: rows are divided at
    random, and each model is fitted anew to all parts but one, which it then predicts. Unlike the
    evidence it does not reward vague hyperparameters less and less, and it compares kernels as
    well as priors.

    Parameters
    ----------
    fits : mapping of str to Fit, or sequence of Fit
        Fits to the same rows; their kernels and priors are compared.
    new_data : array_like or table, optional
        Rows that were held out from all fits: these are predicted by the fits as they are, and
        nothing is fitted anew.
    folds : int
        Parts of the rows, at least 2.
    draws : int
        Draws of each chain of a fold, after as many iterations of burn-in; two chains.
    rng : int, SeedSequence or Generator, optional
        Divides the rows and seeds the chains; by default 0.
    n_jobs : int, optional
        Threads; by default every core.

    Returns
    -------
    ModelComparison
        Best model first, with standard errors of differences and stacking weights.

    Notes
    -----
    Hyperparameters stay those of each fit, which an empirical rule may have set from all rows.
    Values are densities in the data's own units: kernels that give a column densities
    (normals) and probabilities (Poisson, Bernoulli, categorical) are not compared. Cost: ``folds``
    short fits for each model.

    References
    ----------
    Vehtari, A., Gelman, A. and Gabry, J. (2017), Practical Bayesian model evaluation using
    leave-one-out cross-validation and WAIC. Statistics and Computing 27. Sivula, T., Magnusson,
    M., Matamoros, A. A. and Vehtari, A. (2025), Uncertainty in Bayesian leave-one-out
    cross-validation based model comparison. Bayesian Analysis.

    Examples
    --------
    >>> import partita as pt
    >>> data = pt.datasets.galaxies()
    >>> kernels = {
    ...     "empirical": pt.NormalInverseGamma.empirical(data),
    ...     "hierarchical": pt.NormalInverseGamma.hierarchical(data),
    ... }
    >>> fits = {n: pt.sample(data, kernel=k, draws=50, rng=0) for n, k in kernels.items()}
    >>> pt.compare(fits, draws=100, rng=0).best
    'hierarchical'
    """
    named = _named(fits)
    first = next(iter(named.values()))
    for name, fit in named.items():
        _check_comparable(first, fit, name)
    if new_data is not None:
        found = []
        for fit in named.values():
            with about("new_data", "data"):
                points = fit._encode_rows(new_data)
            by_chain = log_density_by_chain(fit, points, n_jobs)
            found.append(np.logaddexp.reduce(by_chain, axis=0) - math.log(len(by_chain)))
        return _build_comparison(tuple(named), np.stack(found), 0)
    models = {name: (fit.kernel, fit.prior, fit.values) for name, fit in named.items()}
    return cross_validate(models, folds=folds, draws=draws, rng=rng, n_jobs=n_jobs)


def cross_validate(
    models: Mapping[str, tuple[Kernel, PartitionPrior, Floats]],
    *,
    folds: int = 5,
    draws: int = 500,
    rng: Rng | None = None,
    n_jobs: int | None = None,
) -> ModelComparison:
    """:func:`compare` of bound kernels, priors and encoded rows, all predicted in folds."""
    n_items = len(next(iter(models.values()))[2])
    folds = integer(folds, "folds", least=2, most=n_items)
    draws = integer(draws, "draws", least=1)
    stream = generator(rng)
    order = stream.permutation(n_items)
    ends = np.linspace(0, n_items, folds + 1).astype(np.int64)
    parts = [np.sort(order[low:high]) for low, high in pairwise(ends.tolist())]
    seeds = stream.integers(2**63, size=folds)
    found = np.empty((len(models), n_items))
    for m, (kernel, prior, values) in enumerate(models.values()):
        for part, seed in zip(parts, seeds.tolist(), strict=True):
            found[m, part] = heldout_log_density(
                values,
                part,
                kernel=kernel,
                prior=prior,
                draws=draws,
                burn_in=draws,
                rng=seed,
                n_jobs=n_jobs,
            )
    return _build_comparison(tuple(models), found, folds)


def _build_comparison(names: tuple[str, ...], log_density: Floats, folds: int) -> ModelComparison:
    order = np.argsort(-log_density.sum(axis=1), kind="stable")
    found = log_density[order]
    n, elpd = found.shape[1], found.sum(axis=1)
    spread = found.std(axis=1, ddof=1) if n > 1 else np.full(len(found), math.nan)
    return ModelComparison(
        names=tuple(names[m] for m in order.tolist()),
        elpd=elpd,
        se=math.sqrt(n) * spread,
        difference=elpd.max() - elpd,
        difference_se=_difference_errors(found),
        weights=stacking_weights(found),
        log_density=found,
        folds=folds,
    )


def _named(fits: Any) -> dict[str, Fit]:
    """Fits by name; those of a sequence by kernel, and by prior where kernels are equal."""
    if isinstance(fits, Mapping):
        named = {str(name): fit for name, fit in fits.items()}
    elif isinstance(fits, Sequence) and not isinstance(fits, str):
        kinds = [fit.kernel.kind if isinstance(fit, Fit) else "" for fit in fits]
        if len(set(kinds)) < len(kinds):
            kinds = [f"{m}: {kind}" for m, kind in enumerate(kinds)]
        named = dict(zip(kinds, fits, strict=True))
    else:
        named = {}
    if not named or not all(isinstance(fit, Fit) for fit in named.values()):
        raise unexpected(fits, "fits", "fits by name, {'a': pt.sample(...), 'b': ...}, or a list")
    return named


def _check_comparable(first: Fit, fit: Fit, name: str) -> None:
    """Refuse fits to other rows, and densities beside probabilities."""
    if fit.values.shape != first.values.shape:
        raise InvalidInputError(
            f"the fit {name!r} has {fit.values.shape[0]} rows and {fit.values.shape[1]} columns, "
            f"the first {first.values.shape[0]} and {first.values.shape[1]}: expected fits to the "
            "same data.",
            argument="fits",
        )
    n_columns = fit.values.shape[1]
    discrete: Ints = np.array(fit.kernel.discrete(n_columns), np.int64)
    if discrete.tolist() != list(first.kernel.discrete(n_columns)):
        raise InvalidInputError(
            f"the fit {name!r} gives probabilities to other columns than the first, which gives "
            "them densities: these numbers cannot be compared. Compare kernels of one kind.",
            argument="fits",
        )
    numbers = np.setdiff1d(np.arange(n_columns), discrete)
    if not np.array_equal(fit.values[:, numbers], first.values[:, numbers], equal_nan=True):
        raise InvalidInputError(
            f"the fit {name!r} was made from other values than the first: expected fits to the "
            "same data.",
            argument="fits",
        )
