"""Lloyd's steps: regions of draws, and the best partition of each region by the point search."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from partita._parallel import run
from partita.kernels.arrays import Bools, Floats, Ints
from partita.labels import Labels
from partita.rivals.parts import part_of
from partita.rivals.pool import GAIN, Pool, Set
from partita.search.descent import Walker
from partita.search.part_tables import PartTables
from partita.search.problem import Problem, lists_from_draws, needs_lists

_COOLING = 0.6 ** np.arange(6)
"""Temperatures of the soft steps, in units of the first."""

_NEGLIGIBLE = 1e-3
"""A draw of which a region holds a smaller share than this is left out of its centre."""

_STEPS = 30
"""Most Lloyd steps of one descent; two or three are usual."""

Stop = Callable[[], bool]


def centre(
    problem: Problem, start: Labels, rng: np.random.Generator, kicks: int, stop: Stop
) -> Labels:
    """A partition of locally lowest expected loss, downhill from ``start``."""
    walker = Walker(problem, start, rng, stop=stop)
    walker.sweep()
    if kicks:
        walker.kick(kicks)
    return walker.labels


class Lloyd:
    """Alternates regions and centres on the draws of a pool, to which every centre is added."""

    def __init__(
        self, pool: Pool, rng: np.random.Generator, stop: Stop, n_jobs: int | None = 1
    ) -> None:
        self.pool = pool
        self._rng = rng
        self._stop = stop
        self._n_jobs = n_jobs
        self._ends: dict[tuple[Set, int], tuple[Set, float]] = {}
        self._tables = None if needs_lists(pool.draws) else PartTables(pool.draws, pool.loss)

    def descend(self, members: Sequence[int], kicks: int = 0) -> tuple[Set, float]:
        """Hard steps, until they help no more; draws as near to two go to the first.

        A centre whose region has not changed since it was found stays, and a
        walk that meets an earlier one ends where that ended.
        """
        current = tuple(sorted(members))
        value = self.pool.value(current)
        passed = [current]
        before = np.full(self.pool.weights.size, -1)
        for _ in range(_STEPS):
            nearest = self.pool.distances(current).argmin(axis=0)
            changed = nearest != before
            stale = np.union1d(nearest[changed], before[changed])
            before = nearest
            shares = np.equal.outer(np.arange(len(current)), nearest).astype(np.float64)
            moved = self._recentred(current, shares, kicks, np.isin(range(len(current)), stale))
            if len(set(moved)) < len(moved):
                break
            new = self.pool.value(moved)
            if new >= value - GAIN or self._stop():
                break
            current, value = moved, new
            passed.append(tuple(sorted(current)))
            if (passed[-1], kicks) in self._ends:
                break
        end = self._ends.get((passed[-1], kicks), (passed[-1], value))
        self._ends.update(((place, kicks), end) for place in passed)
        return end

    def cool(self, members: Sequence[int], temperature: float) -> Set:
        """Soft steps: regions overlap by exp(−distance/temperature), less and less."""
        current = tuple(members)
        for t in temperature * _COOLING:
            distances = self.pool.distances(current)
            shares = np.exp((distances.min(axis=0) - distances) / t)
            every = np.ones(len(current), np.bool_)
            current = self._recentred(current, shares / shares.sum(axis=0), 0, every)
            if self._stop():
                break
        return current

    def _recentred(self, members: Set, shares: Floats, kicks: int, stale: Bools) -> Set:
        """New centres of stale regions; one without draws goes to the draw farthest from all."""
        draws, weights = self.pool.draws, self.pool.weights
        distances = self.pool.distances(members)
        generators = self._rng.spawn(len(members))

        def moved(region: int) -> Labels:
            mine = np.flatnonzero(shares[region] > _NEGLIGIBLE)
            if mine.size == 0:
                farthest = int(distances.min(axis=0).argmax())
                row: Labels = draws.rows(farthest, farthest + 1)[0]
                return row
            mass = weights[mine] * shares[region, mine]
            start = self.pool.rows[members[region]]
            return centre(self._part(mine, mass), start, generators[region], kicks, self._stop)

        current = list(members)
        regions = np.flatnonzero(stale).tolist()
        for region, row in zip(regions, run(moved, regions, self._n_jobs), strict=True):
            current[region] = self.pool.add(row)
        return tuple(current)

    def _part(self, rows: Ints, mass: Floats) -> Problem:
        if self._tables is not None:
            return self._tables.part(rows, mass)
        return lists_from_draws(part_of(self.pool.draws, rows, mass), self.pool.loss)
