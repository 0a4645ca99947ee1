"""Sample a Bayesian mixture: the entry point, the default kernel and where chains start."""

from __future__ import annotations

import hashlib
import logging
import math
import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from partita._files import PathLike
from partita._resources import count_jobs, require_memory, run
from partita._validate import Rng, choice, generator, integer, number, unexpected
from partita._validate import path as clean_path
from partita._wording import listed
from partita.errors import (
    Interrupted,
    InvalidDataError,
    InvalidInputError,
    NotSupportedError,
    PartitaError,
    UnknownNameError,
)
from partita.io.data_table import Table, as_table, refuse_doubtful
from partita.kernels.arrays import Bools, Floats, Ints
from partita.labels import (
    DataSource,
    Engine,
    Labels,
    LabelsLike,
    as_label_rows,
    as_labels,
    canonical,
)
from partita.samplers.base import Kernel, Product, present_moments
from partita.samplers.chains import (
    SAMPLERS,
    ChainState,
    Checkpointer,
    Display,
    Model,
    Progress,
    Run,
    Settings,
    Step,
    _advance,
    advance_all,
    build_model,
    flatten,
    read_checkpoint,
    runner,
)
from partita.samplers.discrete import BetaBernoulli, DirichletCategorical, GammaPoisson
from partita.samplers.fit import STARTED, Fit, collect_draws
from partita.samplers.normal import NormalInverseGamma, NormalInverseWishart, priors_of
from partita.samplers.priors import DirichletProcess, Gamma, PartitionPrior, clean_prior

STARTS = ("one", "singletons", "kmeans", "sample")

_DEFAULT_PRIOR = DirichletProcess(Gamma(1, 1))

_FEW = 2_000
"""Up to this many items a chain may start from singletons, whose first sweep costs O(N²)."""
_MANY = 10_000
"""From more items on, chains start from samples: one cluster sticks (13 clusters for 20 true ones
at 10⁴ items) and k-means of all rows has not converged after 620 iterations at 10⁵, where a sample
start has after 120."""


_CHAIN_BYTES = 4_096
"""Bytes that a chain takes besides its labels, most of them for its random streams."""


def chain_states(
    initial: Any,
    kernel: Kernel,
    prior: PartitionPrior,
    values: Floats,
    chains: int,
    rng: Rng | None,
    n_jobs: int | None = None,
) -> list[ChainState]:
    """Start and random stream of each chain, made before the chains run in parallel.

    Concentration and rates are NaN and empty where the model is to say them.
    """
    require_memory(
        chains * (4 * len(values) + _CHAIN_BYTES), f"beginning {chains:,} chains", "Ask for fewer."
    )
    entropy = generator(rng, default=None).integers(0, 2**63, size=4)
    children = [seed.spawn(2) for seed in np.random.SeedSequence(entropy.tolist()).spawn(chains)]
    generators = [np.random.default_rng(start) for start, _ in children]
    n_items = len(values)
    most = prior.bind(n_items).most_clusters()
    most = n_items if most is None else min(most, n_items)
    if starts_from_samples(initial, n_items):
        starts = run(lambda g: _from_sample(kernel, prior, values, most, g), generators, n_jobs)
    else:
        labels = starting_partitions(initial, kernel, values, most, generators)
        starts = [ChainState(each, np.nan, np.zeros(4, np.uint64)) for each in labels]
    return [
        replace(start, random=stream.generate_state(4, np.uint64).astype(np.uint64))
        for start, (_, stream) in zip(starts, children, strict=True)
    ]


def starts_from_samples(initial: Any, n_items: int) -> bool:
    """Whether chains start from samples of the rows."""
    if initial is None:
        return n_items > _MANY
    return isinstance(initial, str) and initial == "sample"


def starting_partitions(
    initial: Any, kernel: Kernel, values: Floats, most: int, generators: list[np.random.Generator]
) -> list[Labels]:
    """One canonical partition per chain; by default of different kinds, to make R-hat telling."""
    n_items = len(values)
    if initial is not None and not (isinstance(initial, str) and _is_name(initial)):
        return _given(initial, n_items, len(generators), most)
    if initial is not None and initial not in STARTS:
        raise UnknownNameError(
            f"initial={initial!r} is unknown; expected one of {', '.join(STARTS)}, or labels.",
            argument="initial",
        )
    features = kernel.features(values)
    names = [initial or _default(chain, n_items) for chain in range(len(generators))]
    return [
        _start(name, features, most, stream) for name, stream in zip(names, generators, strict=True)
    ]


def _is_name(initial: str) -> bool:
    """Whether the text names a way to start, known or not, and no file."""
    return initial in STARTS or not (Path(initial).suffix or Path(initial).exists())


def _default(chain: int, n_items: int) -> str:
    name = STARTS[min(chain, 2)]
    return "kmeans" if name == "singletons" and n_items > _FEW else name


def _start(name: str, features: Floats, most: int, generator: np.random.Generator) -> Labels:
    n_items = features.shape[0]
    if name == "one" or most == 1:
        return np.zeros(n_items, np.int32)
    if name == "singletons" and most == n_items:
        return np.arange(n_items, dtype=np.int32)
    largest = max(3, math.isqrt(n_items))
    k = most if name == "singletons" else int(generator.integers(2, largest + 1))
    return as_labels(_kmeans(features, min(k, most), generator))


ROWS, CENTRES, _ITERATIONS = 5_000, 60, 300
"""Rows of a sample, groups of k-means there, and iterations on them. Sixty groups are too many for
twenty clusters, as they must be: a chain merges groups sooner than it splits clusters."""
_BLOCK = 50_000
"""Rows that are allocated at a time."""


def _from_sample(
    kernel: Kernel, prior: PartitionPrior, values: Floats, most: int, rng: np.random.Generator
) -> ChainState:
    """A chain's start: its own random rows, a chain on them, then all rows by their densities.

    Where the chain keeps half the groups that it began with, they were too few for these data, and
    it is run again on four times the rows from four times the groups.
    """
    from partita.kernels.gibbs.family import join_weights

    n_items, times = len(values), 1
    incomplete = np.asarray(np.isnan(values).any(axis=0))
    while True:
        n_rows, centres = min(ROWS * times, n_items), min(CENTRES * times, most)
        rows = np.sort(rng.choice(n_items, n_rows, replace=False))
        own = prior_for_sample(prior, n_rows)
        found, model = start_on_rows(kernel, own, values[rows], incomplete, centres, rng)
        k = int(found.labels.max()) + 1
        if n_rows == n_items or 2 * k <= centres or k == most:
            break
        times *= 4
    arrays = flatten(kernel.at(found.rates), n_rows, incomplete)
    likelihood = arrays.likelihood(values[rows])
    everywhere = np.empty(n_items, np.int32)
    for start in range(0, n_items, _BLOCK):
        block = slice(start, min(start + _BLOCK, n_items))
        points = likelihood._replace(data=arrays.ordered(values[block]))
        _, weights = join_weights(points, likelihood, model.prior.arrays, found.labels, k)
        weights = np.exp(weights - weights.max(axis=1, keepdims=True)).cumsum(axis=1)
        reached = weights[:, -1:] * rng.random((len(weights), 1))
        everywhere[block] = (weights <= reached).sum(axis=1)
    everywhere[rows] = found.labels
    concentration = found.concentration if own.kind == prior.kind else np.nan
    return ChainState(canonical(everywhere), concentration, found.random, found.rates)


def start_on_rows(
    kernel: Kernel,
    prior: PartitionPrior,
    values: Floats,
    incomplete: Bools | None,
    centres: int,
    rng: np.random.Generator,
) -> tuple[ChainState, Model]:
    """A short chain on these rows, from groups of k-means."""
    labels = as_labels(_kmeans(kernel.features(values), centres, rng))
    model = build_model(kernel, prior, values, incomplete)
    random = rng.integers(1, 2**63, size=4).astype(np.uint64)
    rates, concentration = model.arrays.starting_rates(), model.prior.concentration
    settings = Settings(1, _ITERATIONS - 1, 1, 1, 1, split_merges(len(values)))
    first = Step(settings, ChainState(labels, concentration, random, rates), 0, _ITERATIONS)
    return _advance(model, first)[0], model


def prior_for_sample(prior: PartitionPrior, n_items: int) -> PartitionPrior:
    """The prior for a part of the items; the default where it is for all of them only."""
    try:
        return prior.bind(n_items)
    except PartitaError:
        return _DEFAULT_PRIOR


def split_merges(n_items: int) -> int:
    """Split–merge moves per iteration unless told otherwise: sweeps mix more slowly the more
    items there are."""
    return min(8, 1 + n_items // 200)


def _kmeans(features: Floats, k: int, generator: np.random.Generator) -> Ints:
    """Ten Lloyd iterations from k items drawn far apart; empty groups just vanish."""
    chosen = [int(generator.integers(features.shape[0]))]
    nearest = np.full(features.shape[0], np.inf)
    for _ in range(k - 1):
        nearest = np.minimum(nearest, ((features - features[chosen[-1]]) ** 2).sum(axis=1))
        if not nearest.any():
            break
        chosen.append(int(generator.choice(nearest.size, p=nearest / nearest.sum())))
    centers = features[chosen]
    labels = np.zeros(features.shape[0], np.int64)
    for _ in range(10):
        distances = (centers**2).sum(axis=1) - 2 * features @ centers.T
        labels = distances.argmin(axis=1)
        sizes = np.bincount(labels, minlength=len(centers))
        sums = np.zeros_like(centers)
        np.add.at(sums, labels, features)
        centers = np.where(sizes[:, None] > 0, sums / np.maximum(sizes, 1)[:, None], centers)
    return labels


def _given(initial: Any, n_items: int, chains: int, most: int) -> list[Labels]:
    matrix = as_label_rows(initial, n_items=n_items, argument="initial")
    if matrix.shape[0] not in (1, chains):
        raise InvalidInputError(
            f"initial has {matrix.shape[0]} partitions for {chains} chains; expected one, or one "
            "per chain.",
            argument="initial",
        )
    if matrix.max() >= most:
        raise InvalidInputError(
            f"initial has {int(matrix.max()) + 1} clusters, but the prior allows {most} at most.",
            argument="initial",
        )
    return [matrix[c % matrix.shape[0]].copy() for c in range(chains)]


def initial_state(states: Sequence[ChainState]) -> Progress:
    """The progress of a run that has not begun."""
    hashes = (
        hashlib.sha256(b"".join(array.tobytes() for array in arrays)).hexdigest()
        for arrays in ([s.labels for s in states], [s.random for s in states])
    )
    labels, random = hashes
    return Progress(0, tuple(states), ((),) * len(states), (labels, random))


def refuse_other_start(
    resumed: Progress, given: Progress, path: PathLike, *, initial: bool, rng: bool
) -> None:
    """Refuse ``initial`` or ``rng`` that would be ignored: the run was begun with others."""
    for asked, name, was, would in zip(
        (initial, rng), ("initial", "rng"), resumed.start_hashes, given.start_hashes, strict=True
    ):
        if asked and was and was != would:
            raise InvalidInputError(
                f"the run in {path} was begun with another {name}, which a run keeps to its end. "
                f"Leave {name} out to continue it, or begin a new run without resume=....",
                argument=name,
            )


_SIMILAR, _FIRST_PRECISION = 7.0, 0.01
"""Shape of the kernel "adaptive", and where the search for its precisions begins. Mean index of
four data sets of fifteen blobs of twenty points each, by shape 4, 7 and 12: .842, .860, .860; of
1,000 rows × 5 columns in 20 overlapping clusters the estimate then has 72, 80 and 111 clusters."""
_ROUNDS, _PILOT = 3, (50, 100, 1, 2, 1)
"""Rounds that the precisions are found by; draws, burn-in, thinning, chains and sweeps of each."""


def _adaptive(table: Table, rows: Ints | None = None) -> NormalInverseGamma:
    """Independent normals for clusters of similar widths, with a precision for each column.

    σ² ~ InverseGamma(7, b) with b learned: in clusters of few rows a wide prior of σ² lets two
    that touch pass for one wide cluster. The precision c of a column is its empirical Bayes
    estimate under Gamma(1/2, 1/20), by EM on at most a thousand rows, rounded to half a decade:
    large where clusters do not differ, so that a new cluster costs next to nothing there.
    """
    from partita.samplers.compare import refit

    if rows is None:
        rows = np.random.default_rng(0).permutation(table.n_rows)[:_COMPARED_ROWS]
    wide = NormalInverseGamma.hierarchical(table)
    priors = priors_of(wide.rate, table.n_columns).values()
    rates = tuple(Gamma(prior.shape, prior.rate / (_SIMILAR - 1)) for prior in priors)
    values = wide.encode(table)
    kernel = replace(
        wide,
        mean=tuple(present_moments(values)[0].tolist()),
        precision=(_FIRST_PRECISION,) * table.n_columns,
        shape=_SIMILAR,
        rate=rates,
    )
    values = _jitter_ties(values[rows], table)
    settings = Settings(*_PILOT, split_merges(len(values)))
    for seed in range(_ROUNDS):
        fit = refit(kernel, _DEFAULT_PRIOR, values, table.names, settings, rng=seed, n_jobs=1)
        some = zip(fit.draws.labels[::5].astype(np.int32), fit._rates()[::5], strict=True)
        found = [kernel.at(learned).offsets(values, labels) for labels, learned in some]
        n_clusters = np.mean([len(each) for each in found])
        total = np.mean([each.sum(axis=0) for each in found], axis=0)
        steps = np.round(2.0 * np.log10((1.0 + n_clusters) / (0.1 + total)))
        kernel = replace(kernel, precision=tuple((10.0 ** (steps / 2.0)).tolist()))
    return kernel


_RULES: dict[str, Callable[[Table], Kernel]] = {
    "empirical": NormalInverseGamma.empirical,
    "hierarchical": lambda table: NormalInverseGamma.hierarchical(
        table, precision=0.001 if table.n_columns > 1 else 0.01
    ),
    "adaptive": _adaptive,
    "wishart": NormalInverseWishart.hierarchical,
    "wishart-empirical": NormalInverseWishart.empirical,
    "bernoulli": BetaBernoulli.empirical,
    "categorical": DirichletCategorical.empirical,
    "poisson": GammaPoisson.empirical,
}
"""Kernels by name; the first five are for columns of numbers, beside columns of other types."""
_OF_NUMBERS = ("empirical", "hierarchical", "adaptive", "wishart", "wishart-empirical")
KERNELS = ("auto", "types", *_RULES)
"""Names of kernels: the better by held-out density, by the columns' types alone, and one by one."""
_WIDEST = 50
"""Columns up to which the full covariance is the default: its cost grows with their square."""


def named_kernel(
    name: str, table: Table, prior: PartitionPrior | None = None, n_jobs: int | None = None
) -> tuple[Kernel, str]:
    """The kernel of that name for a table, and a sentence that says what was chosen."""
    name = {"normal": "empirical"}.get(name, name)
    if name == "types":
        return kernel_of_types(table)
    if name == "auto":
        return _best_kernel(table, _check_prior(prior), n_jobs)
    if name not in _RULES:
        raise UnknownNameError(
            f"kernel={name!r} is unknown; expected one of {', '.join(KERNELS)}, or a Kernel.",
            argument="kernel",
        )
    kinds = {column.dtype.kind for column in table.columns}
    if name in _OF_NUMBERS and "f" in kinds and len(kinds) > 1:
        return kernel_of_types(table, name)
    kernel = _RULES[name](table)
    return kernel, f"kernel {name}: {kernel.kind}."


def kernel_of_types(
    table: Table, rule: str | None = None, pilot: Ints | None = None
) -> tuple[Kernel, str]:
    """A kernel by the columns' types, and a sentence that says which.

    Two columns of numbers or more, integers included, get normals with a full covariance and a
    learned scale; one alone, one with missing cells, or more than fifty get independent normals
    with a learned rate; booleans get Bernoulli, text and categories categorical columns.
    The rule "adaptive" looks at the ``pilot`` rows only.
    """
    by_type: dict[str, list[int]] = {"numbers": [], "booleans": [], "categories": []}
    names = {"f": "numbers", "b": "booleans", "O": "categories"}
    for position, column in enumerate(table.columns):
        by_type[names[column.dtype.kind]].append(position)
    parts: list[tuple[Kernel, list[int]]] = []
    said = []
    for name, positions in by_type.items():
        found: list[tuple[Kernel, list[int]]] = []
        if name == "numbers":
            for chosen, group in _groups_of_numbers(table, positions, rule):
                part = table.select(group)
                kernel = _adaptive(part, pilot) if chosen == "adaptive" else _RULES[chosen](part)
                found.append((kernel, group))
        elif positions:
            found = [(BetaBernoulli() if name == "booleans" else DirichletCategorical(), positions)]
        for kernel, group in found:
            learned = f", {kernel.learns} learned" if kernel.learned(len(group)) else ""
            columns = listed([repr(table.names[p]) for p in group])
            said.append(f"{kernel.kind} for the {name} in column {columns}{learned}")
        parts += found
    kernel = parts[0][0] if len(parts) == 1 else Product(*parts)
    return kernel, f"kernel chosen by the columns' types: {'; '.join(said)}."


def _groups_of_numbers(
    table: Table, positions: list[int], rule: str | None
) -> list[tuple[str, list[int]]]:
    """Which rule which columns of numbers get."""
    if not positions:
        return []
    if rule is not None:
        return [(rule, positions)]
    complete = [p for p in positions if np.isfinite(table.columns[p]).all()]
    if not 2 <= len(complete) <= _WIDEST:
        complete = []
    alone = [p for p in positions if p not in complete]
    groups = (("wishart", complete), ("hierarchical", alone))
    return [(name, group) for name, group in groups if group]


_FEWEST = 10
"""Rows from which on a kernel is chosen by prediction."""
_COMPARED_ROWS, _HELD_OUT = 1_000, 5
"""Rows, at most, on which kernels are compared; a fifth of them is predicted from the others."""


def _best_kernel(table: Table, prior: PartitionPrior, n_jobs: int | None) -> tuple[Kernel, str]:
    """Full covariances or two kinds of independent normals, whichever predict held-out rows best.

    Numbers that were rounded have an unbounded density where many are equal, so they are compared
    with the rounding undone at random.
    """
    from partita.samplers.compare import heldout_log_density

    named = {
        "wishart": kernel_of_types(table)[0],
        "hierarchical": kernel_of_types(table, "hierarchical")[0],
    }
    # Few rows say nothing about covariances.
    if named["wishart"] == named["hierarchical"] or table.n_rows < _FEWEST:
        return kernel_of_types(table)
    rng = np.random.default_rng(0)
    rows = np.sort(rng.permutation(table.n_rows)[:_COMPARED_ROWS])
    held_out = rng.permutation(rows.size)[: max(1, rows.size // _HELD_OUT)]
    if rows.size == table.n_rows:
        # Larger tables say themselves how wide clusters are. Precisions found on 1,000 rows of
        # 100,000 made 31 clusters of 20, and iterations dearer by a third.
        named["adaptive"] = kernel_of_types(table, "adaptive", np.delete(rows, held_out))[0]
    prior = prior_for_sample(prior, rows.size - held_out.size)
    found, compared = {}, table.rows(rows)
    for name, kernel in named.items():
        bound = kernel.bind(table)
        found[name] = heldout_log_density(
            _jitter_ties(bound.encode(compared), table),
            held_out,
            kernel=bound,
            prior=prior,
            draws=100,
            burn_in=150,
            rng=0,
            n_jobs=n_jobs,
        )
    best, other, *_ = sorted(found, key=lambda name: -float(found[name].mean()))
    difference = found[best] - found[other]
    error = (
        float(difference.std(ddof=1)) / math.sqrt(difference.size)
        if difference.size > 1
        else np.nan
    )
    return named[best], (
        f"kernel chosen by held-out density: {best} is ahead of {other} by {difference.mean():.3g} "
        f"± {error:.2g} nats a row ({held_out.size:,} of {rows.size:,} rows held out)."
    )


def _jitter_ties(values: Floats, table: Table) -> Floats:
    """Encoded rows with columns of many equal numbers spread over their smallest difference."""
    rng = np.random.default_rng(1)
    found = np.ascontiguousarray(values)
    for j, column in enumerate(table.columns):
        distinct = np.unique(found[np.isfinite(found[:, j]), j])
        if column.dtype.kind == "f" and 1 < distinct.size < len(found) / 2:
            found[:, j] += np.diff(distinct).min() * (rng.random(len(found)) - 0.5)
    return found


_log = logging.getLogger("partita")


def sample(
    data: DataSource,
    *,
    kernel: Kernel | str | None = None,
    prior: PartitionPrior | None = None,
    draws: int = 2_000,
    burn_in: int = 1_000,
    thin: int = 1,
    chains: int = 4,
    rng: Rng | None = None,
    n_jobs: int | None = None,
    engine: Engine | None = None,
    progress: bool | None = None,
    initial: LabelsLike | None = None,
    sampler: str = "collapsed",
    sweeps: int = 1,
    split_merge: int | None = None,
    checkpoint: PathLike | None = None,
    checkpoint_every: float = 60.0,
    resume: PathLike | None = None,
) -> Fit:
    """Draw clusterings of the rows of a table from the posterior of a mixture model.

    p(c | x) ∝ p(c) Π_j ∫ Π_{i∈C_j} f(x_i | θ) dP0(θ): the prior of the partition times the
    kernel's marginal density of each cluster. One iteration is a collapsed Gibbs sweep
    (Neal's algorithm 3), which reassigns each item given all others, a split–merge move
    (Dahl 2005), which changes a cluster as a whole, and an update of a random concentration.

    Parameters
    ----------
    data : array_like, DataFrame, dask array or data frame, or path
        One row per item: NumPy, pandas, polars, Arrow, nested lists, or a csv, tsv, parquet or
        npy file. Columns are used as they are; standardising is the user's choice. Rows of a
        dask collection stay on their workers; see ``engine``.
    kernel : Kernel or str, optional
        The density of a cluster. By default ("auto") Bernoulli for booleans, categorical for
        text, and for numbers normals that learn how wide clusters are: with a full covariance
        ("wishart", :meth:`NormalInverseWishart.hierarchical`) or independent columns
        ("hierarchical", :meth:`NormalInverseGamma.hierarchical`, or "adaptive", the same for
        clusters of similar widths, with the precision of each column estimated first; up to 1,000
        rows), whichever predicts held-out rows best; ``Fit.notes`` says what. "types" takes the
        full covariance without a look, for up to 50 complete columns. Other names: "empirical"
        (the paper's rule: μ0 = mean, c = 1/2, a = 2, b = sample variance), "wishart-empirical",
        "bernoulli", "categorical", "poisson".
    prior : PartitionPrior, optional
        By default ``DirichletProcess(Gamma(1, 1))``, the paper's.
    draws : int
        Draws to keep from each chain.
    burn_in : int
        Iterations of each chain before the first that can be kept.
    thin : int
        Keep every thin-th iteration.
    chains : int
        Chains to run, each from its own start.
    rng : int, SeedSequence or Generator, optional
        The same value gives the same draws for every ``n_jobs``. Other draws each time by default.
    n_jobs : int, optional
        Threads; by default every core.
    engine : distributed.Client or "dask", optional
        Run the chains on the workers of a Dask cluster, "dask" being the current client. The
        data are sent once, and the draws are those of one machine, to the last bit. Of a dask
        collection the rows stay where they are and every chain runs on all workers, with the
        parallel sampler: the same seed and chunks give the same draws, which are remote. Chains
        start from a sample of 5,000 rows each, from "one" cluster, or from a label for each row.
    progress : bool, optional
        Show progress on standard error (True: in a file or pipe as lines of their own); by default
        on a terminal and in a notebook.
    initial : str, array_like or anything that holds labels, optional
        Where chains start: "one" (a single cluster), "singletons", "kmeans", "sample", or labels
        of shape (n_items,) or (chains, n_items), such as an estimate, a column of a table or a
        file. By default the first three kinds, different by chain; above 10,000 rows "sample":
        each chain takes 5,000 random rows of its own (more where they hold many clusters), splits
        them by k-means into too many groups, runs 300 iterations on them and allocates all rows
        by their densities.
    sampler : {"collapsed", "parallel"}
        How items are reassigned. "collapsed": one after the other, parameters integrated out.
        "parallel": all at once given drawn weights and parameters, by as many threads as chains
        leave over, then a collapsed sweep over a hundredth of the items; exact as well, and an
        iteration is many times cheaper from some 10,000 items on. See "How it scales".
    sweeps : int
        Gibbs sweeps per iteration.
    split_merge : int, optional
        Split–merge moves per iteration; by default one, and one more per 200 items up to eight:
        sweeps mix more slowly the more items there are.
    checkpoint : path, optional
        Keep the run in this file while it lasts; this process writes it, also with ``engine``. Of
        a dask collection workers write labels and draws to a directory beside it, which all of
        them must see, and read them back where a worker dies; such a run cannot be resumed.
    checkpoint_every : float
        Seconds between writings of the checkpoint.
    resume : path, optional
        Continue the run in this checkpoint, with all other arguments as before, of which ``rng``
        and ``initial`` may be left out and ``draws`` may be larger. The result is that of an
        uninterrupted run.

    Returns
    -------
    Fit
        The draws with chain ids, traces, and what follows from them. After Ctrl-C, the draws
        made so far.

    Notes
    -----
    Cost O(N·K·d) per sweep for N items, K clusters and d columns, O(N·K·d² + N·d³) under
    ``NormalInverseWishart``, O(N·K·d²) with ``sampler="parallel"``. Memory O(N·draws) bytes while
    there are at most 256 clusters.

    References
    ----------
    Neal (2000), Journal of Computational and Graphical Statistics 9; Dahl (2005), technical
    report 1086, University of Wisconsin; Jain and Neal (2004), Journal of Computational and
    Graphical Statistics 13, for split–merge moves given parameters; Escobar and West (1995).

    Examples
    --------
    >>> import partita as pt
    >>> fit = pt.sample(pt.datasets.galaxies(), draws=500, burn_in=100, chains=2, rng=0)
    >>> fit.draws.n_draws, fit.draws.n_items
    (1000, 82)
    >>> fit.prior
    DirichletProcess(concentration=Gamma(shape=1.0, rate=1.0))
    """
    count_jobs(n_jobs)
    number(checkpoint_every, "checkpoint_every")
    for name, place in (("checkpoint", checkpoint), ("resume", resume)):
        if place is not None:
            clean_path(place, name)
    given_prior = _check_prior(prior)
    settings = _check_settings(draws, burn_in, thin, chains, sweeps, split_merge)
    if _is_dask_collection(data):
        from partita.dask import as_client
        from partita.samplers.dask import sample_on_workers

        if resume is not None:
            raise NotSupportedError(
                "a run on rows that live on workers cannot be resumed; its checkpoint "
                "only protects it against workers that die.",
                argument="resume",
            )
        return sample_on_workers(
            data,
            kernel,
            given_prior,
            replace(settings, sampler="parallel"),
            as_client("dask" if engine is None else engine),
            initial=initial,
            rng=generator(rng, default=None),
            progress=progress,
            checkpoint=checkpoint,
            checkpoint_every=checkpoint_every,
        )
    kernel, table, notes = prepare(data, kernel, given_prior, n_jobs)
    values = kernel.encode(table)
    prior = given_prior.bind(len(values))
    if split_merge is None:
        settings = replace(settings, split_merge=split_merges(len(values)))
    if starts_from_samples(initial, len(values)):
        notes = (*notes, _say_sampled(len(values), settings.iterations))
    model = build_model(kernel, prior, values)
    settings, notes = _check_sampler(sampler, model, settings, notes)
    made = Run(kernel, prior, values, settings)

    def states() -> list[ChainState]:
        starts = (initial, kernel, given_prior, values, settings.chains, rng, n_jobs)
        return chain_states(*starts)

    if resume is not None:
        begun = read_checkpoint(resume, made)
        if initial is not None or rng is not None:
            given = initial_state(states())
            asked = {"initial": initial is not None, "rng": rng is not None}
            refuse_other_start(begun, given, resume, **asked)
    else:
        begun = initial_state(states())
    keeper = Checkpointer(
        checkpoint, every=checkpoint_every, fingerprint=made.fingerprint, resumed=resume
    )
    begun = initialise_parameters(begun, model) if resume is None else begun
    advance = runner(model, n_jobs, engine)
    keeper.begin(begun)
    for note in notes:
        _log.info(note)
    start = time.perf_counter()
    with Display(settings, begun.done, progress, notes) as display:

        def after_round(reached: Progress) -> None:
            display.update(reached)
            keeper.after_round(reached)

        reached, interrupted = advance_all(settings, begun, advance, after_round)
    keeper.keep(reached)
    seconds = time.perf_counter() - start
    if keeper.failure is not None:
        notes = (*notes, keeper.failure)
        sys.stderr.write(f"partita: {keeper.failure}\n")
    if interrupted:
        notes = (*notes, say_interrupted(reached, settings, checkpoint))
    kept, trace = collect_draws(reached, model, kernel, table.names, table.item_names)
    how = (settings, notes, seconds, interrupted, reached.without_draws())
    return Fit(kept, trace, kernel, prior, values, table.names, *how)


_MOST = 2**40
"""Most draws, iterations or chains that can be asked for, so that their products can be counted."""
_MOST_MOVES = 10_000
"""Most sweeps or split–merge moves in an iteration, which Ctrl-C waits for; thinning has no end."""


def _check_settings(
    draws: int, burn_in: int, thin: int, chains: int, sweeps: int, split_merge: int | None
) -> Settings:
    settings = Settings(
        integer(draws, "draws", least=1, most=_MOST),
        integer(burn_in, "burn_in", least=0, most=_MOST),
        integer(thin, "thin", least=1, most=_MOST),
        integer(chains, "chains", least=1, most=_MOST),
        integer(sweeps, "sweeps", least=0, most=_MOST_MOVES),
        1 if split_merge is None else integer(split_merge, "split_merge", most=_MOST_MOVES),
    )
    if settings.sweeps == settings.split_merge == 0:
        raise InvalidInputError(
            "sweeps=0 and split_merge=0 leave nothing to do in an iteration.", argument="sweeps"
        )
    return settings


def _check_sampler(
    sampler: str, model: Model, settings: Settings, notes: tuple[str, ...]
) -> tuple[Settings, tuple[str, ...]]:
    """The settings with the sampler that the model allows, and a note where it is another."""
    choice(sampler, "sampler", SAMPLERS)
    if sampler == "parallel":
        from partita.samplers.parallel import reason_not_parallel

        reason = reason_not_parallel(model.arrays, model.prior)
        if reason is not None:
            note = f"sampler='parallel' is not possible for this model: {reason}. The collapsed "
            return settings, (*notes, f"{note}sampler ran instead.")
    return replace(settings, sampler=sampler), notes


def _is_dask_collection(data: Any) -> bool:
    """Whether data are a dask array or data frame."""
    kinds = {cls.__module__.partition(".")[0] for cls in type(data).__mro__}
    return bool(kinds & {"dask", "dask_expr"})


def _check_prior(prior: PartitionPrior | None) -> PartitionPrior:
    return _DEFAULT_PRIOR if prior is None else clean_prior(prior, "prior")


def prepare(
    data: Any, kernel: Kernel | str | None, prior: PartitionPrior, n_jobs: int | None
) -> tuple[Kernel, Table, tuple[str, ...]]:
    """The kernel bound to the data, these as a table, and what was chosen."""
    if not (kernel is None or isinstance(kernel, (str, Kernel))):
        raise unexpected(kernel, "kernel", "a kernel such as NormalInverseGamma(...), or its name")
    table = as_table(data)
    if table.n_rows < 2:
        raise InvalidDataError("the data have one row; clustering needs at least two.")
    notes = table.notes
    if not isinstance(kernel, Kernel):
        if not isinstance(data, Table):
            refuse_doubtful(table, **_WAYS_OUT)
        kernel, note = named_kernel(kernel or "auto", table, prior, n_jobs)
        notes = (*notes, note)
    return kernel.bind(table), table, notes


_WAYS_OUT = {
    "names": "",
    "leave_out": "drop the column, or give a kernel to keep it",
    "dates": "turn it into numbers first",
    "missing": "replace it by None",
    "categories": "give the kernel",
    "decimal": "turn them into numbers first",
    "thousands": "turn them into numbers first",
}


def initialise_parameters(progress: Progress, model: Model) -> Progress:
    """Chains start where the priors of what is learned have their middle."""
    concentration, rates = model.prior.concentration, model.arrays.starting_rates()
    states = (
        replace(
            state,
            concentration=concentration if np.isnan(state.concentration) else state.concentration,
            rates=state.rates if state.rates.size else rates,
        )
        for state in progress.states
    )
    return replace(progress, states=tuple(states))


def _say_sampled(n_items: int, iterations: int) -> str:
    rows = min(ROWS, n_items)
    return (
        f"{STARTED} {rows:,} random rows of its own or more: {_ITERATIONS} iterations on them, "
        f"then all {n_items:,} rows were allocated; {iterations:,} iterations of all rows followed."
    )


def say_interrupted(reached: Progress, settings: Settings, checkpoint: PathLike | None) -> str:
    """Tell what Ctrl-C left; without any draw there is nothing to return."""
    kept = f" The run can be continued from {checkpoint} (resume)." if checkpoint else ""
    if not reached.n_draws:
        raise Interrupted(
            f"interrupted after {reached.done} of {settings.iterations} iterations, within "
            f"burn-in: there are no draws to return.{kept}"
        )
    made = f"{reached.n_draws} of {settings.draws} draws of each chain were made"
    note = f"interrupted: {made}.{kept}"
    sys.stderr.write(f"partita: {note}\n")
    return note
