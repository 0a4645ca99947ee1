"""Chains: their states, and the rounds in which they advance together."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from partita._dask import as_client, held, in_order
from partita._memory import require_memory
from partita._parallel import run
from partita.kernels.arrays import Floats
from partita.kernels.gibbs.types import Plan
from partita.partitions.cleaning import smallest_unsigned
from partita.partitions.labels import Labels
from partita.samplers.model import Model

if TYPE_CHECKING:
    from partita.samplers.chain_files import ChainFiles, Shard

_ROUND_SECONDS = 0.25
"""A round is about this long: Ctrl-C, progress and checkpoints wait for its end."""

Small = NDArray[np.unsignedinteger[Any]]


@dataclass(frozen=True)
class Settings:
    """How a run is made; all but ``draws`` must agree when it is resumed.

    Attributes
    ----------
    draws, burn_in, thin, chains : int
        As given to :func:`sample`; ``draws`` per chain.
    sweeps, split_merge : int
        Gibbs sweeps and split-merge moves of one iteration.
    """

    draws: int
    burn_in: int
    thin: int
    chains: int
    sweeps: int
    split_merge: int

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
    random: NDArray[np.uint64]
    rates: Floats = field(default_factory=lambda: np.empty(0))


@dataclass(frozen=True)
class Record:
    """Draws kept from one chain.

    ``scalars`` has concentration, clusters, likelihood, prior, then what the model adds; see
    ``Model.n_extras``.
    """

    labels: Small
    scalars: Floats


@dataclass(frozen=True)
class Progress:
    """A run so far: iterations done by every chain, their states, and what they kept.

    ``begun`` has hashes of the labels and of the random streams that chains were
    begun with; empty where that is not known.
    """

    done: int
    states: tuple[ChainState, ...]
    records: tuple[tuple[Record, ...], ...]
    begun: tuple[str, str] = ("", "")

    @property
    def n_draws(self) -> int:
        """Draws kept from each chain."""
        return sum(len(record.labels) for record in self.records[0])

    def standing(self) -> Progress:
        """Where the chains stand, without what they kept."""
        return Progress(self.done, self.states, ((),) * len(self.states))

    def joined(self) -> tuple[Record, ...]:
        """One record per chain."""
        return tuple(
            Record(
                np.concatenate([piece.labels for piece in pieces]),
                np.concatenate([piece.scalars for piece in pieces]),
            )
            for pieces in self.records
        )


@dataclass(frozen=True)
class Step:
    """What a chain is to do: iterations first + 1 … last, from a state."""

    settings: Settings
    state: ChainState
    first: int
    last: int


Advance = Callable[[list[Step]], list[tuple[ChainState, Record]]]
"""One step of each chain, wherever it runs."""


def runner(
    model: Model, n_jobs: int | None, engine: Any = None, files: ChainFiles | None = None
) -> Advance:
    """Who advances the chains: threads here, or the workers of a cluster."""
    if engine is None:
        return lambda steps: run(partial(_advance, model), steps, n_jobs)
    return _on_workers(model, as_client(engine), files)


def _on_workers(model: Model, client: Any, files: ChainFiles | None) -> Advance:
    """Chains that advance on the workers of a cluster, to which the model is sent once.

    A chain's state comes back after every round: a worker that dies costs the round, and not
    a draw differs.
    """
    there = held(client, model)

    def advance(steps: list[Step]) -> list[tuple[ChainState, Record]]:
        due = [None] * len(steps) if files is None else files.due()
        found = list(
            in_order(
                client,
                lambda task: client.submit(_advance_and_write, there, *task, pure=False),
                zip(steps, due, strict=True),
            )
        )
        if files is not None:
            last, records = steps[0].last, [record for _, record, _ in found]
            files.note(last, records, [failure for _, _, failure in found])
        return [(state, record) for state, record, _ in found]

    return advance


def _advance_and_write(
    model: Model, task: Step, shard: Shard | None
) -> tuple[ChainState, Record, str | None]:
    state, record = _advance(model, task)
    return state, record, None if shard is None else shard.write(task.last, state, record)


def _advance(model: Model, task: Step) -> tuple[ChainState, Record]:
    """One step of one chain; the state given is left as it is."""
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
        arrays.rates,
        model.singleton.copy() if rates.size else model.singleton,
        arrays.n_rows,
        arrays.n_work,
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
