"""The search for n partitions that together lie nearest to the draws."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from partita._parallel import run
from partita._text import words
from partita.draws import Draws
from partita.labels import Labels
from partita.losses.base import Loss
from partita.rivals.among import apart
from partita.rivals.centres import Lloyd, Stop
from partita.rivals.parts import sampled
from partita.rivals.pool import GAIN, Pool, Set, greedy, spread
from partita.scan import block_of

_SAMPLE_LABELS = 80_000
_MOST_DRAWS, _FEWEST_DRAWS = 400, 100
"""A sample that is explored has about so many labels, within limits on its draws."""

_POLISHED_LABELS = 10_000_000
"""Labels of the draws on which the best sets are polished; a sample where there are more."""

_RANDOM = 4
"""Centres of random starts on a sample, about; at least one start. A smaller n affords more."""

_SOFTNESS = 0.1
"""First temperature of the soft steps, in units of the mean distance to the nearest centre."""

_SWAPPED = 8
"""Best sets of the samples that are improved by exchanges before some of them descend."""

_SCREENED = 5
"""Sets are compared and combined on so many times the draws of a sample."""

_CHEAP_LABELS = 800_000
_CHEAPER = 4
"""Where all draws have fewer labels than this, more sets are polished: up to so many times."""

_KICKED = 8
"""Items forced out of their clusters in the last descents."""


@dataclass(frozen=True)
class Effort:
    """How hard a search tries."""

    samples: int
    """Samples of the draws that are explored, each from greedy medoids and a random start."""
    polished: int
    """Centres of the different sets that are improved on all draws, about."""


FULL = Effort(samples=6, polished=16)
QUICK = Effort(samples=2, polished=1)


@dataclass(frozen=True, eq=False)
class Found:
    """The best set of a search, the starts that reached it, and the limits that were binding."""

    rows: NDArray[np.int32]
    agreed: int
    n_starts: int
    limits: tuple[str, ...]
    lower_bound: float | None = None


def quantise(
    draws: Draws,
    n: int,
    loss: Loss,
    *,
    effort: Effort,
    rng: np.random.Generator,
    stop: Stop,
    n_jobs: int | None,
    say: Callable[[str], None],
) -> Found:
    """Explore samples of the distinct draws from several starts, and polish the best sets on all.

    Every centre that ended a walk on a sample joins one pool; sets are
    combined from it by exchanges, on a larger sample, before the best of them
    descend on all draws.
    """
    say(f"{n} representatives: exploring")
    seeds = rng.spawn(effort.samples + 1)
    size = int(np.clip(_SAMPLE_LABELS // draws.n_items, _FEWEST_DRAWS, _MOST_DRAWS))
    size = max(size, 4 * n)
    whole = draws.n_draws <= size

    def explored(number: int) -> list[list[Labels]]:
        return _explored(
            draws, n, loss, size, seeds[number], stop, greedily=not whole or not number
        )

    walks = run(explored, range(effort.samples), n_jobs)
    say(f"{n} representatives: polishing")
    most = max(size, _POLISHED_LABELS // draws.n_items)
    limits: tuple[str, ...] = ()
    if draws.n_draws > most:
        limits = (
            f"the search saw {most:,} of {draws.n_draws:,} distinct {words(draws.kind).draws}",
        )
    everyone = sampled(draws, most, seeds[-1])
    labels = everyone.n_draws * draws.n_items
    most_sets = int(effort.polished / n * np.clip(_CHEAP_LABELS / labels, 1, _CHEAPER))
    starts = [rows for ends in walks for rows in ends]
    screen = Pool(sampled(everyone, _SCREENED * size, seeds[-1]), loss, n_jobs)
    ranked = _ranked(screen, starts, n, max(1, most_sets))
    pool = Pool(everyone, loss, n_jobs)
    best, values = _polished(pool, Lloyd(pool, seeds[-1], stop, n_jobs), ranked, stop)
    agreed = sum(v <= pool.value(best) + GAIN for v in values)
    return Found(np.array([pool.rows[i] for i in best]), agreed, len(values), limits)


def _explored(
    draws: Draws,
    n: int,
    loss: Loss,
    size: int,
    rng: np.random.Generator,
    stop: Stop,
    *,
    greedily: bool,
) -> list[list[Labels]]:
    """Where walks on one sample end: hard and soft, from greedy medoids and from a random start."""
    sample = sampled(draws, size, rng)
    pool = Pool(sample, loss)
    lloyd = Lloyd(pool, rng, stop)
    rows = sample.rows(0, sample.n_draws)
    far = apart(block_of(sample, slice(0, sample.n_draws)), loss)
    chosen = [spread(far, pool.weights, n, rng) for _ in range(max(1, _RANDOM // n))]
    if greedily:
        chosen.insert(0, greedy(far, pool.weights, n))
    ends: list[Set] = []
    for start in chosen:
        if stop() and ends:
            break
        members = [pool.add(rows[i]) for i in start]
        hard, value = lloyd.descend(members)
        soft, _ = lloyd.descend(lloyd.cool(members, _SOFTNESS * max(value, GAIN)))
        best = min((hard, soft), key=pool.value)
        kicked, _ = lloyd.descend(pool.swapped(best)[0], _KICKED)
        ends += [hard, soft, kicked]
    return [[pool.rows[i] for i in end] for end in dict.fromkeys(ends)]


def _ranked(pool: Pool, starts: list[list[Labels]], n: int, most: int) -> list[list[Labels]]:
    """The most promising sets of all that the pool can combine, best first."""
    sets = [s for s in map(pool.add_all, starts) if len(s) == n]
    if len(pool.rows) >= n:
        everything = pool.distances(range(len(pool.rows)))
        sets.append(tuple(sorted(greedy(everything, pool.weights, n))))
    sets = sorted(dict.fromkeys(sets), key=pool.value)
    sets += [pool.swapped(s)[0] for s in sets[: max(_SWAPPED, most)]]
    ranked = sorted(dict.fromkeys(sets), key=pool.value)
    return [[pool.rows[i] for i in members] for members in ranked[:most]]


def _polished(
    pool: Pool, lloyd: Lloyd, starts: list[list[Labels]], stop: Stop
) -> tuple[Set, list[float]]:
    """The best set after descents on all draws, and the value that each descent reached."""
    ends = []
    for rows in starts:
        ends.append(lloyd.descend(pool.add_all(rows)))
        if stop():
            break
    best, value = min(ends, key=lambda end: end[1])
    while not stop():
        again, lower = lloyd.descend(pool.swapped(best)[0], _KICKED)
        if lower >= value - GAIN:
            break
        best, value = again, lower
    return best, [end[1] for end in ends]
