"""Whether chains agree on which items belong together."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial

import numpy as np
from numpy.typing import NDArray

from partita._result import Result
from partita._validate import Rng, generator, whole
from partita.errors import InvalidInputError
from partita.kernels.arrays import Floats, Ints
from partita.partitions.arrays import by_item
from partita.partitions.convert import as_draws
from partita.partitions.draws import Draws
from partita.partitions.functionals import chains_of
from partita.partitions.passes import Block, sum_blocks
from partita.partitions.types import DrawsLike

MAX_PAIRS = 5_000
"""Pairs of items compared by default; a random subset when there are more."""


@dataclass(frozen=True, repr=False)
class ChainAgreement(Result):
    """Standard deviation over chains of the probability that two items are together.

    Attributes
    ----------
    average_sd, maximal_sd : float
        Over the pairs compared.
    n_pairs : int
        Pairs compared.
    all_pairs : bool
        Whether these are all pairs; a random subset otherwise.
    n_chains : int
    """

    average_sd: float
    maximal_sd: float
    n_pairs: int
    all_pairs: bool
    n_chains: int


def chain_agreement(
    draws: DrawsLike,
    *,
    max_pairs: int = MAX_PAIRS,
    rng: Rng | None = None,
    n_jobs: int | None = None,
) -> ChainAgreement:
    """How much the chains disagree about which items are together.

    For each pair of items, the standard deviation (with n_chains − 1 below) of
    the pair's probability over the chains; reported are its average and its
    maximum. An average above 0.05 means that the chains describe different
    posteriors.

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
    clean = as_draws(draws)
    if clean.chain is None or clean.n_chains < 2:
        known = "no chain ids" if clean.chain is None else "a single chain"
        raise InvalidInputError(
            f"these draws have {known}; agreement between chains needs at least two. Run the "
            "sampler several times and pass chain=... (one id per draw), or a "
            "(chain, draw, item) array to as_draws.",
            argument="draws",
        )
    if clean.n_items < 2:
        return ChainAgreement(0.0, 0.0, 0, True, clean.n_chains)
    first, second, complete = choose_pairs(clean.n_items, max_pairs, rng)
    together, _ = together_in(clean, chains_of(clean)[1], first, second, n_jobs)
    spread = together.std(axis=0, ddof=1)
    return ChainAgreement(
        float(spread.mean()), float(spread.max()), first.size, complete, clean.n_chains
    )


def choose_pairs(
    n_items: int, max_pairs: int, rng: Rng | None
) -> tuple[NDArray[np.int64], NDArray[np.int64], bool]:
    """All pairs of items, or that many different ones at random."""
    max_pairs, chance = whole(max_pairs, "max_pairs", least=1), generator(rng)
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


def together_in(
    draws: Draws,
    number: NDArray[np.int64],
    first: NDArray[np.int64],
    second: NDArray[np.int64],
    n_jobs: int | None,
) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
    """Probability of each pair in the draws of each number, and how many draws these are."""
    sizes = np.bincount(number)
    count = partial(_counted, number=number, n_chains=sizes.size, first=first, second=second)
    (together,) = sum_blocks(count, draws, n_jobs=n_jobs)
    return np.asarray(together / sizes[:, None]), sizes


def _counted(
    block: Block, *, number: NDArray[np.intp], n_chains: int, first: Ints, second: Ints
) -> tuple[Floats]:
    """How often each pair is together in the draws of each chain in one block."""
    from partita.kernels.uncertainty import count_together

    together = np.zeros((n_chains, first.size))
    here = number[block.start : block.start + block.n_clusters.size]
    for chain in np.unique(here).tolist():
        columns = by_item(block.labels[here == chain], block.labels.dtype.type)
        together[chain] = count_together(columns, first, second)
    return (together,)
