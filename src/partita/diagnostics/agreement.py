"""Agreement between chains, of their estimates, and between the parts of a chain."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from partita._resources import count_jobs, run
from partita._result import Page, Result, Table
from partita._validate import Rng, generator, integer
from partita._wording import counted, in_unit, with_unit
from partita.draws import AnyDraws, Draws, any_draws, as_draws
from partita.errors import InvalidInputError
from partita.kernels.arrays import Floats, Int32s, Ints
from partita.labels import DrawsLike, Labels, LabelsLike, by_item, canonical
from partita.losses.base import Loss
from partita.losses.evaluate import as_loss, loss_for, pairwise_distances
from partita.mcmc import ess_of_halves, ess_within, rank_normalised, split
from partita.posterior import Posterior
from partita.scan import Block, chain_rows, chains_of, concatenate_arrays, map_blocks, sum_blocks
from partita.search.estimate import estimate
from partita.search.settings import MANY_ITEMS

MAX_PAIRS = 5_000
"""Pairs of items compared by default; a random subset when there are more."""

SOME_PAIRS = 16
"""Pairs whose autocorrelation is measured: of all, and of those that differ most."""

_BLAS_WORK = 1 << 18
"""Multiplications of a product of matrices that OpenBLAS does on one thread."""

RARE = 1e-3
"""Probability with which chance alone may give a warning, about, for each question."""


@dataclass(frozen=True, repr=False)
class ChainAgreement(Result):
    """Standard deviation over chains of the probability that two items are together.

    Attributes
    ----------
    average_sd, maximal_sd : float
        Over the pairs compared; Monte Carlo error included.
    n_pairs : int
        Pairs compared.
    all_pairs : bool
        Whether these are all pairs; a random subset otherwise.
    n_chains : int
    average_excess, maximal_excess : float
        What is left of both when the largest values that the Monte Carlo error of the chains
        explains, once in a thousand times, are taken off (as variances). 0 for chains that agree;
        NaN where it was not computed.
    """

    average_sd: float
    maximal_sd: float
    n_pairs: int
    all_pairs: bool
    n_chains: int
    average_excess: float = float("nan")
    maximal_excess: float = float("nan")


def functionals(
    posterior: Posterior, *, estimate: Labels | None = None
) -> dict[str, NDArray[np.float64]]:
    """One value per draw of each functional, by name; with an estimate, the distance to it.

    Number of clusters, entropy in bits and size of the largest cluster; of feature draws, the
    numbers of features, of memberships, and of features of the item that has most.
    """
    draws: AnyDraws = posterior.draws
    if isinstance(draws, Draws):
        entropy, largest = posterior.shapes(1)
        values = {
            "n_clusters": draws.n_clusters.astype(np.float64),
            "entropy": entropy,
            "largest_cluster": largest[:, 0].astype(np.float64),
        }
        distance, loss = "vi_to_estimate", as_loss("vi")
    else:
        values = {
            "n_features": draws.n_features.astype(np.float64),
            "n_memberships": draws.n_memberships.astype(np.float64),
            "most_of_an_item": draws.features_per_item().max(axis=1).astype(np.float64),
        }
        distance, loss = "distance_to_estimate", as_loss("faro")
    if estimate is not None:
        values[distance] = posterior.distances(loss, estimate)
    return values


def chain_agreement(
    draws: DrawsLike,
    *,
    max_pairs: int = MAX_PAIRS,
    rng: Rng | None = None,
    n_jobs: int | None = None,
) -> ChainAgreement:
    """How much the chains disagree about which items are together.

    For each pair of items, the sample standard deviation (denominator n_chains − 1) of
    the pair's probability over the chains; reported are its average and its
    maximum, and how much of them is beyond Monte Carlo error. That error is estimated within
    chains: the larger of what the effective number of draws explains and of the spread between
    the quarters of each chain. An average excess above 0.05, or a pair's above 0.1, means that
    the chains describe different posteriors.

    Parameters
    ----------
    draws : Draws with at least two chains
    max_pairs : int, default 5000
        Pairs of items to compare; drawn at random when there are more.
    rng : int, SeedSequence or Generator, optional
        Chooses the pairs; the same ones by default.
    n_jobs : int, optional
        Threads; every core by default. The result does not depend on it.

    Returns
    -------
    ChainAgreement

    Notes
    -----
    O(M · pairs) for M draws; no N×N matrix is built.

    References
    ----------
    Lakner, C. et al. (2008), Efficiency of Markov chain Monte Carlo tree
    proposals in Bayesian phylogenetics. Systematic Biology 57, who compare
    chains by the standard deviation of split frequencies.

    Examples
    --------
    >>> import partita as pt
    >>> draws = pt.Draws([[0, 0, 1], [0, 0, 1], [0, 1, 1], [0, 0, 1]], chain=[1, 1, 2, 2])
    >>> round(pt.chain_agreement(draws).maximal_sd, 4)
    0.3536
    """
    clean = any_draws(draws)
    if clean.chain is None or clean.n_chains < 2:
        known = "no chain ids" if clean.chain is None else "a single chain"
        raise InvalidInputError(
            f"these draws have {known}; agreement between chains needs at least two. Run the "
            "sampler several times and pass chain=... (one id per draw), or a "
            "(chain, draw, item) array to as_draws.",
            argument="draws",
        )
    max_pairs = integer(max_pairs, "max_pairs", least=1)
    pairs = count_pairs(clean, max_pairs, rng, n_jobs)
    tau = largest_autocorrelation_time(clean, n_jobs, pairs.some)
    return agreement_of(clean, pairs, tau, n_jobs)


def agreement_of(
    draws: AnyDraws, pairs: PairCounts, tau: float, n_jobs: int | None
) -> ChainAgreement:
    """Agreement of chains whose autocorrelation time is ``tau``: draws worth an independent one."""
    chain = pairs.quarter // 4
    n_chains = draws.n_chains
    first, second, complete = pairs.first, pairs.second, pairs.complete
    if first.size == 0:
        return ChainAgreement(0.0, 0.0, 0, True, n_chains, 0.0, 0.0)
    counts, sizes = pairs.counts.reshape(n_chains, 4, -1), pairs.sizes.reshape(n_chains, 4)
    length = sizes.sum(axis=1)[:, None]
    together = counts.sum(axis=1) / length
    spread = together.var(axis=0, ddof=1)
    average, largest = float(np.sqrt(spread).mean()), float(np.sqrt(spread.max()))
    if sizes.min() == 0:
        return ChainAgreement(average, largest, first.size, complete, n_chains)
    # A probability of 0 or 1 is known no better than half a draw allows.
    p = (counts.sum(axis=1) + 0.5) / (length + 1.0)
    more = pairs.more.reshape(n_chains, 4, -1).sum(axis=1) / (length + 1.0)
    binomial = ((p * (1.0 - p) + more) / length).mean(axis=0)
    by_quarter = (counts / sizes[:, :, None]).var(axis=1, ddof=1).mean(axis=0) / 4.0
    noise = np.maximum(tau * binomial, by_quarter)
    worst = np.argsort(spread / binomial, kind="stable")[-SOME_PAIRS:]
    series = _together(draws, first[worst], second[worst], n_jobs)
    times = _pair_autocorrelation_times(series, chain_rows(draws))
    own = np.maximum(noise[worst], times * binomial[worst])
    # The fewer effective draws there are, the less is known of the autocorrelation itself.
    unsure = (1.0 + 10.0 * n_chains * tau / draws.n_draws) ** 2
    rows = evenly_spaced_rows(np.arange(draws.n_draws), 16 * n_chains)
    centred = draws.together(rows, first, second) - together[chain[rows]]
    df = n_chains - 1.0
    beyond = spread - chi2_ratio(df * independent_pairs(centred), RARE) * unsure * noise
    beyond_worst = spread[worst] - chi2_ratio(df, RARE / first.size) * unsure * own
    excess = [max(0.0, float(x)) ** 0.5 for x in (beyond.mean(), beyond_worst.max())]
    return ChainAgreement(average, largest, first.size, complete, n_chains, *excess)


def _together(draws: AnyDraws, first: Ints, second: Ints, n_jobs: int | None) -> NDArray[Any]:
    """Whether items of some pairs are together, one row per pair and one column per draw.

    Of feature draws, how many features they share.
    """
    if not isinstance(draws, Draws):
        found = draws.together(np.arange(draws.n_draws), first, second)
    else:
        together = partial(_together_in, first=first, second=second)
        (found,) = concatenate_arrays(map_blocks(together, draws, n_jobs=n_jobs))
    return np.ascontiguousarray(found.T)


def _together_in(block: Block, *, first: Ints, second: Ints) -> tuple[NDArray[np.bool_]]:
    return (block.labels[:, first] == block.labels[:, second],)


def _pair_autocorrelation_times(series: NDArray[Any], rows: Ints) -> Floats:
    """Draws worth one independent draw within chains, for each row.

    The normal scores of two values are those two values but for shift and scale, which change no
    autocorrelation: there is no need to rank them.
    """
    times = np.ones(len(series))
    if rows.shape[1] < 8:
        return times
    for j in np.flatnonzero((series != series[:, :1]).any(axis=1)).tolist():
        halves = split(series[j][rows].astype(np.float64))
        halves = halves if series.dtype == np.bool_ else rank_normalised(halves)
        times[j] = rows.size / ess_of_halves(halves, between=False)
    return times


def largest_autocorrelation_time(
    draws: AnyDraws, n_jobs: int | None, some_pairs: NDArray[Any] | None = None
) -> float:
    """Draws worth one independent draw within chains: the most of functionals, and of pairs."""
    if some_pairs is None:
        first, second, _ = choose_pairs(draws.n_items, MAX_PAIRS, None)
        some_pairs = _some_pairs(draws, first, second, n_jobs)
    rows = chain_rows(draws)
    columns = functionals(Posterior(draws, n_jobs)).values()
    most = max(autocorrelation_time(column[rows]) for column in columns)
    return max(most, pair_autocorrelation_time(some_pairs, rows))


def _some_pairs(draws: AnyDraws, first: Ints, second: Ints, n_jobs: int | None) -> NDArray[Any]:
    """Whether a few of the pairs are together, one row per pair."""
    few = evenly_spaced_rows(np.arange(first.size), SOME_PAIRS) if first.size else first
    return _together(draws, first[few], second[few], n_jobs)


def pair_autocorrelation_time(series: NDArray[Any], rows: Ints) -> float:
    """Draws worth one independent draw within chains, for whether two items are together."""
    variance = (series * series).mean(axis=1) - np.square(series.mean(axis=1))
    if not variance.any():
        return 1.0
    times = _pair_autocorrelation_times(series, rows)
    return float((times * variance).sum() / variance.sum())


def autocorrelation_time(chains: Floats) -> float:
    """Draws that are worth one independent draw, within chains; 1 where that is unknown."""
    if chains.shape[1] < 8 or np.ptp(chains) == 0.0:
        return 1.0
    return chains.size / ess_within(chains)


def quarters_of(chain: Ints) -> Ints:
    """Quarter of each draw, numbered through the chains."""
    part = np.empty(chain.size, np.int64)
    for number in range(int(chain.max()) + 1):
        rows = np.flatnonzero(chain == number)
        part[rows] = 4 * number + 4 * np.arange(rows.size) // rows.size
    return part


def evenly_spaced_rows(rows: Ints, size: int) -> Ints:
    """Some rows at equal distances."""
    return rows[np.unique(np.linspace(0, rows.size - 1, size).astype(np.int64))]


def independent_pairs(centred: Floats) -> float:
    """How many independent pairs vary as much as these, (tr C)²/tr C² of their covariances C.

    One where all pairs change with the mode that a draw is in. Rows are draws, centred.
    """
    # In pieces too small for the threads of BLAS, which stay busy and doubled a summary's time.
    n_pieces = -(-(centred.shape[0] ** 2) * centred.shape[1] // _BLAS_WORK)
    pieces = np.array_split(centred, n_pieces, axis=1)
    products = np.sum([piece @ piece.T for piece in pieces], axis=0)
    own = products.diagonal().mean()
    others = products[~np.eye(len(products), dtype=np.bool_)]
    squared = float((others**2).mean()) if others.size else 0.0
    return max(1.0, float(own) ** 2 / squared) if squared > 0.0 else float(centred.shape[1])


def chi2_ratio(df: float, prob: float) -> float:
    """How many times its mean a χ² variable exceeds with this probability."""
    from scipy.special import chdtri

    return float(chdtri(df, prob)) / df


def choose_pairs(
    n_items: int, max_pairs: int, rng: Rng | None
) -> tuple[NDArray[np.int64], NDArray[np.int64], bool]:
    """All pairs of items, or that many different ones at random."""
    chance = generator(rng)
    total = n_items * (n_items - 1) // 2
    if total <= max_pairs:
        first, second = np.triu_indices(n_items, 1)
        return first.astype(np.int64), second.astype(np.int64), True
    number = chance.choice(total, size=max_pairs, replace=False)
    number.sort()
    # Pair (i, j), i < j, has number j(j − 1)/2 + i. The root is exact enough for 10^8 items.
    second = ((1.0 + np.sqrt(1.0 + 8.0 * number)) / 2.0).astype(np.int64)
    first = number - second * (second - 1) // 2
    return first.astype(np.int64), second, False


class PairCounts(NamedTuple):
    """How often pairs of items are together in each quarter of each chain.

    ``quarter`` is that of each draw, numbered through the chains; ``counts`` has one row for
    each of them, ``sizes`` its number of draws. ``complete``: these are all pairs. Of feature
    draws, ``counts`` are of shared features, of which two items may have several: ``more`` is the
    sum of x² − x over the draws. ``some`` are a few of the pairs, one row per pair.
    """

    first: Ints
    second: Ints
    complete: bool
    quarter: Ints
    counts: Floats
    sizes: Ints
    more: Floats
    some: NDArray[Any]


def count_pairs(draws: AnyDraws, max_pairs: int, rng: Rng | None, n_jobs: int | None) -> PairCounts:
    """Count pairs of items, a random subset where there are more than ``max_pairs``."""
    first, second, complete = choose_pairs(draws.n_items, max_pairs, rng)
    names, chain = chains_of(draws)
    quarter = quarters_of(chain)
    sizes = np.bincount(quarter, minlength=4 * names.size)
    count = partial(_count_block, number=quarter, n_chains=sizes.size, first=first, second=second)
    counts, more = np.zeros((2, sizes.size, first.size))
    if first.size and isinstance(draws, Draws):
        (counts,) = sum_blocks(count, draws, n_jobs=n_jobs)
    elif first.size:
        for part in range(sizes.size):
            shared = draws.together(np.flatnonzero(quarter == part), first, second)
            counts[part], more[part] = shared.sum(axis=0), (shared * (shared - 1.0)).sum(axis=0)
    some = _some_pairs(draws, first, second, n_jobs)
    counts = np.asarray(counts, np.float64)
    return PairCounts(first, second, complete, quarter, counts, sizes, more, some)


def _count_block(
    block: Block, *, number: NDArray[np.intp], n_chains: int, first: Ints, second: Ints
) -> tuple[Ints]:
    """How often each pair is together in the draws of each chain in one block."""
    from partita.kernels.uncertainty import pairs_together

    together = np.zeros((n_chains, first.size), np.int64)
    here = number[block.start : block.start + block.n_clusters.size]
    for chain in np.unique(here).tolist():
        columns = by_item(block.labels[here == chain], block.labels.dtype.type)
        pairs_together(columns, first, second, together[chain])
    return (together,)


SEEN = 16
"""Draws of each quarter whose clusters are matched."""

MATCHED_ITEMS = 200
"""Items, at most, whose clusters are compared; a random subset when there are more."""

PERMUTATIONS = 99
"""Random assignments of draws to the parts."""

CRITICAL_SD = 3.1
"""Standard deviations that a normal variable exceeds once in a thousand times."""

THINNING_TIMES = 3.0
"""Autocorrelation times after which a chain that mixes has forgotten where it was."""

MIN_EFFECTIVE = 10.0
"""Effective draws of a quarter below which differences between quarters say nothing."""


START_FRACTIONS = (50, 20, 10)
"""The first 1/50, 1/20 and 1/10 of each chain are compared with what follows the first tenth."""

NOTICEABLE = 0.5
"""Standard deviations by which a beginning must differ to be warned about."""


class InitialTransient(NamedTuple):
    """A beginning of the chains that differs from the rest: burn-in that is left."""

    name: str
    n_draws: int
    shift: float


def initial_transient(functionals: Mapping[str, Floats]) -> InitialTransient | None:
    """The functional, of shape (n_chains, n_draws), whose beginning differs most from the rest.

    The mean of the first draws is compared with the means of as many consecutive draws later in
    the same chain, whose spread has all the autocorrelation that there is. Chains may begin on
    different sides, so squares are added: an F test, for all functionals and beginnings looked at.
    """
    from scipy.special import fdtri

    found, most = None, 1.0
    for name, chains in functionals.items():
        n_chains, n = chains.shape
        later = chains[:, n // 10 :]
        sd = float(later.std(axis=1).mean())
        for part in START_FRACTIONS:
            size = n // part
            if size < 5 or sd == 0.0:
                continue
            n_windows = later.shape[1] // size
            means = later[:, : n_windows * size].reshape(n_chains, n_windows, size).mean(axis=2)
            centre = means.mean(axis=1)
            df = n_chains * (n_windows - 1)
            spread = float(means.var(axis=1, ddof=1).mean()) * (1.0 + 1.0 / n_windows)
            shift = float(np.sqrt(np.square(chains[:, :size].mean(axis=1) - centre).mean()))
            # Means of few draws are not normal: far less often than once in a thousand times.
            chance = 0.01 * RARE / (len(START_FRACTIONS) * len(functionals))
            limit = float(fdtri(n_chains, df, 1.0 - chance)) * spread
            times = shift**2 / limit if limit > 0.0 else np.inf
            if times > most and shift > NOTICEABLE * sd:
                found, most = InitialTransient(name, size, shift / sd), times
    return found


class Drift(NamedTuple):
    """Excess differences between the parts of the chain that differs most."""

    average_sd: float
    maximal_sd: float
    moved: float


def drift(
    draws: AnyDraws,
    pairs: PairCounts | None = None,
    *,
    tau: float,
    rng: Rng | None = None,
    n_jobs: int | None = None,
) -> Drift:
    """How much the halves and quarters of a chain differ in which items are together.

    A chain that changes from one mode to another of the same shape changes no functional, but
    which items are together. The first two numbers are of pair probabilities, the third of
    matched clusters. ``tau`` is the autocorrelation time: draws worth an independent one.
    """
    if draws.n_items < 2:
        return Drift(0.0, 0.0, 0.0)
    pairs = pairs or count_pairs(draws, MAX_PAIRS, rng, n_jobs)
    part = pairs.quarter
    items = np.arange(draws.n_items)
    if draws.n_items > MATCHED_ITEMS:
        items = np.sort(generator(rng).choice(draws.n_items, MATCHED_ITEMS, replace=False))
    # Side by side: each has a kernel that takes as long as all the rest.
    questions: list[Callable[[], tuple[float, ...]]] = [
        partial(_pair_drift, draws, pairs, tau),
        partial(_cluster_drift, draws, part, tau, items),
    ]
    of_pairs, moved = run(lambda question: question(), questions, count_jobs(n_jobs))
    if any(of_pairs):
        # Within quarters, where a change from one to the next does not pass for autocorrelation.
        local = pair_autocorrelation_time(pairs.some, chain_rows(draws._with(chain=part)))
        of_pairs = _pair_drift(draws, pairs, max(tau, local))
    return Drift(*of_pairs, *moved)


def _pair_drift(draws: AnyDraws, pairs: PairCounts, tau: float) -> tuple[float, float]:
    """Standard deviations over the parts of the pair probabilities: their average and largest.

    Of the chain and the division with the largest, beyond what the number of draws in a part
    explains: a probability p from L draws has variance τ p(1 − p)/L. From the largest,
    sixteen times that is taken off, because it is the largest of many; from the average, as many
    times as pairs that move together can make it.
    """
    first, second, part, sizes = pairs.first, pairs.second, pairs.quarter, pairs.sizes
    together = pairs.counts / sizes[:, None]
    average = largest = 0.0
    for chain, (quarters, length) in enumerate(
        zip(together.reshape(-1, 4, first.size), sizes.reshape(-1, 4), strict=True)
    ):
        p = quarters.mean(axis=0)
        more = pairs.more[4 * chain : 4 * chain + 4].sum(axis=0) / length.sum()
        variance = p * (1.0 - p) + more
        seen = [evenly_spaced_rows(np.flatnonzero(part == 4 * chain + q), SEEN) for q in range(4)]
        apart = draws.together(np.concatenate(seen), first, second) - np.repeat(
            quarters, [s.size for s in seen], axis=0
        )
        independent = independent_pairs(apart)
        for parts in (quarters, quarters.reshape(2, 2, -1).mean(axis=1)):
            draws_each = length.sum() / len(parts)
            # The fewer effective draws a part has, the less is known of the autocorrelation.
            unsure = 1.0 + 20.0 * tau / draws_each
            noise = unsure * tau * variance / draws_each
            spread = parts.var(axis=0, ddof=1)
            usual = chi2_ratio((len(parts) - 1) * independent, RARE)
            average = max(average, float((spread - usual * noise).mean()))
            largest = max(largest, float((spread - 16.0 * noise).max()))
    return average**0.5, largest**0.5


def _cluster_drift(draws: AnyDraws, part: Ints, tau: float, items: Ints) -> tuple[float]:
    """Share of the items that change clusters between two parts, beyond the share within them.

    Clusters of two draws are matched one to one with the largest overlap, and the items outside
    it are counted. Of the chain and the two quarters or halves that differ most, and beyond what
    the same draws show when they are dealt to the parts at random, the most of many times. A chain
    that moves to and fro has parts alike: there draws that follow each other are compared.
    """
    if draws.n_draws / tau < 4.0 * MIN_EFFECTIVE * draws.n_chains:
        return (0.0,)
    largest = 0.0
    shuffle = np.random.default_rng(0)
    for quarter in range(0, int(part.max()) + 1, 4):
        seen = [evenly_spaced_rows(np.flatnonzero(part == quarter + q), SEEN) for q in range(4)]
        apart = _pairwise_moves(draws, np.concatenate(seen), items)
        quarters = np.repeat(np.arange(4), [s.size for s in seen])
        for parts in (quarters, quarters // 2):
            beyond = _excess_between(apart, _shuffled(parts, shuffle))
            largest = max(largest, float(beyond[0] - beyond[1:].max()))
        # Draws far enough from each other for a chain that mixes to have forgotten.
        length = np.count_nonzero(part // 4 == quarter // 4)
        step = int(np.ceil(THINNING_TIMES * tau * len(apart) / length))
        if len(apart) >= step * SEEN:
            largest = max(largest, _serial_closeness(apart[::step, ::step], shuffle))
    return (largest,)


def _shuffled(values: Ints, shuffle: np.random.Generator) -> Ints:
    """The values as they are, and in rows beside them in random orders."""
    rows = np.tile(values, (PERMUTATIONS + 1, 1))
    shuffle.permuted(rows[1:], axis=1, out=rows[1:])
    return rows


def _serial_closeness(apart: Floats, shuffle: np.random.Generator) -> float:
    """How much nearer draws are to the next draw than to a random one; 0 if chance explains it."""
    orders = _shuffled(np.arange(len(apart)), shuffle)
    steps = apart[orders[:, :-1], orders[:, 1:]].mean(axis=1)
    any_two = float(steps[1:].mean())
    nearer = any_two - float(steps[0])
    return nearer if nearer > CRITICAL_SD * float(steps[1:].std()) else 0.0


def _pairwise_moves(draws: AnyDraws, seen: Ints, items: Ints) -> Floats:
    """Share of the items that change clusters from one draw to another, for all pairs of draws.

    Of feature draws, share of the memberships that change.
    """
    if isinstance(draws, Draws):
        return _mismatches(canonical(draws.labels_at(seen)[:, items]))
    some = draws.subset(seen).select_items(items)
    total = 2.0 * max(1.0, float(some.n_memberships.mean()))
    return pairwise_distances(some, n_jobs=1) / total


def _mismatches(rows: Int32s) -> Floats:
    """Share of the items outside the largest overlap of matched clusters, for all pairs of rows."""
    from partita.kernels.uncertainty import match_rows

    clusters = rows.max(axis=1).astype(np.int64) + 1
    apart = np.zeros((len(rows), len(rows)))
    for r in range(len(rows) - 1):
        _, shared = match_rows(rows[r], int(clusters[r]), rows[r + 1 :], clusters[r + 1 :])
        apart[r, r + 1 :] = apart[r + 1 :, r] = (rows.shape[1] - shared) / rows.shape[1]
    return apart


def _excess_between(apart: Floats, parts: Ints) -> Floats:
    """For each row of parts, the largest excess of the mean between two over that within them."""
    n_parts = int(parts.max()) + 1
    members = (parts[:, :, None] == np.arange(n_parts)).astype(np.float64)
    count = members.sum(axis=1)
    total = members.transpose(0, 2, 1) @ apart @ members
    within = np.diagonal(total, axis1=1, axis2=2) / (count * np.maximum(1.0, count - 1.0))
    between = total / (count[:, :, None] * count[:, None, :])
    excess = between - (within[:, :, None] + within[:, None, :]) / 2.0
    return np.asarray(excess[:, ~np.eye(n_parts, dtype=np.bool_)].max(axis=1))


# ------------------------------------------------------------------ estimates of the chains


_SHOWN = 8
"""Chains that the table has, at most."""


@dataclass(frozen=True, eq=False, repr=False)
class ChainEstimates(Result):
    """Estimates of the chains one by one. Made by :func:`chain_estimates`.

    Attributes
    ----------
    chains : tuple
        Ids of the chains, as the draws have them.
    labels : ndarray of int32, shape (n_chains, n_items)
        Estimate of each chain from its own draws.
    n_clusters : ndarray of int64, shape (n_chains,)
    share : ndarray of float, shape (n_chains,)
        Of the mass of all draws, that of the chain's.
    within : ndarray of float, shape (n_chains,)
        Expected loss of a chain's estimate over its own draws.
    distances : ndarray of float, shape (n_chains, n_chains)
        Loss of the estimate in the row against that in the column.
    to_estimate : ndarray of float, shape (n_chains,)
        Loss of the estimate of all draws against that of the chain.
    expected_loss : float
        Of the estimate of all draws, over all draws.
    loss : Loss
    """

    chains: tuple[Any, ...]
    labels: NDArray[np.int32]
    n_clusters: NDArray[np.int64]
    share: Floats
    within: Floats
    distances: Floats
    to_estimate: Floats
    expected_loss: float
    loss: Loss

    @property
    def between(self) -> float:
        """Largest distance between the estimates of two chains."""
        return float(self.distances.max())

    @property
    def sentence(self) -> str:
        """Describe the excess loss of single chains in one sentence."""
        alone = in_unit(f"{self.within @ self.share:.3g}", self.loss.unit)
        return (
            f"Expected {self.loss.title}: {alone} within a chain on average and "
            f"{self.expected_loss:.3g} over all {len(self.chains)}; their estimates are up to "
            f"{self.between:.3g} apart."
        )

    def table(self) -> Table:
        """One row per chain."""
        rows = tuple(
            (
                str(chain),
                str(self.n_clusters[c]),
                f"{self.within[c]:.4g}",
                f"{self.to_estimate[c]:.3g}",
                *(f"{away:.3g}" for away in self.distances[c, :_SHOWN]),
            )
            for c, chain in enumerate(self.chains[:_SHOWN])
        )
        loss, own = with_unit("Expected loss", self.loss.unit), "To the estimate"
        columns = ("Chain", "Clusters", loss, own, *(f"To {c}" for c in self.chains[:_SHOWN]))
        n = len(self.chains)
        shown = f", the first {_SHOWN} of {n:,}" if n > _SHOWN else ""
        return Table(f"Each chain alone{shown}. {self.sentence}", columns, rows)

    def __str__(self) -> str:
        table = self.table()
        return f"{table.caption}\n{table.text()}"

    def __repr__(self) -> str:
        return f"<ChainEstimates: {counted(len(self.chains), 'chain')}. {self.sentence}>"

    def _page(self) -> Page:
        return Page("Each chain alone", tables=[self.table()])


def chain_estimates(
    draws: DrawsLike,
    *,
    labels: LabelsLike | None = None,
    loss: str | Loss | None = None,
    rng: Rng | None = None,
    n_jobs: int | None = None,
) -> ChainEstimates:
    """The estimate of each chain, and how far apart the chains are.

    With L̄_j the minimal expected loss over the draws of chain j alone and L̄ that over all draws,
    L̄ is no smaller than the mean of the L̄_j, weighted by the chains' shares of the draws: the
    difference is what chains disagree about, and what a single chain would hide. Both are the
    lowest that a search found, not proven minima. Choose it where R-hat says that chains differ,
    to see by how many bits; where it is as large as L̄ itself, report :func:`representatives`.

    Parameters
    ----------
    draws : Draws with at least two chains
    labels : array_like, shape (n_items,), or an estimate, optional
        The estimate of all draws; searched for by default.
    loss : str or Loss, optional
        VI by default.
    rng, n_jobs
        As in :func:`estimate`.

    Returns
    -------
    ChainEstimates

    Notes
    -----
    One search per chain, without a bound; for more than 50,000 items a brief one that begins at
    the estimate of all draws.

    References
    ----------
    Wade and Ghahramani (2018) for the estimate; Yao, Vehtari and Gelman (2022), Stacking for
    non-mixing Bayesian computations, Journal of Machine Learning Research 23, for chains that each
    know a mode.

    Examples
    --------
    >>> import partita as pt
    >>> draws = pt.Draws([[0, 0, 1], [0, 0, 1], [0, 1, 1], [0, 1, 1]], chain=[1, 1, 2, 2])
    >>> found = pt.chain_estimates(draws)
    >>> found.within.tolist(), round(found.expected_loss, 4), round(found.between, 4)
    ([0.0, 0.0], 0.6667, 1.3333)
    """
    clean = as_draws(draws)
    if clean.chain is None or clean.n_chains < 2:
        raise InvalidInputError(
            "these draws have fewer than two chains; give chain=... (one id per draw), or a "
            "(chain, draw, item) array to as_draws.",
            argument="draws",
        )
    measure = loss_for(loss, clean)
    if labels is None:
        labels = estimate(clean, loss=measure, bound=None, rng=rng, n_jobs=n_jobs)
    return estimates_by_chain(clean, clean.clean(labels, "labels"), measure, rng, n_jobs)


def estimates_by_chain(
    draws: Draws, labels: Labels, loss: Loss, rng: Rng | None, n_jobs: int | None
) -> ChainEstimates:
    """See :func:`chain_estimates`."""
    brief: dict[str, Any] = {}
    if draws.n_items > MANY_ITEMS:
        brief = {"method": "brief", "starts": labels}
    of_draw = np.asarray(draws.chain)
    ids = np.unique(of_draw)
    found = [
        estimate(
            draws[np.flatnonzero(of_draw == chain)],
            loss=loss,
            bound=None,
            rng=rng,
            n_jobs=n_jobs,
            progress=False,
            **brief,
        )
        for chain in ids
    ]
    rows = np.stack([each.labels for each in found])
    own = Draws(rows)
    return ChainEstimates(
        chains=tuple(ids.tolist()),
        labels=rows,
        n_clusters=np.array([each.n_clusters for each in found]),
        share=np.array([draws.probabilities[of_draw == chain].sum() for chain in ids]),
        within=np.array([each.expected_loss for each in found]),
        distances=pairwise_distances(own, loss=loss, n_jobs=n_jobs),
        to_estimate=loss.distances(labels, own, n_jobs),
        expected_loss=float(loss.distances(labels, draws, n_jobs) @ draws.probabilities),
        loss=loss,
    )
