"""Would another prior say the same? Draws reweighted to it, and what changes over a grid."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from partita._result import Result
from partita._validate import unexpected
from partita.draws import Draws
from partita.errors import InvalidInputError, NotSupportedError, ReweightingError
from partita.kernels.arrays import Floats, Ints
from partita.mcmc import MAX_K_HAT, ess_mean, is_doubtful, pareto_smoothed
from partita.samplers.priors import PartitionPrior
from partita.scan import Block, by_chain, concatenated, map_blocks, shapes_of, weighted_error

MIN_EFFECTIVE = 100.0
"""Effective draws below which draws are not reweighted."""


@dataclass(frozen=True, eq=False, repr=False)
class Reweighting(Result):
    """How draws came to be reweighted to another prior; see ``Draws.reweighting``.

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
    if not isinstance(prior, PartitionPrior):
        raise unexpected(prior, "prior", _PRIORS)
    if from_prior is None:
        raise InvalidInputError(
            "these draws do not say under which prior they were made. Give it: "
            "draws.reweighted(prior=..., from_prior=pt.DirichletProcess(1.0)), say.",
            argument="from_prior",
        )
    if not isinstance(from_prior, PartitionPrior):
        raise unexpected(from_prior, "from_prior", _PRIORS)
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
            f"{MAX_K_HAT:g}). Run anew under that prior, or take one that is closer.",
            n_effective=record.n_effective,
            k_hat=record.k_hat,
        )
    return found


_PRIORS = "DirichletProcess, PitmanYor, FiniteMixture or another PartitionPrior"


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
            f"no draw is possible under {prior!r}. Run anew under that prior.",
            n_effective=0.0,
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
            "make up for clusterings that were never drawn. Run anew under that prior.",
            n_effective=0.0,
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
    most = int(draws.n_clusters.max())

    def counted(block: Block) -> tuple[Ints]:
        rows = block.labels.astype(np.int64)
        rows += most * np.arange(len(rows))[:, None]
        return (np.bincount(rows.ravel(), minlength=most * len(rows)).reshape(-1, most),)

    return concatenated(map_blocks(counted, draws))[0]
