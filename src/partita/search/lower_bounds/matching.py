r"""The matching bound: the triangle inequality over pairs of far-apart draws.

For a metric d, any permutation σ of draws of equal mass λ and any partition c,

.. math:: \sum_a \lambda\, d(c_a, c) = \tfrac{\lambda}{2} \sum_a
          [d(c_a, c) + d(c_{\sigma(a)}, c)] \ge \tfrac{\lambda}{2} \sum_a d(c_a, c_{\sigma(a)}).

Summed over groups of equal mass that together use no more than each draw has,
the right-hand side bounds the expected loss of every partition from below,
whatever the permutations; good ones make it tight. Draws are dealt into
blocks at random, and within a block the best permutation is found exactly.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from partita._parallel import run
from partita.losses.base import Loss
from partita.partitions.draws import Draws

_MASS_ROUNDS = 6
"""Rounds in which leftover mass is matched; what remains after them counts as zero."""

_GROUPS = 16
"""Pieces of work for the threads: fixed, so that they do not change the answer."""

_SAME_MASS = 0.1
"""Draws whose masses differ by at most this share of them may meet in a block."""


def matching_bound(
    draws: Draws,
    loss: Loss,
    to_estimate: NDArray[np.float64],
    *,
    block: int,
    passes: int,
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
        Draws matched together. Cost O(n_draws · block · (N + K²) + n_draws · block²).
    passes : int
        How often draws are dealt anew; each pass starts from the pairs of the one before.
    is_up : callable
        Whether time is up: what has not been matched by then adds nothing.
    """
    atoms, mass = _split_heavy(draws.probabilities)
    total = 0.0
    for _ in range(_MASS_ROUNDS):
        level, order = _by_mass(mass, rng)
        value, used = _match_level(
            draws, loss, to_estimate, atoms[order], level, block, passes, rng, n_jobs, is_up
        )
        total += value
        mass[order] -= used
        alive = mass > 1e-3 / mass.size
        atoms, mass = atoms[alive], mass[alive]
        if atoms.size < 2 or is_up():
            break
    return total


def _split_heavy(weights: NDArray[np.float64]) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
    """Atoms of similar mass: a draw of many times the usual mass becomes several atoms.

    A heavy draw must meet many partners, for it may face all the others.
    """
    usual = float(np.median(weights))
    copies = np.minimum(np.ceil(weights / usual * 0.999).astype(np.int64), 4 * weights.size)
    index = np.repeat(np.arange(weights.size), copies)
    return index, (weights / copies)[index]


def _by_mass(
    mass: NDArray[np.float64], rng: np.random.Generator
) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
    """Atoms of nearly equal mass side by side, in random order among themselves."""
    coarse = np.round(np.log(mass) / _SAME_MASS).astype(np.int64)
    order = np.lexsort((rng.random(mass.size), -coarse))
    return mass[order], order


def _match_level(
    draws: Draws,
    loss: Loss,
    to_estimate: NDArray[np.float64],
    atoms: NDArray[np.int64],
    mass: NDArray[np.float64],
    block: int,
    passes: int,
    rng: np.random.Generator,
    n_jobs: int | None,
    is_up: Callable[[], bool],
) -> tuple[float, NDArray[np.float64]]:
    """Match atoms within blocks of neighbours; the value, and the mass each atom has spent."""
    edges = np.append(np.arange(0, atoms.size, block), atoms.size)
    spent = np.repeat(np.minimum.reduceat(mass, edges[:-1]), np.diff(edges))
    place = np.arange(atoms.size)
    partner, reach = _match_all(draws, loss, to_estimate, atoms, edges, n_jobs, is_up)
    value = 0.5 * float((spent[place] * reach).sum())
    for _ in range(passes - 1):
        if is_up():
            break
        order, edges = _deal_anew(partner, spent[place], block, rng)
        place = place[order]
        partner, reach = _match_all(draws, loss, to_estimate, atoms[place], edges, n_jobs, is_up)
        # A pass that was cut short may have less than the one before.
        value = max(value, 0.5 * float((spent[place] * reach).sum()))
    return value, spent


def _match_all(
    draws: Draws,
    loss: Loss,
    to_estimate: NDArray[np.float64],
    atoms: NDArray[np.int64],
    edges: NDArray[np.int64],
    n_jobs: int | None,
    is_up: Callable[[], bool],
) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
    """Match the atoms within each block, in threads over groups of blocks."""
    from partita.kernels.search.matching import match_blocks

    terms, form = loss.terms(draws.n_items), loss.form(draws.n_items)

    def match(group: NDArray[np.int64]) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
        first, stop = int(group[0]), int(group[-1])
        if is_up():
            return np.arange(first, stop), np.zeros(stop - first)
        mine = atoms[first:stop]
        rows, clusters = draws.labels[mine].astype(np.int32), draws.n_clusters[mine]
        partner, reach = match_blocks(rows, clusters, group - first, terms, form, to_estimate[mine])
        return partner + first, reach

    n_blocks = edges.size - 1
    step = -(-n_blocks // _GROUPS)
    groups = [edges[g : g + step + 1] for g in range(0, n_blocks, step)]
    results = run(match, groups, n_jobs)
    return np.concatenate([r[0] for r in results]), np.concatenate([r[1] for r in results])


def _deal_anew(
    partner: NDArray[np.int64],
    spent: NDArray[np.float64],
    block: int,
    rng: np.random.Generator,
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """New random blocks of whole cycles of equal mass, so that matching anew cannot lose.

    Returns the atoms in their new order, and the edges of the blocks.
    """
    cycles = _cycles(partner)
    rng.shuffle(cycles)
    cycles.sort(key=lambda cycle: -spent[cycle[0]])
    order: list[int] = []
    edges = [0]
    for cycle in cycles:
        in_block = len(order) - edges[-1]
        other_mass = in_block and spent[cycle[0]] != spent[order[-1]]
        if in_block and (in_block + len(cycle) > block or other_mass):
            edges.append(len(order))
        order.extend(cycle)
    edges.append(len(order))
    return np.array(order), np.array(edges)


def _cycles(partner: NDArray[np.int64]) -> list[list[int]]:
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
