"""A prior against all partitions of a few items."""

from __future__ import annotations

import numpy as np

from partita._validate import Rng, unexpected, whole
from partita.partitions.enumeration import all_partitions
from partita.samplers.categorical import DirichletCategorical
from partita.samplers.priors import PartitionPrior
from partita.samplers.sample import sample
from partita.testing.sampling import RUN, assert_exact, frequencies

_LARGEST = 8
"""4,140 partitions."""


def check_prior(prior: PartitionPrior, *, n_items: int = 6, rng: Rng | None = None) -> None:
    """Check a partition prior by enumeration, and the sampler under it.

    For every n up to ``n_items``: log probabilities depend on the sizes alone, probabilities of
    all partitions sum to 1, ``expected_clusters`` is their mean. For ``n_items``: draws of the
    sampler without information (a likelihood of 1) have these probabilities, within Monte Carlo
    error. The last is what finds a prior that has not the product form its tables claim.

    Parameters
    ----------
    prior : PartitionPrior
    n_items : int
        Up to 8.
    rng : int, SeedSequence or Generator, optional
        Of the run.

    Raises
    ------
    AssertionError
        Saying what differs.

    Notes
    -----
    Cost: 60,000 draws of ``n_items`` items, about a second once compiled.

    References
    ----------
    Geweke, J. (2004), Getting it right. Journal of the American Statistical Association 99, on
    testing samplers.

    Examples
    --------
    >>> import partita as pt
    >>> uniform = pt.ProductPartition(lambda n, k: 0.0, lambda n: 0.0)
    >>> pt.testing.check_prior(uniform, n_items=4)
    """
    rng = 0 if rng is None else rng
    if not isinstance(prior, PartitionPrior):
        raise unexpected(prior, "prior", "a PartitionPrior")
    n_items = whole(n_items, "n_items", least=2, most=_LARGEST)
    for n in range(1, n_items + 1):
        partitions = np.array(list(all_partitions(n)))
        log_p = np.array([prior.log_probability(labels) for labels in partitions])
        _check_sizes(partitions, log_p)
        total = float(np.exp(log_p).sum())
        if abs(total - 1) > 1e-8:
            raise AssertionError(f"probabilities of the partitions of {n} items sum to {total!r}.")
        mean = float(np.exp(log_p) @ (partitions.max(axis=1) + 1))
        claimed = prior.expected_clusters(n)
        if abs(mean - claimed) > 1e-8 * n:
            raise AssertionError(
                f"expected_clusters({n}) is {claimed!r}; by enumeration it is {mean!r}."
            )
    fit = sample(np.zeros(n_items), kernel=DirichletCategorical(), prior=prior, rng=rng, **RUN)  # type: ignore[arg-type]
    assert_exact(frequencies(fit.draws, partitions), np.exp(log_p))


def _check_sizes(partitions: np.ndarray, log_p: np.ndarray) -> None:
    seen: dict[tuple[int, ...], float] = {}
    for labels, value in zip(partitions, log_p, strict=True):
        sizes = tuple(sorted(np.bincount(labels).tolist()))
        before = seen.setdefault(sizes, value)
        if not (before == value or abs(before - value) < 1e-8):
            raise AssertionError(
                f"two partitions with the sizes {sizes} have log probabilities {before!r} and "
                f"{value!r}; an exchangeable prior gives them one."
            )
