r"""The matching bound: the triangle inequality over pairs of far-apart draws.

For a metric d, any x_ab ≥ 0 whose rows and columns sum to at most the masses w of the draws, and
any partition c,

.. math:: \sum_a w_a\, d(c_a, c) \ge \tfrac12 \sum_{ab} x_{ab}\, [d(c_a, c) + d(c_b, c)]
          \ge \tfrac12 \sum_{ab} x_{ab}\, d(c_a, c_b):

the right-hand side bounds the expected loss of every partition from below, whatever x; a good one
makes it tight. Draws of equal mass are dealt into blocks at random, and within a block the best
permutation is found exactly. Draws of unequal mass are dealt into blocks of equal mass, a heavy
one into several, and the best x of each block is found exactly. A draw with half of all mass
faces all others: it is then a minimiser, and the bound says so.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from itertools import pairwise
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from partita.draws import Draws
from partita.kernels.arrays import Floats, Ints
from partita.labels import Labels
from partita.losses.base import Loss
from partita.scan import concatenated, map_sets

R = TypeVar("R")

_GROUPS, _FEW_GROUPS, _LEAST_WORK = 16, 4, 1e7
"""Pieces of work for the threads: at least a few, and more of at least this many pairs of draws
times items. Blocks are matched on their own, so that threads do not change the answer."""

_GROUP_LABELS, _GROUP_WORK = 1 << 24, 2e8
"""Labels of one piece and pairs of draws times items, some tenths of a second, at most, unless one
block has more: each thread converts the labels of one, and time is looked at between them."""

_COPIES = 2
"""Draws that were merged count as several of equal mass, at most this multiple of the draws."""

_SHARE = 4
"""A draw has at most 1/4 of the mass of a block, unless it is in every block."""


def matching_bound(
    draws: Draws,
    loss: Loss,
    to_estimate: NDArray[np.float64],
    *,
    block: int,
    passes: int,
    whole: int,
    rng: np.random.Generator,
    n_jobs: int | None = None,
    is_up: Callable[[], bool] = lambda: False,
) -> float:
    """A lower bound of the expected loss of every partition, for a metric loss.

    Parameters
    ----------
    draws : Draws
        Best without duplicates.
    loss : Loss
        A metric.
    to_estimate : ndarray, shape (n_draws,)
        Distances of the draws to one common partition: potentials that make
        the assignments fast. The bound holds whatever they are.
    block : int
        Draws of equal mass matched together. Cost O(n_draws · block · (N + K²) + n_draws · block²).
    passes : int
        How often draws are dealt anew; each pass starts from the pairs of the one before.
    whole : int
        Draws of unequal mass matched together: the heaviest ones, then blocks of that many.
    is_up : callable
        Whether time is up: what has not been matched by then adds nothing.
    """
    mass = draws.probabilities
    heaviest = int(mass.argmax())
    if mass[heaviest] >= 0.5:
        rows = draws.rows(heaviest, heaviest + 1)
        return float(mass @ loss.distances(rows[0], draws, n_jobs))
    matching = _Matching(draws, loss, to_estimate, n_jobs, is_up)
    copies = equal_copies(mass)
    if copies is not None:
        atoms = np.repeat(np.arange(mass.size), copies)
        rng.shuffle(atoms)
        each = float((mass / copies).min())
        return 0.5 * each * matching.match_equal(atoms, block, passes, rng)
    order = np.argsort(-mass, kind="stable")
    proven = 0.0
    if float(mass[order[:whole]].sum()) > 0.5:
        first = order[:whole]
        proven = matching.transport(first, mass[first], np.array([0, first.size]))
    if mass.size > whole and not is_up():
        proven = max(proven, matching.transport(*deal_by_mass(mass, order, whole)))
    return proven


def equal_copies(mass: Floats) -> Ints | None:
    """How many draws of equal mass each draw stands for; None where masses are not like that."""
    ratio = mass / mass.min()
    if ratio.sum() > _COPIES * mass.size:
        return None
    copies = np.rint(ratio)
    equal = np.abs(ratio - copies).max() < 1e-6
    return copies.astype(np.int64) if equal else None


def deal_by_mass(mass: Floats, order: Ints, whole: int) -> tuple[Ints, Floats, Ints]:
    """Blocks of about equal mass: the draws in them, the mass of each there, the blocks' edges."""
    n_blocks = -(-mass.size // whole)
    copies = np.clip(np.ceil(mass * (_SHARE * n_blocks)), 1, n_blocks).astype(np.int64)
    # Copies of one draw go to different blocks, because they stand next to each other.
    dealt = np.repeat(order, copies[order])
    block = np.arange(dealt.size) % n_blocks
    by_block = np.argsort(block, kind="stable")
    edges = np.concatenate([[0], np.cumsum(np.bincount(block, minlength=n_blocks))])
    dealt = dealt[by_block]
    return dealt, mass[dealt] / copies[dealt], edges


@dataclass(frozen=True, eq=False)
class _Matching:
    """The draws and a metric, with what all passes over them share."""

    draws: Draws
    loss: Loss
    to_estimate: Floats
    n_jobs: int | None
    is_up: Callable[[], bool]

    def transport(self, atoms: Ints, mass: Floats, edges: Ints) -> float:
        """What the best transports within the blocks prove."""
        blocks = [slice(*ends) for ends in pairwise(edges.tolist())]
        found = self._map(_transport, [(atoms[b], mass[b]) for b in blocks], _nothing)
        return float(sum(found))

    def match_equal(self, atoms: Ints, block: int, passes: int, rng: np.random.Generator) -> float:
        """Match draws of equal mass within blocks; the sum of the distances to their partners."""
        partner, reach = self._match(atoms, np.append(np.arange(0, atoms.size, block), atoms.size))
        best = float(reach.sum())
        for _ in range(passes - 1):
            if self.is_up():
                break
            order, edges = _deal_anew(partner, block, rng)
            atoms = atoms[order]
            partner, reach = self._match(atoms, edges)
            # A pass that was cut short may have less than the one before.
            best = max(best, float(reach.sum()))
        return best

    def _match(self, atoms: Ints, edges: Ints) -> tuple[Ints, Floats]:
        """Match the atoms within each block, in groups of blocks."""
        n_blocks = edges.size - 1
        largest = int(np.diff(edges).max())
        labels = largest * self.draws.n_items
        room = min(_GROUP_LABELS / labels, _GROUP_WORK / (largest * labels))
        pieces_wanted = int(
            np.clip(n_blocks * largest * labels / _LEAST_WORK, _FEW_GROUPS, _GROUPS)
        )
        step = min(-(-n_blocks // pieces_wanted), max(1, int(room)))
        groups = [edges[g : g + step + 1] for g in range(0, n_blocks, step)]
        pieces = [(atoms[group[0] : group[-1]], group) for group in groups]
        partner, reach = concatenated(self._map(_match, pieces, _unmatched))
        return partner, reach

    def _map(
        self, work: Callable[..., R], pieces: list[tuple[Ints, Any]], instead: Callable[..., R]
    ) -> Iterator[R]:
        """The work on each set of draws, with what else belongs to it."""
        draws, work = self.draws, partial(work, loss=self.loss)
        sets = [(m, (draws.n_clusters[m], more, self.to_estimate[m])) for m, more in pieces]
        jobs, is_up = self.n_jobs, self.is_up
        return map_sets(work, draws, sets, n_jobs=jobs, is_up=is_up, instead=instead)


def _transport(
    rows: Labels, clusters: Ints, mass: Floats, to_estimate: Floats, *, loss: Loss
) -> float:
    from partita.kernels.bounds import farthest_transport
    from partita.kernels.contingency import distances

    terms, form = loss.terms(rows.shape[1]), loss.form(rows.shape[1])
    far = np.stack([distances(row, rows, clusters, terms, form) for row in rows])
    flow = farthest_transport(far, mass, to_estimate)
    return 0.5 * float((flow * far).sum())


def _nothing(*_: object) -> float:
    return 0.0


def _match(
    rows: Labels, clusters: Ints, edges: Ints, to_estimate: Floats, *, loss: Loss
) -> tuple[Ints, Floats]:
    from partita.kernels.bounds import match_blocks

    terms, form = loss.terms(rows.shape[1]), loss.form(rows.shape[1])
    first = int(edges[0])
    partner, reach = match_blocks(rows, clusters, edges - first, terms, form, to_estimate)
    return partner + first, reach


def _unmatched(_: Ints, edges: Ints, *__: object) -> tuple[Ints, Floats]:
    """Every draw with itself, where time is up."""
    first, stop = int(edges[0]), int(edges[-1])
    return np.arange(first, stop), np.zeros(stop - first)


def _deal_anew(partner: Ints, block: int, rng: np.random.Generator) -> tuple[Ints, Ints]:
    """New random blocks of whole cycles, so that matching anew cannot lose.

    Returns the atoms in their new order, and the edges of the blocks.
    """
    cycles = _cycles(partner)
    rng.shuffle(cycles)
    order: list[int] = []
    edges = [0]
    for cycle in cycles:
        in_block = len(order) - edges[-1]
        if in_block and in_block + len(cycle) > block:
            edges.append(len(order))
        order.extend(cycle)
    edges.append(len(order))
    return np.array(order), np.array(edges)


def _cycles(partner: Ints) -> list[list[int]]:
    following = partner.tolist()
    seen = [False] * len(following)
    cycles = []
    for first in range(len(following)):
        if seen[first]:
            continue
        cycle, at = [], first
        while not seen[at]:
            seen[at] = True
            cycle.append(at)
            at = following[at]
        cycles.append(cycle)
    return cycles
