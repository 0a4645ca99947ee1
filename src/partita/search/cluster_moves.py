"""Moves of whole clusters: what single items, one after the other, do not find.

Splitting, rebuilding and exchanging are one move with different members and
different slots allowed: members are taken out, put back where they fit best,
swept among the allowed slots, and the result is kept if the loss fell.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from partita.kernels.search.moves import merge_scores, objective, together
from partita.search import problem as problems
from partita.search.problem import has_counts, has_lists, new_state, of_each_draw
from partita.search.walker import Mover

_DISSOLVED_CELLS = 4_000_000
"""Cells of the tables, at most, when everything is dissolved into singletons."""

_MOVED_CLUSTERS = 400
"""Clusters, at most, that one round of a kind of move takes up."""


def merge(walker: Mover) -> None:
    """Merge the two clusters that gain most by it, again and again."""
    while 1 < walker.n_clusters <= problems.MERGED_CLUSTERS and not walker.stop():
        if not walker.merge_cheapest(below=walker.loss - walker.slack):
            return


def split(walker: Mover) -> None:
    """Divide each cluster between a random member and the member least often with it."""
    for slot in walker.rng.permutation(walker.n_clusters)[:_MOVED_CLUSTERS]:
        if walker.stop() or walker.n_clusters >= walker.max_clusters:
            return
        members = walker.rng.permutation(walker.members(int(slot)))
        if members.size < 2:
            continue
        far = 1 + int(np.argmin(together(walker.problem, int(members[0]), members[1:])))
        members[1], members[far] = members[far], members[1]
        walker.make_room()
        fresh = walker.n_clusters
        slots = np.full(members.size - 1, -1, np.int32)
        slots[0] = fresh
        walker.attempt(members[1:], slots, members[2:], (int(slot), fresh))


def extremes(walker: Mover) -> None:
    """Merge everything, or dissolve everything where the tables stay small."""
    n, problem = walker.n_items, walker.problem
    ends = [np.zeros(n, np.int32)]
    rows = problem.row_draw.size if has_counts(problem) else n
    small = has_lists(problem) or rows * n <= _DISSOLVED_CELLS
    if walker.max_clusters >= n and small:
        ends.append(np.arange(n, dtype=np.int32))
    for labels in ends:
        state = new_state(problem, labels)
        if objective(problem, state) < walker.loss - walker.slack:
            walker.go_to(state)


def rebuild(walker: Mover) -> None:
    """Dissolve each cluster: its members go wherever they fit, one by one."""
    for slot in walker.rng.permutation(walker.n_clusters)[:_MOVED_CLUSTERS]:
        if walker.stop():
            return
        if slot < walker.n_clusters:  # an earlier rebuild may have closed slots
            members = walker.rng.permutation(walker.members(int(slot)))
            out = np.full(members.size, -1, np.int32)
            walker.attempt(members, out, members, tuple(range(walker.n_clusters + 1)))


def exchange(walker: Mover) -> None:
    """Deal the members of two clusters anew between two random ones of them."""
    for a, b in closest_pairs(walker):
        if walker.stop():
            return
        if max(a, b) < walker.n_clusters:
            first = walker.rng.permutation(walker.members(int(a)))
            second = walker.rng.permutation(walker.members(int(b)))
            rest = walker.rng.permutation(np.concatenate((first[1:], second[1:])))
            if rest.size:
                out = np.full(rest.size, -1, np.int32)
                walker.attempt(rest, out, rest, (int(a), int(b)))


def force_merges(walker: Mover) -> None:
    """Merge the closest clusters although the loss rises, and let every item follow.

    For losses of each draw's three sums, which have many more local minima than the others.
    """
    if not of_each_draw(walker.problem):
        return
    for a, b in closest_pairs(walker)[: max(_FORCED, _FORCED_LOOKS // walker.n_items)]:
        if walker.stop():
            return
        if max(a, b) < walker.n_clusters:
            gone = walker.members(int(b))
            everyone = walker.rng.permutation(walker.n_items)
            walker.attempt(gone, np.full(gone.size, a, np.int32), everyone, None)


def closest_pairs(walker: Mover) -> NDArray[np.int64]:
    """As many pairs of clusters as there are clusters: those that cost least to merge."""
    if not 2 <= walker.n_clusters <= problems.MERGED_CLUSTERS:
        return np.empty((0, 2), np.int64)
    scores = merge_scores(walker.problem, walker.state)
    cheapest = np.argsort(scores, axis=None)[: min(walker.n_clusters, _MOVED_CLUSTERS)]
    pairs = np.column_stack(np.unravel_index(cheapest, scores.shape))
    return pairs[np.isfinite(scores[pairs[:, 0], pairs[:, 1]])]


_FORCED, _FORCED_LOOKS = 4, 400
"""Pairs of clusters that one round merges by force: so many, or as these looks at items allow."""

FEW: tuple[Callable[[Mover], None], ...] = (merge, split)
"""The moves that help most, for a partition on which different kinds of starts have met."""

ALL = (*FEW, extremes, rebuild, exchange, force_merges)
"""Every move of clusters."""
