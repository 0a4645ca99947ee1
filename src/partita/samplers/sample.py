"""From data to draws."""

from __future__ import annotations

import logging
import sys
import time
from dataclasses import replace
from typing import Any

from partita._files import PathLike
from partita._parallel import count_jobs
from partita._validate import Rng, number, unexpected, whole
from partita._validate import path as clean_path
from partita.errors import Interrupted, InvalidDataError, InvalidInputError
from partita.partitions.types import DataSource, Engine, LabelsLike
from partita.samplers.beginning import beginning, chain_states, refuse_another_beginning
from partita.samplers.chain_files import ChainFiles, clear, continued
from partita.samplers.chains import ChainState, Progress, Settings, advance_all, runner
from partita.samplers.checkpoint import Checkpointer, Run, read_checkpoint
from partita.samplers.choice import choose_kernel
from partita.samplers.collect import collected
from partita.samplers.display import Display
from partita.samplers.fit import Fit
from partita.samplers.guard import refuse_doubtful
from partita.samplers.hyperpriors import Gamma
from partita.samplers.kernel import Kernel
from partita.samplers.model import Model, build_model
from partita.samplers.partition_prior import PartitionPrior
from partita.samplers.priors import DirichletProcess
from partita.samplers.table import Table, as_table

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
    ``NormalInverseWishart``. Memory O(N·draws) bytes while there are at most 256 clusters.

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
    kernel, table, notes = _prepare(data, kernel)
    values = kernel.encode(table)
    prior = prior.bind(len(values))
    if split_merge is None:
        settings = replace(settings, split_merge=min(8, 1 + len(values) // 200))
    starts = chain_states(initial, kernel, prior, values, settings.chains, rng)
    run = Run(kernel, prior, values, settings)
    begun = beginning(starts)
    if resume is not None:
        given = begun
        begun = continued(read_checkpoint(resume, run), resume, run)
        refuse_another_beginning(
            begun, given, resume, initial=initial is not None, rng=rng is not None
        )
    keeper = Checkpointer(checkpoint, every=checkpoint_every, model=run.model, resumed=resume)
    model = build_model(kernel, prior, values)
    begun = _with_parameters(begun, model) if resume is None else begun
    on_workers = None
    if engine is not None and checkpoint is not None:
        on_workers = ChainFiles(checkpoint, every=checkpoint_every, model=run.model, begun=begun)
    advance = runner(model, n_jobs, engine, on_workers)
    keeper.begin(begun)
    if checkpoint is not None:
        clear(checkpoint)
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
        clear(checkpoint)
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
        whole(draws, "draws", least=1, most=_MOST),
        whole(burn_in, "burn_in", least=0, most=_MOST),
        whole(thin, "thin", least=1, most=_MOST),
        whole(chains, "chains", least=1, most=_MOST),
        whole(sweeps, "sweeps", least=0, most=_MOST_MOVES),
        1 if split_merge is None else whole(split_merge, "split_merge", most=_MOST_MOVES),
    )
    if settings.sweeps == settings.split_merge == 0:
        raise InvalidInputError(
            "sweeps=0 and split_merge=0 leave nothing to do in an iteration.", argument="sweeps"
        )
    return settings


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
        kernel, note = choose_kernel(table)
        notes = (*notes, note)
    return kernel.bind(table), table, notes


_WAYS_OUT = {
    "leave_out": "drop the column, or give a kernel to keep it",
    "missing": "replace it by None",
    "categories": "give the kernel",
    "decimal": "turn them into numbers first",
    "thousands": "turn them into numbers first",
}


def _with_parameters(progress: Progress, model: Model) -> Progress:
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
