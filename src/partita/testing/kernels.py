"""A kernel against itself, against a slow reference, and against the exact posterior."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from partita._validate import Rng, called_rightly, positive, unexpected
from partita._validate import generator as generator_from
from partita.errors import InvalidInputError
from partita.kernels.arrays import Floats
from partita.kernels.gibbs.types import Likelihood, Prior
from partita.partitions.enumeration import all_partitions
from partita.partitions.types import DataLike
from partita.samplers.base import Kernel
from partita.samplers.chains import Arrays, flatten
from partita.samplers.priors import DirichletProcess, PartitionPrior
from partita.samplers.sample import sample
from partita.samplers.table import as_table
from partita.testing.sampling import RUN, assert_exact, frequencies

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
    partitions = np.array(list(all_partitions(_ITEMS)))
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

    def marginal(self, items: NDArray[np.integer]) -> float:
        """Log density of these rows together."""
        from partita.kernels.gibbs.family import log_marginal

        store, work = self.cluster(items)
        return float(log_marginal(self.model, store, work, 0))

    def cluster(self, items: NDArray[np.integer]) -> tuple[Floats, Floats]:
        """A store whose first cluster holds these rows, added in their order."""
        from partita.kernels.gibbs.family import add, refresh
        from partita.kernels.gibbs.primitives import LANES

        store = np.zeros((self.arrays.n_rows, LANES))
        work = np.zeros((self.arrays.n_work, LANES))
        for i in items:
            add(self.model, int(i), store, work, 0)
        refresh(self.model, self.prior, store, work, 0)
        return store, work

    def predictive(self, item: int, others: NDArray[np.integer]) -> float:
        """Log density of one row given others."""
        from partita.kernels.gibbs.family import log_weights

        store, work = self.cluster(others)
        out = np.empty(store.shape[1])
        log_weights(self.model, int(item), store, work, 1, out)
        return float(out[0])

    def without(self, items: NDArray[np.integer], gone: NDArray[np.integer]) -> float:
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
        with called_rightly(log_marginal, "log_marginal", "a function of rows: a log density"):
            expected = float(log_marginal(values[items]))
        _compare("log_marginal", found, "the reference", expected, items, tol)


def _compare(
    what: str, found: float, other: str, expected: float, items: NDArray[np.integer], tol: float
) -> None:
    if not abs(found - expected) <= tol * max(1.0, abs(expected)):
        raise AssertionError(
            f"{what} is {found!r}, {other} {expected!r}, for the items {items.tolist()}."
        )
