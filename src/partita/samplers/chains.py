"""Chains: their model, their states, rounds in which they advance, checkpoints, progress."""

from __future__ import annotations

import hashlib
import json
import sys
import time
from collections.abc import Callable
from dataclasses import asdict, dataclass, field, replace
from functools import cached_property, partial
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from partita._archive import Form, read_archive, write_archive
from partita._files import FileOverwriteError, PathLike
from partita._progress import NotebookLine, in_notebook, is_shown
from partita._resources import count_jobs, require_memory, run
from partita._storage import smallest_unsigned
from partita._validate import shown
from partita._wording import counted, rhat_in_words
from partita.draws import Draws
from partita.errors import FileFormatError, InvalidInputError, PartitaError, about
from partita.kernels.arrays import Array, Bools, Floats, Ints, UInt64s, Unsigned
from partita.kernels.gibbs.primitives import AT, CODE, WIDTH, Likelihood, Plan, Rates
from partita.labels import Labels, canonical
from partita.mcmc import rhat
from partita.samplers.base import FUNCTIONS, Block, Kernel
from partita.samplers.priors import PartitionPrior, PriorTables

_FIRST_ROW = 2
"""Rows of the store before the statistics: number of items, log prior weight."""


@dataclass(frozen=True)
class Arrays:
    """Blocks, hyperparameters and tables; see ``kernels/gibbs/primitives.py``."""

    order: NDArray[np.intp]
    blocks: Ints
    hyper: Floats
    tables: Floats
    n_rows: int
    n_work: int
    functions: tuple[tuple[Callable[..., Any], ...], ...]
    rates: Rates

    def likelihood(self, values: Floats) -> Likelihood:
        """The model of encoded rows, for this process, since addresses differ between processes."""
        blocks = self.blocks.copy()
        for row, functions in zip(blocks, self.functions, strict=True):
            row[AT.address :] = _addresses(row[AT.family], functions)
        data = self.ordered(values)
        hyper = self.hyper.copy() if self.n_learned else self.hyper  # which a chain writes to
        return Likelihood(data, blocks, hyper, self.tables, self.n_rows, self.n_work, self.rates)

    def ordered(self, values: Floats) -> Floats:
        """The rows with their columns in the order of the blocks; a copy only where it differs.

        Also of rows that are read-only, as those of fits: every kernel would compile twice.
        """
        if not np.array_equal(self.order, np.arange(values.shape[1])):
            values = values[:, self.order]
        return np.require(values, requirements=("C", "W"))

    @property
    def n_learned(self) -> int:
        """Number of learned rates."""
        return self.rates.block.size

    def starting_rates(self) -> Floats:
        """Learned rates where chains start: the means of their priors."""
        return self.rates.shape / self.rates.rate


@dataclass(frozen=True)
class Model:
    """Everything that does not change while chains run.

    ``singleton`` is the log density of each item alone in a cluster, ``log_base`` the part of
    the log likelihood that the compiled densities leave out.
    """

    values: Floats
    arrays: Arrays
    prior: PriorTables
    singleton: Floats
    log_base: float

    @property
    def n_extras(self) -> int:
        """Numbers kept with a draw beside concentration, clusters, likelihood and prior.

        The number of components of a finite mixture, then learned rates.
        """
        return int(self.prior.has_components) + self.arrays.n_learned


def _addresses(family: int, functions: tuple[Callable[..., Any], ...]) -> list[int]:
    """Where the functions of a block stand: those of a user's kernel, or of its family."""
    from partita.kernels.gibbs.family import FAMILIES, CompilationError, address

    if not functions:
        return [address(name, getattr(FAMILIES[family], name)) for name in FUNCTIONS]
    found = []
    for (name, takes), function in zip(FUNCTIONS.items(), functions, strict=True):
        try:
            found.append(address(name, function))
        except CompilationError as error:
            raise InvalidInputError(
                f"the kernel cannot be compiled: {error}. Expected a function {name}({takes}) that "
                "Numba compiles; the page of Kernel says what it does.",
                argument="kernel",
            ) from error
    return found


def flatten(kernel: Kernel, n_items: int, has_missing: Bools) -> Arrays:
    """The arrays of a bound kernel for columns that may have missing cells.

    Blocks with missing cells count their own items, if their family does not.
    """
    incomplete = frozenset(np.flatnonzero(has_missing).tolist())
    parts: list[Block] = kernel.blocks(has_missing.size, n_items, incomplete)
    rows, column, hyper, table = _FIRST_ROW, 0, 0, 0
    blocks = np.zeros((len(parts), WIDTH), np.int64)
    for b, part in enumerate(parts):
        d = len(part.columns)
        count = 0
        if incomplete.intersection(part.columns) and part.family != CODE.incomplete:
            count, rows = rows, rows + 1
        n_tables = part.tables.shape[0]
        blocks[b, : AT.address] = (
            part.family,
            column,
            d,
            count,
            rows,
            part.n_stats,
            rows + part.n_stats,
            part.n_cache,
            hyper,
            part.hyper.size,
            table,
            n_tables,
        )
        rows += part.n_stats + part.n_cache
        column, hyper, table = column + d, hyper + part.hyper.size, table + n_tables
    slots = sorted(
        (part.columns[i], b, i, shape, rate)
        for b, part in enumerate(parts)
        for i, shape, rate in part.learned
    )
    rates = Rates(
        np.array([slot[1] for slot in slots], np.int64),
        np.array([slot[2] for slot in slots], np.int64),
        np.array([slot[3] for slot in slots], np.float64),
        np.array([slot[4] for slot in slots], np.float64),
    )
    return Arrays(
        np.array([c for part in parts for c in part.columns], np.intp),
        blocks,
        np.concatenate([part.hyper for part in parts]),
        np.ascontiguousarray(np.concatenate([part.tables for part in parts])),
        rows,
        max(part.n_work for part in parts),
        tuple(part.functions for part in parts),
        rates,
    )


def build_model(
    kernel: Kernel, prior: PartitionPrior, values: Floats, incomplete: Bools | None = None
) -> Model:
    """The model of encoded data under a bound kernel.

    ``incomplete`` are the columns with missing cells, also where these rows have none.
    """
    from partita.kernels.gibbs.family import prior_predictive

    values = np.require(values, requirements=("C", "W"))  # once, not in every round; see `ordered`
    if incomplete is None:
        incomplete = np.asarray(np.isnan(values).any(axis=0))
    arrays = flatten(kernel, len(values), incomplete)
    tables = prior.tables(values.shape[0])
    if not isinstance(tables, PriorTables):
        raise InvalidInputError(
            f"the tables of {prior.kind} are {shown(tables)}; expected PriorTables, as those of "
            "ProductPartition(log_v, log_w) are.",
            argument="prior",
        )
    singleton = prior_predictive(arrays.likelihood(values), tables.arrays)
    base = float(kernel.log_base(values).sum())
    return Model(values, arrays, tables, singleton, base)


_ROUND_SECONDS = 0.25
"""A round is about this long: Ctrl-C, progress and checkpoints wait for its end."""


SAMPLERS = ("collapsed", "parallel")
"""Names of the ways to sweep."""


@dataclass(frozen=True)
class Settings:
    """Settings of a run; all but ``draws`` must agree when it is resumed.

    Attributes
    ----------
    draws, burn_in, thin, chains : int
        As given to :func:`sample`; ``draws`` per chain.
    sweeps, split_merge : int
        Gibbs sweeps and split-merge moves of one iteration.
    sampler : str
        "collapsed" or "parallel".
    """

    draws: int
    burn_in: int
    thin: int
    chains: int
    sweeps: int
    split_merge: int
    sampler: str = "collapsed"

    @property
    def iterations(self) -> int:
        """Iterations of each chain."""
        return self.burn_in + self.draws * self.thin

    def kept(self, iteration: int) -> int:
        """Draws kept after that many iterations."""
        return max(0, iteration - self.burn_in) // self.thin


@dataclass(frozen=True)
class ChainState:
    """All that the next iteration of a chain depends on."""

    labels: Labels
    concentration: float
    random: UInt64s
    rates: Floats = field(default_factory=lambda: np.empty(0))


@dataclass(frozen=True)
class Record:
    """Draws kept from one chain.

    ``scalars`` has concentration, clusters, likelihood, prior, then what the model adds; see
    ``Model.n_extras``.
    """

    labels: Unsigned
    scalars: Floats


@dataclass(frozen=True)
class Progress:
    """A run so far: iterations done by every chain, their states, and what they kept.

    ``start_hashes`` are those of the initial labels and of the random streams; empty where
    they are not known.
    """

    done: int
    states: tuple[ChainState, ...]
    records: tuple[tuple[Record, ...], ...]
    start_hashes: tuple[str, str] = ("", "")

    @property
    def n_draws(self) -> int:
        """Draws kept from each chain."""
        return sum(len(record.labels) for record in self.records[0])

    def without_draws(self) -> Progress:
        """Return the states of the chains without their draws."""
        return Progress(self.done, self.states, ((),) * len(self.states))

    def labels(self) -> Unsigned:
        """Labels of all kept draws, shape (chain, draw, item)."""
        pieces = [piece.labels for record in self.records for piece in record]
        found = np.empty(
            (len(self.records), self.n_draws, self.states[0].labels.size),
            np.result_type(*{piece.dtype for piece in pieces}),
        )
        np.concatenate(pieces, out=found.reshape(-1, found.shape[2]))
        return found

    def scalars(self) -> Floats:
        """Numbers kept beside the labels, shape (chain, draw, number); see ``Record``."""
        return np.stack([np.concatenate([p.scalars for p in pieces]) for pieces in self.records])


@dataclass(frozen=True)
class Step:
    """The task of a chain: iterations first + 1 … last, from a state, with some threads."""

    settings: Settings
    state: ChainState
    first: int
    last: int
    threads: int = 1


Advance = Callable[[list[Step]], list[tuple[ChainState, Record]]]
"""One step of each chain, wherever it runs."""


def runner(model: Model, n_jobs: int | None, engine: Any = None) -> Advance:
    """A function that advances every chain, on threads or on the workers of a cluster.

    A chain's state comes back from its worker after every round: a worker that dies costs the
    round, and not a draw differs.
    """
    if engine is None:
        threads = count_jobs(n_jobs)

        def advance(steps: list[Step]) -> list[tuple[ChainState, Record]]:
            # What chains leave over of the threads sweeps rows, where the sampler can share them.
            shared = [replace(one, threads=max(1, threads // len(steps))) for one in steps]
            return run(partial(_advance, model), shared, n_jobs)

        return advance
    from partita.dask import as_client, results_in_order, submit_value

    client = as_client(engine)
    there = submit_value(client, model)

    def advance_there(steps: list[Step]) -> list[tuple[ChainState, Record]]:
        futures = (client.submit(_advance, there, step, pure=False) for step in steps)
        return list(results_in_order(client, futures))

    return advance_there


def _advance(model: Model, task: Step) -> tuple[ChainState, Record]:
    """One step of one chain; the state given is left as it is."""
    if task.settings.sampler == "parallel":
        from partita.samplers import parallel

        return parallel.advance(model, task)
    from partita.kernels.gibbs.chain import run_chain

    settings, arrays = task.settings, model.arrays
    labels, random = task.state.labels.copy(), task.state.random.copy()
    n_kept = settings.kept(task.last) - settings.kept(task.first)
    kept_labels = np.empty((n_kept, labels.size), np.int32)
    scalars = np.empty((n_kept, 4 + model.n_extras))
    rates = task.state.rates.copy()
    concentration = run_chain(
        arrays.likelihood(model.values),
        model.prior.own(),
        model.singleton.copy() if rates.size else model.singleton,
        task.state.concentration,
        rates,
        labels,
        random,
        Plan(
            task.first,
            task.last,
            settings.burn_in,
            settings.thin,
            settings.sweeps,
            settings.split_merge,
        ),
        kept_labels,
        scalars,
    )
    most = int(kept_labels.max()) if n_kept else 0
    record = Record(kept_labels.astype(smallest_unsigned(most)), scalars)
    return ChainState(labels, concentration, random, rates), record


def advance_all(
    settings: Settings,
    progress: Progress,
    advance: Advance,
    after_round: Callable[[Progress], None],
) -> tuple[Progress, bool]:
    """Run all chains to the end, in rounds; the flag tells whether Ctrl-C came first.

    Chains advance together, so that an interrupted run has equally many draws of each. A round
    that was cut short is dropped as a whole.
    """
    left = settings.kept(settings.iterations) - settings.kept(progress.done)
    n_items = progress.states[0].labels.size
    require_memory(
        left * len(progress.states) * n_items,
        f"keeping {left:,} draws of {len(progress.states):,} chains",
        "Ask for fewer draws, and thin more.",
    )
    length = 1
    try:
        while progress.done < settings.iterations:
            last = min(progress.done + length, settings.iterations)
            steps = [Step(settings, s, progress.done, last) for s in progress.states]
            start = time.perf_counter()
            results = advance(steps)
            seconds = time.perf_counter() - start
            progress = replace(
                progress,
                done=last,
                states=tuple(state for state, _ in results),
                records=tuple(
                    (*pieces, record) if len(record.labels) else pieces
                    for pieces, (_, record) in zip(progress.records, results, strict=True)
                ),
            )
            after_round(progress)
            # The first round compiles, so lengths grow step by step instead of by its time.
            wanted = int(length * _ROUND_SECONDS / max(seconds, 1e-6))
            length = max(1, min(wanted, 8 * length)) if last > 1 else 4
    except KeyboardInterrupt:
        return progress, True
    return progress, False


# ------------------------------------------------------------------ checkpoints


_CHECKPOINT = Form("partita checkpoint", 2)


@dataclass(frozen=True, eq=False)
class Run:
    """The identity of a run, against which a checkpoint is checked."""

    kernel: Kernel
    prior: PartitionPrior
    values: Floats
    settings: Settings

    @cached_property
    def fingerprint(self) -> str:
        """A hash of the model, the data and the settings other than the number of draws."""
        parts = {
            "kernel": [self.kernel.kind, self.kernel.config()],
            "prior": [self.prior.kind, self.prior.config()],
            "settings": settings_dict(self.settings) | {"draws": 0},
            "shape": self.values.shape,
        }
        text = json.dumps(parts, sort_keys=True, default=str)
        data = np.ascontiguousarray(self.values).tobytes()
        return hashlib.sha256(text.encode() + data).hexdigest()

    @property
    def n_rates(self) -> int:
        """Rates that are learned."""
        return len(self.kernel.learned(self.values.shape[1]))


def settings_dict(settings: Settings) -> dict[str, Any]:
    """The settings for a file; the sampler that versions 0.1 and 0.2 had is not named."""
    found = asdict(settings)
    if settings.sampler == "collapsed":
        del found["sampler"]
    return found


class Checkpointer:
    """Writes a run to a file at intervals; does nothing without a path."""

    def __init__(
        self, path: PathLike | None, *, every: float, fingerprint: str, resumed: PathLike | None
    ) -> None:
        self._path = path
        self._every = every
        self._fingerprint = fingerprint
        same = resumed is not None and path is not None
        self._may_replace = same and Path(str(resumed)).resolve() == Path(str(path)).resolve()
        self._last = time.monotonic()
        self.failure: str | None = None

    @about("checkpoint", "path")
    def begin(self, progress: Progress) -> None:
        """Write the start, so that a path that cannot be written fails before any sampling."""
        if self._path is None:
            return
        if Path(self._path).exists() and not self._may_replace:
            raise FileOverwriteError(
                f"the checkpoint {self._path} exists already. Pass resume={str(self._path)!r} "
                "to continue that run, or choose another name."
            )
        self.write(progress)

    def after_round(self, progress: Progress) -> None:
        """Write if the last checkpoint is older than the interval."""
        if self._path is not None and time.monotonic() - self._last >= self._every:
            self.keep(progress)

    def keep(self, progress: Progress) -> None:
        """Write, and record a failure: a full disk must not cost the draws that are there."""
        try:
            self.write(progress)
            self.failure = None
        except (PartitaError, OSError) as error:
            self._last = time.monotonic()
            self.failure = f"the checkpoint could not be written: {error}"

    def write(self, progress: Progress) -> None:
        """Write the run so far, replacing the file at once."""
        if self._path is None:
            return
        start = time.monotonic()
        arrays = progress_arrays(progress)
        meta = {"model": self._fingerprint, "done": progress.done, "chains": len(progress.states)}
        meta |= {"begun": list(progress.start_hashes)}
        write_archive(self._path, _CHECKPOINT, meta, arrays, overwrite=True)
        self._last = time.monotonic()
        # Writing all draws again and again must stay a small part of the run.
        self._every = max(self._every, 20 * (self._last - start))


@about("resume", "path")
def read_checkpoint(path: PathLike, run: Run) -> Progress:
    """A run so far in a checkpoint, which must be of this model, data and settings."""
    meta, arrays = read_archive(path, _CHECKPOINT)
    settings = run.settings
    if meta.get("model") != run.fingerprint:
        raise InvalidInputError(
            f"the checkpoint {path} belongs to another run: data, kernel, prior, burn_in, thin, "
            "chains, sweeps and split_merge must be those it was started with.",
            argument="resume",
        )
    if not isinstance(meta.get("done"), int) or meta["done"] < 0:
        raise FileFormatError(f"the checkpoint {path} is damaged: done={meta.get('done')!r}.")
    if meta["done"] > settings.iterations:
        raise InvalidInputError(
            f"the checkpoint {path} is {meta['done']} iterations long, but "
            f"draws={settings.draws!r} asks for {settings.iterations}. Ask for at "
            "least as many draws.",
            argument="resume",
        )
    begun = meta.get("begun", ["", ""])  # which version 0.1 did not write
    if not isinstance(begun, list) or [type(part) for part in begun] != [str, str]:
        raise FileFormatError(f"the checkpoint {path} is damaged: begun={begun!r}.")
    done = int(meta["done"])
    states, records = [], []
    try:
        for c in range(settings.chains):
            states.append(read_state(arrays, c, run))
            records.append(read_records(arrays, c, settings.kept(done), run))
    except KeyError as error:
        raise FileFormatError(f"the checkpoint {path} is incomplete: {error} is missing.") from None
    except ValueError as error:
        raise FileFormatError(f"the checkpoint {path} is damaged: {error}.") from None
    return Progress(done, tuple(states), tuple(records), (begun[0], begun[1]))


def progress_arrays(progress: Progress) -> dict[str, Array]:
    """Where chains stand and what they kept, for a file."""
    arrays = state_arrays(progress)
    if progress.n_draws:
        both = zip(progress.labels(), progress.scalars(), strict=True)
        for c, (labels, scalars) in enumerate(both):
            arrays[f"labels_{c}"], arrays[f"scalars_{c}"] = labels, scalars
    return arrays


def state_arrays(progress: Progress) -> dict[str, Array]:
    """Where chains stand, for a file."""
    arrays: dict[str, Array] = {}
    for c, state in enumerate(progress.states):
        arrays[f"state_labels_{c}"] = state.labels
        arrays[f"random_{c}"] = state.random
        arrays[f"concentration_{c}"] = np.array(state.concentration)
        if state.rates.size:
            arrays[f"rates_{c}"] = state.rates
    return arrays


def read_state(arrays: dict[str, Array], c: int, run: Run) -> ChainState:
    """The state of chain c, checked like a user's input: a kernel trusts it."""
    n_items, n_rates, prior = len(run.values), run.n_rates, run.prior
    labels, random = arrays[f"state_labels_{c}"], arrays[f"random_{c}"]
    if labels.shape != (n_items,) or not np.array_equal(labels, canonical(labels)):
        raise ValueError(f"chain {c} has no canonical labels of {n_items} items")
    most = prior.most_clusters()
    if most is not None and labels.max() >= most:
        raise ValueError(f"chain {c} has more clusters than the prior allows")
    if random.shape != (4,) or random.dtype != np.uint64 or not random.any():
        raise ValueError(f"chain {c} has no random state")
    if arrays[f"concentration_{c}"].shape != () or arrays[f"concentration_{c}"].dtype.kind != "f":
        raise ValueError(f"chain {c} has no concentration")
    concentration = float(arrays[f"concentration_{c}"])
    if not prior.least_parameter() < concentration < np.inf:
        raise ValueError(f"chain {c} has the concentration {concentration!r}")
    rates = arrays[f"rates_{c}"] if n_rates else np.empty(0)
    if (
        rates.shape != (n_rates,)
        or rates.dtype != np.float64
        or not (np.isfinite(rates) & (rates > 0)).all()
    ):
        raise ValueError(f"chain {c} has no {n_rates} positive rates")
    return ChainState(labels.astype(np.int32), concentration, random, rates)


def read_records(arrays: dict[str, Array], c: int, kept: int, run: Run) -> tuple[Record, ...]:
    """The draws of chain c, of which there must be as many as its iterations give."""
    if not kept:
        return ()
    n_items = len(run.values)
    width = 4 + int(run.prior.tables(n_items).has_components) + run.n_rates
    labels, scalars = arrays[f"labels_{c}"], arrays[f"scalars_{c}"]
    if labels.shape != (kept, n_items) or labels.dtype.kind != "u":
        raise ValueError(f"chain {c} has labels of shape {labels.shape}")
    clean = Draws(labels)
    if not np.array_equal(clean.labels, labels):
        raise ValueError(f"chain {c} has labels that are not canonical")
    expected = scalars.shape == (kept, width) and scalars.dtype == np.float64
    if not expected or not np.isfinite(scalars).all():
        raise ValueError(f"chain {c} has no finite traces")
    if not np.array_equal(scalars[:, 1], clean.n_clusters):
        raise ValueError(f"the trace of chain {c} has other numbers of clusters than its labels")
    return (Record(labels, scalars),)


# ------------------------------------------------------------------ progress


_FEW = 20
"""Draws of each chain from which on R-hat says something."""

_PAUSE = 2.0
"""Seconds between two computations of R-hat, which look at all draws."""


def rhat_so_far(reached: Progress) -> float | None:
    """The larger R-hat of number of clusters and log posterior; None while there are few draws."""
    if len(reached.states) < 2 or reached.n_draws < _FEW:
        return None
    scalars = reached.scalars()
    traces = (scalars[:, :, 1], scalars[:, :, 2] + scalars[:, :, 3])
    with np.errstate(invalid="ignore", divide="ignore"):  # chains that stand still, each elsewhere
        moving = [rhat(trace) for trace in traces if np.ptp(trace) > 0]
    return max(moving, default=None)


class _Bar:
    """A bar on a terminal."""

    def __init__(self, chains: str, total: int, done: int) -> None:
        from rich.console import Console
        from rich.progress import BarColumn, Progress, TextColumn

        self._bar = Progress(
            TextColumn("{task.description}"),
            BarColumn(bar_width=None),
            TextColumn("{task.completed:,.0f}/{task.total:,.0f} {task.fields[text]}"),
            console=Console(stderr=True),
            expand=True,
        )
        self._bar.start()
        self._task = self._bar.add_task(chains, total=total, completed=done, text="compiling")

    def update(self, done: int, text: str) -> None:
        self._bar.update(self._task, completed=done, text=text)

    def stop(self) -> None:
        self._bar.stop()


class _Lines:
    """A line of a notebook that is replaced; elsewhere lines that follow one another."""

    def __init__(self, chains: str, total: int, done: int) -> None:
        self._before, self._total = f"{chains}: ", total
        self._last = time.monotonic()
        self._line = NotebookLine(f"{self._before}compiling") if in_notebook() else None
        self.update(done, "")

    def update(self, done: int, text: str) -> None:
        shown = f"{self._before}{done:,}/{self._total:,} iterations {text}"
        if self._line is not None:
            self._line.update(shown)
        elif text and time.monotonic() - self._last >= _PAUSE:
            self._last = time.monotonic()
            print(shown, file=sys.stderr)

    def stop(self) -> None:
        """What was last shown stays."""


class Display:
    """Iterations, rate, time left, clusters and R-hat so far, on standard error.

    A bar on a terminal, one line in a notebook, and where neither is but progress was asked for,
    lines.
    """

    def __init__(
        self, settings: Settings, done: int, wanted: bool | None, notes: tuple[str, ...]
    ) -> None:
        self._settings = settings
        self._done = done
        self._notes = notes
        self._shown: _Bar | _Lines | None = None
        self._rhat = ""
        self._looked = -_PAUSE
        self._wanted = is_shown(wanted)
        self._first: tuple[int, float] | None = None

    def __enter__(self) -> Display:
        if self._wanted:
            for note in self._notes:
                print(note, file=sys.stderr)
            kind = _Bar if sys.stderr.isatty() and not in_notebook() else _Lines
            chains = counted(self._settings.chains, "chain")
            self._shown = kind(chains, self._settings.iterations, self._done)
        return self

    def __exit__(self, *error: object) -> None:
        if self._shown is not None:
            self._shown.stop()

    def update(self, reached: Progress) -> None:
        """Show how far all chains are."""
        if self._shown is None:
            return
        clusters = [int(state.labels.max()) + 1 for state in reached.states]
        pace = self._pace(reached.done)
        text = f"{pace}{min(clusters)}–{max(clusters)} clusters{self._agreement(reached)}"
        self._shown.update(reached.done, text)

    def _pace(self, done: int) -> str:
        """Rate and time left, from the second round on: the first one compiles."""
        now = time.monotonic()
        if self._first is None:
            self._first = (done, now)
        begun, since = self._first
        if done == begun:
            return ""
        rate = (done - begun) / (now - since)
        minutes, seconds = divmod(round((self._settings.iterations - done) / rate), 60)
        return f"{rate:,.0f}/s, {minutes // 60}:{minutes % 60:02}:{seconds:02} left, "

    def _agreement(self, reached: Progress) -> str:
        """R-hat so far, looked at now and then."""
        if time.monotonic() - self._looked >= _PAUSE:
            found = rhat_so_far(reached)
            self._rhat = "" if found is None else f", R-hat {rhat_in_words(found)}"
            self._looked = time.monotonic()
        return self._rhat
