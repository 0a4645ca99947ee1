"""Sample a Bayesian mixture: the entry point, the default kernel and where chains start."""

from __future__ import annotations

import hashlib
import logging
import math
import sys
import time
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from partita._files import PathLike
from partita._resources import count_jobs, require_memory
from partita._text import listed
from partita._validate import Rng, generator, integer, number, unexpected
from partita._validate import path as clean_path
from partita.dask import as_client, is_collection
from partita.errors import (
    Interrupted,
    InvalidDataError,
    InvalidInputError,
    NotSupportedError,
    UnknownNameError,
)
from partita.io.data_table import Table, as_table, refuse_doubtful
from partita.kernels.arrays import Floats, Ints
from partita.labels import DataSource, Engine, Labels, LabelsLike, as_label_rows, as_labels
from partita.samplers.base import Kernel
from partita.samplers.categorical import BetaBernoulli, DirichletCategorical
from partita.samplers.chains import (
    SAMPLERS,
    ChainState,
    Display,
    Model,
    Progress,
    Settings,
    advance_all,
    build_model,
    runner,
)
from partita.samplers.checkpoint import (
    ChainFiles,
    Checkpointer,
    Run,
    read_checkpoint,
    remove_shards,
    with_shards,
)
from partita.samplers.fit import Fit, collected
from partita.samplers.normal import NormalInverseGamma
from partita.samplers.priors import DirichletProcess, Gamma, PartitionPrior
from partita.samplers.product import Product

STARTS = ("one", "singletons", "kmeans")

_FEW = 2000
"""Up to this many items a chain may start from singletons, whose first sweep costs O(N²)."""


def starting_partitions(
    initial: Any,
    features: Floats,
    prior: PartitionPrior,
    generators: list[np.random.Generator],
) -> list[Labels]:
    """One canonical partition per chain; by default of different kinds, to make R-hat telling."""
    n_items = features.shape[0]
    most = prior.most_clusters()
    most = n_items if most is None else min(most, n_items)
    if initial is not None and not (isinstance(initial, str) and _is_name(initial)):
        return _given(initial, n_items, len(generators), most)
    if initial is not None and initial not in STARTS:
        raise UnknownNameError(
            f"initial={initial!r} is unknown; expected one of {', '.join(STARTS)}, or labels.",
            argument="initial",
        )
    starts = []
    for chain, stream in enumerate(generators):
        name = initial or _default(chain, n_items)
        starts.append(_start(name, features, most, stream))
    return starts


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


_CHAIN_BYTES = 4_096
"""Bytes that a chain takes besides its labels, most of them for its random streams."""


def chain_states(
    initial: Any,
    kernel: Kernel,
    prior: PartitionPrior,
    values: Floats,
    chains: int,
    rng: Rng | None,
) -> list[ChainState]:
    """Start and random stream of each chain, made before anything runs in parallel."""
    require_memory(
        chains * (4 * len(values) + _CHAIN_BYTES),
        f"beginning {chains:,} chains",
        "Ask for fewer.",
    )
    entropy = generator(rng, default=None).integers(0, 2**63, size=4)
    children = [seed.spawn(2) for seed in np.random.SeedSequence(entropy.tolist()).spawn(chains)]
    generators = [np.random.default_rng(start) for start, _ in children]
    starts = starting_partitions(initial, kernel.features(values), prior, generators)
    return [
        ChainState(labels, 1.0, stream.generate_state(4, np.uint64).astype(np.uint64))
        for labels, (_, stream) in zip(starts, children, strict=True)
    ]


def initial_state(states: Sequence[ChainState]) -> Progress:
    """A run of which nothing is done."""
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
        (initial, rng), ("initial", "rng"), resumed.begun, given.begun, strict=True
    ):
        if asked and was and was != would:
            raise InvalidInputError(
                f"the run in {path} was begun with another {name}, which a run keeps to its end. "
                f"Leave {name} out to continue it, or begin a new run without resume=....",
                argument=name,
            )


def default_kernel(table: Table) -> tuple[Kernel, str]:
    """A kernel by the columns' types, and a sentence that says which.

    Numbers, integers included, get independent normals with the paper's empirical rule;
    booleans get Bernoulli, text and categories get categorical columns.
    """
    by_type: dict[str, list[int]] = {"numbers": [], "booleans": [], "categories": []}
    names = {"f": "numbers", "b": "booleans", "O": "categories"}
    for position, column in enumerate(table.columns):
        by_type[names[column.dtype.kind]].append(position)
    parts: list[tuple[Kernel, list[int]]] = []
    said = []
    for name, positions in by_type.items():
        if not positions:
            continue
        kernel = _kernel_of_type(name, table.select(positions))
        parts.append((kernel, positions))
        rule = ", prior by the empirical rule" if name == "numbers" else ""
        columns = listed([repr(table.names[p]) for p in positions])
        said.append(f"{kernel.kind} for the {name} in column {columns}{rule}")
    kernel = parts[0][0] if len(parts) == 1 else Product(*parts)
    return kernel, f"kernel chosen by the columns' types: {'; '.join(said)}."


def _kernel_of_type(name: str, table: Table) -> Kernel:
    if name == "numbers":
        return NormalInverseGamma.empirical(table)
    return BetaBernoulli() if name == "booleans" else DirichletCategorical()


_log = logging.getLogger("partita")


def sample(
    data: DataSource,
    *,
    kernel: Kernel | None = None,
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
    data : array_like, DataFrame or path
        One row per item: NumPy, pandas, polars, Arrow, nested lists, or a csv, tsv, parquet or
        npy file. Columns are used as they are; standardising is the user's choice.
    kernel : Kernel, optional
        The density of a cluster. By default chosen by the columns' types: independent normals
        with the paper's empirical rule (μ0 = mean, c = 1/2, a = 2, b = sample variance) for
        numbers, Bernoulli for booleans, categorical for text; ``Fit.notes`` says what.
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
        Run the chains on the workers of a Dask cluster, "dask" being the client in force. The
        data are sent once, and the draws are those of one machine, to the last bit.
    progress : bool, optional
        Show progress on standard error (True: in a file or pipe as lines of their own); by default
        on a terminal and in a notebook.
    initial : str, array_like or anything that holds labels, optional
        Where chains start: "one" (a single cluster), "singletons", "kmeans", or labels of shape
        (n_items,) or (chains, n_items), such as an estimate, a column of a table or a file. By
        default these three kinds, different by chain.
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
        Keep the run in this file while it lasts. With ``engine`` each worker writes its chain
        to a directory beside it, which ``resume`` finds, too: give a path that workers see.
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
    report 1086, University of Wisconsin; Escobar and West (1995).

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
    prior = _check_prior(prior)
    settings = _check_settings(draws, burn_in, thin, chains, sweeps, split_merge)
    if is_collection(data):
        from partita.samplers.on_workers import sample_on_workers

        if resume is not None:
            raise NotSupportedError(
                "a run on rows that live on workers cannot be resumed; its checkpoint spares it "
                "from workers that die.",
                argument="resume",
            )
        return sample_on_workers(
            data,
            kernel,
            prior,
            replace(settings, sampler="parallel"),
            as_client("dask" if engine is None else engine),
            initial=initial,
            rng=generator(rng, default=None),
            progress=progress,
            checkpoint=checkpoint,
            checkpoint_every=checkpoint_every,
        )
    kernel, table, notes = _prepare(data, kernel)
    values = kernel.encode(table)
    prior = prior.bind(len(values))
    if split_merge is None:
        settings = replace(settings, split_merge=min(8, 1 + len(values) // 200))
    starts = chain_states(initial, kernel, prior, values, settings.chains, rng)
    model = build_model(kernel, prior, values)
    settings, notes = _check_sampler(sampler, model, settings, notes)
    run = Run(kernel, prior, values, settings)
    begun = initial_state(starts)
    if resume is not None:
        given = begun
        begun = with_shards(read_checkpoint(resume, run), resume, run)
        refuse_other_start(begun, given, resume, initial=initial is not None, rng=rng is not None)
    keeper = Checkpointer(checkpoint, every=checkpoint_every, model=run.model, resumed=resume)
    begun = with_parameters(begun, model) if resume is None else begun
    on_workers = None
    if engine is not None and checkpoint is not None:
        on_workers = ChainFiles(checkpoint, every=checkpoint_every, model=run.model, begun=begun)
    advance = runner(model, n_jobs, engine, on_workers)
    keeper.begin(begun)
    if checkpoint is not None:
        remove_shards(checkpoint)
    if on_workers is not None:
        on_workers.begin()
    for note in notes:
        _log.info(note)
    start = time.perf_counter()
    with Display(settings, begun.done, progress, notes) as display:

        def after_round(reached: Progress) -> None:
            display.update(reached)
            if on_workers is None or on_workers.failure is not None:
                keeper.after_round(reached)

        reached, interrupted = advance_all(settings, begun, advance, after_round)
    keeper.keep(reached)
    if checkpoint is not None and keeper.failure is None:
        remove_shards(checkpoint)
    seconds = time.perf_counter() - start
    if on_workers is not None and on_workers.failure is not None:
        notes = (*notes, _NOT_THERE.format(on_workers.failure))
    if keeper.failure is not None:
        notes = (*notes, keeper.failure)
        sys.stderr.write(f"partita: {keeper.failure}\n")
    if interrupted:
        notes = (*notes, _say_interrupted(reached, settings, checkpoint))
    kept, trace = collected(reached, model, kernel, table.names, table.item_names)
    how = (settings, notes, seconds, interrupted, reached.standing())
    return Fit(kept, trace, kernel, prior, values, table.names, *how)


_NOT_THERE = "workers could not write checkpoints of their chains, so that this process did: {}"

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
    if sampler not in SAMPLERS:
        raise UnknownNameError(
            f"sampler={sampler!r} is unknown; expected one of {', '.join(SAMPLERS)}.",
            argument="sampler",
        )
    if sampler == "parallel":
        from partita.samplers.parallel import obstacle

        reason = obstacle(model.arrays, model.prior)
        if reason is not None:
            note = f"sampler='parallel' is not possible for this model: {reason}. The collapsed "
            return settings, (*notes, f"{note}sampler ran instead.")
    return replace(settings, sampler=sampler), notes


def _check_prior(prior: PartitionPrior | None) -> PartitionPrior:
    if prior is None:
        return DirichletProcess(Gamma(1, 1))
    if not isinstance(prior, PartitionPrior):
        raise unexpected(
            prior, "prior", "DirichletProcess, PitmanYor, FiniteMixture or another PartitionPrior"
        )
    return prior


def _prepare(data: Any, kernel: Kernel | None) -> tuple[Kernel, Table, tuple[str, ...]]:
    """The kernel bound to the data, these as a table, and what was chosen."""
    if kernel is not None and not isinstance(kernel, Kernel):
        raise unexpected(kernel, "kernel", "a kernel such as NormalInverseGamma(...), or None")
    table = as_table(data)
    if table.n_rows < 2:
        raise InvalidDataError("the data have one row; there is nothing to cluster. Give two.")
    notes = table.notes
    if kernel is None:
        if not isinstance(data, Table):
            refuse_doubtful(table, **_WAYS_OUT)
        kernel, note = default_kernel(table)
        notes = (*notes, note)
    return kernel.bind(table), table, notes


_WAYS_OUT = {
    "leave_out": "drop the column, or give a kernel to keep it",
    "missing": "replace it by None",
    "categories": "give the kernel",
    "decimal": "turn them into numbers first",
    "thousands": "turn them into numbers first",
}


def with_parameters(progress: Progress, model: Model) -> Progress:
    """Chains start where the priors of what is learned have their middle."""
    concentration, rates = model.prior.concentration, model.arrays.starting_rates()
    states = (ChainState(s.labels, concentration, s.random, rates) for s in progress.states)
    return replace(progress, states=tuple(states))


def _say_interrupted(reached: Progress, settings: Settings, checkpoint: PathLike | None) -> str:
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
