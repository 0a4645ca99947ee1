"""Input and output of every search method."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from concurrent.futures import Future, wait
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import NamedTuple, TypeVar, overload

import numpy as np
from numpy.typing import NDArray

from partita._resources import Clock, available_memory, count_jobs, readable_size, shared_pool
from partita._tolerance import DISTANCE, LAST_DIGITS, SUM
from partita._validate import Rng, generator
from partita.draws import Draws
from partita.labels import Labels
from partita.losses.base import Loss
from partita.posterior import Posterior
from partita.search import settings
from partita.similarity_matrix import similarity as similarity_of

T = TypeVar("T")
R = TypeVar("R")

TIE, TIE_AT_0 = DISTANCE, LAST_DIGITS
"""Running sums of a search this close, relative to the lower one, are one; and near 0."""

MEMORY_OF_THREADS, LITTLE_MEMORY = 0.5, 1 << 26
"""Share of the free memory that threads may take together, and bytes that are always there."""

FEWER_THREADS = "memory: threads were"
"""Prefix of the limit that reports fewer threads."""


class Candidate(NamedTuple):
    """A partition that a method proposes."""

    labels: Labels
    origin: str


def distinct_candidates(candidates: Sequence[Candidate]) -> list[Candidate]:
    """Each partition once, in the order and with the origin of its first appearance."""
    return list({c.labels.tobytes(): c for c in reversed(candidates)}.values())[::-1]


@dataclass(frozen=True)
class Options:
    """Validated options of a search."""

    n_starts: int
    starts: Labels
    max_clusters: int | None
    neighbours: int | None
    n_jobs: int | None


@dataclass
class Log:
    """What the methods did: effort, limits that were binding, candidates, a bound they proved."""

    n_evaluated: int = 0
    restarts: int = 0
    proven: float = -math.inf
    settled: bool | None = None
    limits: list[str] = field(default_factory=list)
    found: list[Candidate] = field(default_factory=list)

    def limit(self, said: str) -> None:
        """Record a limit, once."""
        if said not in self.limits:
            self.limits.append(said)

    def prove(self, bound: float) -> None:
        """Record a lower bound that a method has proven on its way."""
        self.proven = max(self.proven, bound)


@dataclass
class Task:
    """A problem for the methods of ``estimate``: draws or similarities, loss, options, clock, log.

    Draws are distinct and carry their masses; a similarity matrix may be given instead.
    """

    draws: Draws | None
    given_similarity: NDArray[np.float64] | None
    loss: Loss
    options: Options
    rng: np.random.Generator
    clock: Clock
    report: Callable[[str], None]
    posterior: Posterior | None = None
    log: Log = field(default_factory=Log)
    _distances: dict[bytes, NDArray[np.float64]] = field(default_factory=dict)

    def on(self, draws: Draws) -> Task:
        """The task on other draws, with the same log and empty caches; itself on its own draws."""
        if draws is self.draws:
            return self
        return replace(self, draws=draws, posterior=None, _distances={})

    def under(self, loss: Loss) -> Task:
        """The same task under another loss, with a log of its own."""
        return replace(self, loss=loss, log=Log(), _distances={})

    @cached_property
    def n_items(self) -> int:
        """Number of items."""
        if self.draws is not None:
            return self.draws.n_items
        assert self.given_similarity is not None
        return len(self.given_similarity)

    @cached_property
    def max_clusters(self) -> int:
        """Most clusters of an estimate."""
        return self.options.max_clusters or self.n_items

    @cached_property
    def by_similarity(self) -> bool:
        """Whether the similarity matrix is searched, not tables of the draws."""
        if not self.loss.uses_similarity:
            return False
        few = self.n_items <= settings.MATRIX_ITEMS
        return self.draws is None or self.loss.needs_similarity or few

    @cached_property
    def threads(self) -> int:
        """Threads to use."""
        return count_jobs(self.options.n_jobs)

    def threads_for(self, work: int, each: int) -> int:
        """Threads for a number of pieces of work: those for which memory has ``each`` bytes."""
        wanted = max(1, min(self.threads, work))
        if wanted * each <= LITTLE_MEMORY:
            return wanted
        free = available_memory()
        if free is None or wanted * each <= MEMORY_OF_THREADS * free:
            return wanted
        fitting = max(1, int(MEMORY_OF_THREADS * free / each))
        told = any(limit.startswith(FEWER_THREADS) for limit in self.log.limits)
        if fitting < wanted and not told:
            self.log.limit(
                f"{FEWER_THREADS} {fitting} instead of {wanted}, each with "
                f"{readable_size(each)} of the {readable_size(free)} that were free"
            )
        return fitting

    @property
    def has_similarity(self) -> bool:
        """Whether the similarity matrix was given or has been computed."""
        return self.given_similarity is not None or "similarity" in self.__dict__

    @cached_property
    def similarity(self) -> NDArray[np.float64]:
        """The similarity matrix, computed when first needed."""
        if self.given_similarity is not None:
            return self.given_similarity
        assert self.draws is not None
        if self.posterior is not None:
            return self.posterior.similarity
        return similarity_of(self.draws, n_jobs=self.options.n_jobs)

    def evaluate(self, labels: Labels) -> float:
        """Expected loss by the strict kernels, independent of any search's running sums."""
        if self.draws is None or (self.has_similarity and self.loss.uses_similarity):
            return self.loss.expected_from_similarity(labels, self.similarity)
        if self.loss.averages_distances:
            distances = self.distances_to(labels)
            return float((distances * self.draws.probabilities).sum())
        return self.loss.expected(labels, self.draws, self.options.n_jobs)

    def distances_to(self, labels: Labels) -> NDArray[np.float64]:
        """Loss of an estimate against each distinct draw, computed once."""
        assert self.draws is not None
        if self.posterior is not None:
            return self.posterior.distinct_distances(self.loss, labels)
        key = labels.tobytes()
        if key not in self._distances:
            self._distances[key] = self.loss.distances(labels, self.draws, self.options.n_jobs)
        return self._distances[key]


def unconstrained_task(
    draws: Draws,
    loss: Loss,
    n_starts: int,
    n_jobs: int | None,
    rng: Rng | None,
    time_limit: float | None,
    report: Callable[[str], None],
    posterior: Posterior | None = None,
) -> Task:
    """A task on distinct draws, with no wish but a number of starts."""
    none = np.empty((0, draws.n_items), np.int32)
    options, clock = Options(n_starts, none, None, None, n_jobs), Clock(time_limit)
    return Task(draws, None, loss, options, generator(rng), clock, report, posterior)


def run_interruptible_parallel(
    task: Task, function: Callable[[T], R], work: Sequence[T], say: str, each: int = 0
) -> list[R]:
    """Results in the order of the work, whatever the number of threads.

    Where a piece of work takes ``each`` bytes there are only as many threads as
    memory holds, which is said in the limits.

    The work runs in worker threads even when there is one: Ctrl-C reaches the
    main thread, which tells the clock; every piece of work watches the clock
    and returns what it has.
    """
    futures: list[Future[R]] = []
    with shared_pool(task.threads_for(len(work), each), "search") as pool:
        while True:
            try:  # around everything: Ctrl-C may come while work is handed out, too
                while len(futures) < len(work):
                    futures.append(pool.submit(function, work[len(futures)]))
                waiting = wait(futures, timeout=0.2).not_done
                task.report(f"{say}, {len(futures) - len(waiting)} of {len(futures)}")
                if not waiting:
                    break
            except KeyboardInterrupt:
                task.clock.interrupt()
        return [future.result() for future in futures]


def run_interruptible(task: Task, function: Callable[[], R], say: str) -> R:
    """The function's result; Ctrl-C tells the clock instead of losing what was found."""
    return run_interruptible_parallel(task, lambda _: function(), [None], say)[0]


def tied(best: float, loss: Loss) -> float:
    """The highest loss that ties with the best, among losses evaluated anew.

    Relative to the loss where it is computed without rounding: two partitions may differ by one
    pair of items in one draw, 2/N² of Binder's loss.
    """
    return best + (LAST_DIGITS * abs(best) if loss.is_exact else SUM * abs(best) + LAST_DIGITS)


@overload
def tie_threshold(best: float) -> float: ...
@overload
def tie_threshold(best: NDArray[np.float64]) -> NDArray[np.float64]: ...
def tie_threshold(best: float | NDArray[np.float64]) -> float | NDArray[np.float64]:
    """The highest running sum that may tie with the best."""
    return best + (TIE * np.abs(best) + TIE_AT_0)


def argmin_with_ties(losses: NDArray[np.float64]) -> NDArray[np.int64]:
    """Positions of the smallest loss and of all that tie with it, in order."""
    return np.flatnonzero(losses <= tie_threshold(float(losses.min())))
