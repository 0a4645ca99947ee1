"""Checks of losses, priors and kernels that users bring, against all partitions of a few items."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from partita._validate import Rng, integer, positive, translate_call_errors, unexpected
from partita._validate import generator as generator_from
from partita.draws import Draws
from partita.errors import InvalidInputError
from partita.io.data_table import as_table
from partita.kernels.arrays import Floats, Integers
from partita.kernels.gibbs.primitives import Likelihood, Prior
from partita.labels import DataLike, Labels
from partita.lattice import partition_table
from partita.losses.base import Loss
from partita.losses.evaluate import as_loss, pairwise_distances
from partita.losses.user import (
    CHECKED_ITEMS,
    EXACT,
    claim_violation,
    distance_table,
    price_violation,
)
from partita.samplers.base import Kernel
from partita.samplers.chains import Arrays, flatten
from partita.samplers.discrete import DirichletCategorical
from partita.samplers.priors import DirichletProcess, PartitionPrior
from partita.samplers.sample import sample
from partita.search.estimate import estimate
from partita.similarity_matrix import similarity

__all__ = ["check_kernel", "check_loss", "check_prior"]


def __dir__() -> list[str]:
    return sorted(__all__)


FALSE_ALARM = 1e-5
"""Probability with which a correct sampler fails a check; seeds are fixed, so it is drawn once."""

RUN = {"draws": 1_500, "burn_in": 50, "chains": 40, "progress": False}
"""A run long enough to see errors of about one in a hundred in a partition's probability."""


def frequencies(draws: Draws, partitions: Integers) -> Floats:
    """Share of each partition in each chain, shape (n_chains, n_partitions)."""
    place = (partitions.shape[1] + 1) ** np.arange(partitions.shape[1])
    codes = partitions @ place
    order = np.argsort(codes)
    position = order[np.searchsorted(codes[order], draws.labels.astype(np.int64) @ place)]
    chain = np.asarray(draws.chain)
    chains = int(chain.max()) + 1
    cells = chain * len(partitions) + position
    counts = np.bincount(cells, minlength=chains * len(partitions)).reshape(chains, -1)
    return np.asarray(counts / counts.sum(axis=1, keepdims=True))


def assert_exact(found: Floats, exact: Floats) -> None:
    """Each partition's frequency, and the total variation distance, within Monte Carlo error.

    Partitions of probability below 0.002 are taken together: a t test needs frequencies that
    are about normal. The level is divided by the number of tests (Bonferroni). The total
    variation distance is compared with what it would be if the chains' mean differed from the
    target by Monte Carlo error alone: chains' deviations from their mean, weighted by normal
    variates (a multiplier bootstrap), give 1,000 such distances, and 1.5 times their largest
    is allowed.
    """
    from scipy import stats

    common = exact >= 0.002
    cells = np.column_stack([found[:, common], found[:, ~common].sum(axis=1)])
    target = np.append(exact[common], exact[~common].sum())
    if target[-1] < 1e-6:
        if cells[:, -1].mean() >= 1e-3:
            raise AssertionError(
                f"partitions of probability {target[-1]:.2g} have a share of "
                f"{cells[:, -1].mean():.4f} in the draws."
            )
        cells, target = cells[:, :-1], target[:-1]
    chains = len(cells)
    error = np.maximum(cells.std(axis=0, ddof=1) / np.sqrt(chains), 1e-12)
    z = (cells.mean(axis=0) - target) / error
    limit = stats.t.isf(FALSE_ALARM / 2 / len(z), chains - 1)
    worst = int(np.abs(z).argmax())
    if abs(z[worst]) >= limit:
        raise AssertionError(
            f"a partition of probability {target[worst]:.5f} has a share of "
            f"{cells[:, worst].mean():.5f} in the draws: {abs(z[worst]):.1f} standard errors away, "
            f"where {limit:.1f} are allowed."
        )
    distance = np.abs(cells.mean(axis=0) - target).sum() / 2
    noise = np.random.default_rng(0).standard_normal((1000, chains)) / chains
    by_chance = np.abs(noise @ (cells - cells.mean(axis=0))).sum(axis=1) / 2
    if distance >= 1.5 * by_chance.max():
        raise AssertionError(
            f"the draws are {distance:.4f} away from the exact distribution, in total variation; "
            f"by chance it would be {by_chance.max():.4f} at most."
        )


def check_loss(loss: str | Loss, *, n_items: int = CHECKED_ITEMS, rng: Rng | None = None) -> None:
    """Check a loss by enumeration, and the search for its minimum.

    On all partitions: values are finite, not negative, 0 for equal partitions and free of
    labels; a symmetric loss is symmetric, a metric obeys the triangle inequality, a price a mixes
    two losses; compiled arithmetic equals the formula as it is written, and arithmetic given
    twice agrees. On a few weighted draws: expected losses from the similarity matrix equal those
    from the draws where a loss claims so, the estimate is the smallest of all partitions, and no
    lower bound exceeds it.

    Parameters
    ----------
    loss : str or Loss
    n_items : int, default 6
        From 2 to 6; fewer are faster for a loss that is measured by evaluation.
    rng : int, SeedSequence or Generator, optional
        Of the draws.

    Raises
    ------
    AssertionError
        Saying what differs, and for which partitions.

    Notes
    -----
    The cost is that of 203² distances at six items: a second once compiled.

    References
    ----------
    Wade, S. and Ghahramani, Z. (2018), Bayesian cluster analysis, Section 3.

    Examples
    --------
    >>> import partita as pt
    >>> pt.testing.check_loss(pt.VI())
    """
    rng = 0 if rng is None else rng
    measure = as_loss(loss)
    n_items = integer(n_items, "n_items", least=2, most=CHECKED_ITEMS)
    if measure.averages_distances:
        for n in range(1, n_items + 1):
            found = claim_violation(measure, n_items=n)
            assert found is None, found
    rows, plain = partition_table(n_items), distance_table(measure, n_items)
    _refuse_difference(pairwise_distances(rows, rows, measure, n_jobs=1), plain, measure, rows)
    found = price_violation(measure, rows, plain)
    assert found is None, f"{measure!r} {found}"
    _check_search(measure, rows, rng)


def _refuse_difference(one: Floats, other: Floats, loss: Loss, rows: Labels) -> None:
    wrong = np.argwhere(np.abs(one - other) > EXACT)
    if len(wrong):
        e, t = wrong[0]
        raise AssertionError(
            f"{loss!r}, compiled and as written, differ: {one[e, t]:g} and {other[e, t]:g} for the "
            f"estimate {rows[e].tolist()} and the truth {rows[t].tolist()}."
        )


def _check_search(loss: Loss, rows: Labels, rng: Rng) -> None:
    """The estimate on a few weighted draws against all partitions."""
    generator = generator_from(rng)
    drawn = rows[generator.choice(len(rows), min(12, len(rows)), replace=False)]
    draws = Draws(drawn, weights=generator.random(len(drawn)) + 0.1)
    values = np.array([loss.expected(row, draws) for row in rows])
    if loss.uses_similarity:
        p = similarity(draws)
        other = np.array([loss.expected_from_similarity(row, p) for row in rows])
        wrong = np.flatnonzero(np.abs(values - other) > EXACT)
        assert not len(wrong), (
            f"{loss!r} expects {values[wrong[0]]:g} from draws and {other[wrong[0]]:g} from their "
            f"similarity matrix for {rows[wrong[0]].tolist()}."
        )
    method = "auto" if loss.form(1) is None else "sweep"
    best = estimate(draws, loss=loss, method=method, rng=rng)
    lowest = float(values.min())
    assert abs(best.expected_loss - lowest) <= EXACT, (
        f"{loss!r}: the search reached {best.expected_loss:g}, but {lowest:g} is the smallest, at "
        f"{rows[int(values.argmin())].tolist()}."
    )
    bound = best.lower_bound
    assert bound is None or bound <= lowest + EXACT, (
        f"{loss!r}: a lower bound of {bound:g} was reported, but {lowest:g} is reached."
    )


_LARGEST = 8
"""4,140 partitions."""


def check_prior(prior: PartitionPrior, *, n_items: int = 6, rng: Rng | None = None) -> None:
    """Check a partition prior by enumeration, and the sampler under it.

    For every n up to ``n_items``: log probabilities depend on the sizes alone, probabilities of
    all partitions sum to 1, ``expected_clusters`` is their mean. For ``n_items``: draws of the
    sampler without information (a likelihood of 1) have these probabilities, within Monte Carlo
    error. The last is what finds a prior without the product form that its tables claim.

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
    n_items = integer(n_items, "n_items", least=2, most=_LARGEST)
    for n in range(1, n_items + 1):
        partitions = partition_table(n)
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


_ITEMS = 6
"""203 partitions."""


def check_kernel(
    kernel: Kernel,
    data: DataLike,
    *,
    log_marginal: Callable[[Floats], float] | None = None,
    prior: PartitionPrior | None = None,
    tol: float = 1e-8,
    rng: Rng | None = None,
) -> None:
    """Check a kernel's five functions, and the sampler that uses them.

    On the rows given: the log marginal density of a cluster is the sum of log predictive
    densities along any order in which its items join; ``remove`` undoes ``add``; the marginal
    is the reference's, where one is given. On the first six rows: draws of the sampler have the
    posterior probabilities of all 203 partitions, within Monte Carlo error.

    Parameters
    ----------
    kernel : Kernel
    data : array_like, DataFrame or path
        Rows to check it on, at least 6; with missing cells if the kernel takes them.
    log_marginal : callable, optional
        A slow and obvious log density of some rows together, their parameters integrated out: an
        independent formula, or a numerical integral. Without one, a kernel that is consistently
        wrong, such as one without its normalising constant, goes unnoticed.
    prior : PartitionPrior, optional
        By default ``DirichletProcess(1.0)``.
    tol : float
        Allowed difference of log densities.
    rng : int, SeedSequence or Generator, optional
        Of the run.

    Raises
    ------
    AssertionError
        Saying what differs.

    Notes
    -----
    Cost: about a second once compiled, and that of the reference.

    References
    ----------
    Geweke, J. (2004), Getting it right. Journal of the American Statistical Association 99, on
    testing samplers.

    Examples
    --------
    >>> import partita as pt
    >>> kernel = pt.NormalInverseGamma(mean=0, precision=0.5, shape=2, rate=1)
    >>> pt.testing.check_kernel(kernel, [[-1.2], [-0.7], [-1.1], [0.8], [1.9], [1.0]])
    """
    rng = 0 if rng is None else rng
    if not isinstance(kernel, Kernel):
        raise unexpected(kernel, "kernel", "a Kernel")
    if log_marginal is not None and not callable(log_marginal):
        raise unexpected(log_marginal, "log_marginal", "a function of rows")
    tol = positive(tol, "tol")
    table = as_table(data)
    if table.n_rows < _ITEMS:
        raise InvalidInputError(
            f"{table.n_rows} rows; expected at least {_ITEMS} to check on.", argument="data"
        )
    bound = kernel.bind(table)
    values = bound.encode(table)
    of_rows = _Compiled(bound, values)
    _check_orders(of_rows, len(values), tol, rng)
    if log_marginal is not None:
        _check_reference(of_rows, bound, values, log_marginal, tol)
    prior = DirichletProcess(1.0) if prior is None else prior
    fit = sample(table.rows(slice(0, _ITEMS)), kernel=bound, prior=prior, rng=rng, **RUN)  # type: ignore[arg-type]
    partitions = partition_table(_ITEMS)
    log_joint = np.array([prior.log_probability(labels) for labels in partitions])
    for m, labels in enumerate(partitions):
        for j in range(labels.max() + 1):
            log_joint[m] += of_rows.marginal(np.flatnonzero(labels == j))
    exact = np.exp(log_joint - log_joint.max())
    assert_exact(frequencies(fit.draws, partitions), exact / exact.sum())


class _Compiled:
    """The five functions at work on clusters of a few rows."""

    def __init__(self, kernel: Kernel, values: Floats) -> None:
        self.arrays: Arrays = flatten(kernel, len(values), np.isnan(values).any(axis=0))  # type: ignore[arg-type]
        self.model: Likelihood = self.arrays.likelihood(values)
        zeros = np.zeros(len(values) + 1)
        self.prior = Prior(0.0, zeros, zeros, zeros, 0.0, 0.0)

    def marginal(self, items: Integers) -> float:
        """Log density of these rows together."""
        from partita.kernels.gibbs.family import log_marginal

        store, work = self.cluster(items)
        return float(log_marginal(self.model, store, work, 0))

    def cluster(self, items: Integers) -> tuple[Floats, Floats]:
        """A store whose first cluster holds these rows, added in their order."""
        from partita.kernels.gibbs.family import add, refresh
        from partita.kernels.gibbs.primitives import LANES

        store = np.zeros((self.arrays.n_rows, LANES))
        work = np.zeros((self.arrays.n_work, LANES))
        for i in items:
            add(self.model, int(i), store, work, 0)
        refresh(self.model, self.prior, store, work, 0)
        return store, work

    def predictive(self, item: int, others: Integers) -> float:
        """Log density of one row given others."""
        from partita.kernels.gibbs.family import log_weights

        store, work = self.cluster(others)
        out = np.empty(store.shape[1])
        log_weights(self.model, int(item), store, work, 1, out)
        return float(out[0])

    def without(self, items: Integers, gone: Integers) -> float:
        """Log density of these rows after some were taken out again."""
        from partita.kernels.gibbs.family import log_marginal, refresh, remove

        store, work = self.cluster(np.concatenate([items, gone]))
        for i in gone:
            remove(self.model, int(i), store, work, 0)
        refresh(self.model, self.prior, store, work, 0)
        return float(log_marginal(self.model, store, work, 0))


def _check_orders(of_rows: _Compiled, n_rows: int, tol: float, rng: Rng) -> None:
    generator = generator_from(rng)
    for size in range(1, min(n_rows, 8) + 1):
        items = generator.permutation(n_rows)[:size]
        whole = of_rows.marginal(items)
        chained = sum(of_rows.predictive(items[m], items[:m]) for m in range(size))
        _compare(
            "log_marginal of a cluster", whole, "the sum of log_predictive", chained, items, tol
        )
        again = of_rows.marginal(generator.permutation(items))
        _compare(
            "log_marginal", again, "that of the same items in another order", whole, items, tol
        )
        if size > 1:
            kept = of_rows.without(items[: size // 2], items[size // 2 :])
            direct = of_rows.marginal(items[: size // 2])
            _compare(
                "log_marginal after remove", kept, "that without those items", direct, items, tol
            )


def _check_reference(
    of_rows: _Compiled,
    kernel: Kernel,
    values: Floats,
    log_marginal: Callable[[Floats], float],
    tol: float,
) -> None:
    for items in (np.arange(1), np.arange(2), np.arange(min(5, len(values)))):
        found = of_rows.marginal(items) + float(kernel.log_base(values[items]).sum())
        with translate_call_errors(
            log_marginal, "log_marginal", "a function of rows: a log density"
        ):
            expected = float(log_marginal(values[items]))
        _compare("log_marginal", found, "the reference", expected, items, tol)


def _compare(
    what: str, found: float, other: str, expected: float, items: Integers, tol: float
) -> None:
    if not abs(found - expected) <= tol * max(1.0, abs(expected)):
        raise AssertionError(
            f"{what} is {found!r}, {other} {expected!r}, for the items {items.tolist()}."
        )
