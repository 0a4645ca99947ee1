"""Walks among the partitions with exactly k clusters, or with none smaller than a given size."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from partita.kernels.search.moves import assign, move_losses, together
from partita.labels import Labels
from partita.search import cluster_moves
from partita.search.descent import Walker
from partita.search.problem import Problem

_SWAPPED = 16
"""Items, at most, that are exchanged for another in one round."""

_PARTNERS = 256
"""Items, at most, that may come in exchange for one."""

_TRANSFERS = 3
"""Pairs of clusters, at most, that are merged in order to split another one."""


_MOVES = (cluster_moves.rebuild, cluster_moves.exchange)
_FREE_MOVES = (cluster_moves.merge, cluster_moves.split, *_MOVES)
"""Moves of clusters with a given number of them, and without."""


class Rules(NamedTuple):
    """What an estimate must be like."""

    n_clusters: int | None
    min_size: int

    def allow(self, labels: Labels) -> bool:
        """Whether a partition keeps them."""
        return self.allow_sizes(np.bincount(labels))

    def allow_sizes(self, sizes: NDArray[np.int64]) -> bool:
        """Whether clusters of these sizes, none of them empty, keep them."""
        right = self.n_clusters is None or sizes.size == self.n_clusters
        return bool(right and sizes.min() >= self.min_size)


class RuledWalker(Walker):
    """A walker who begins at a partition that keeps the rules, and never ends outside them."""

    def __init__(
        self,
        problem: Problem,
        start: Labels,
        rng: np.random.Generator,
        rules: Rules,
        *,
        stop: Callable[[], bool],
    ) -> None:
        super().__init__(problem, start, rng, stop=stop)
        self.rules = rules
        self.smallest = rules.min_size

    def _move_clusters(self, *, brief: bool) -> bool:
        start = self.loss
        self._swap()
        if self.rules.n_clusters is not None:
            self._transfer()
        for move in _MOVES if self.rules.n_clusters is not None else _FREE_MOVES:
            if brief or self.stop():
                break
            move(self)
        return self.fell(start)

    def most_slots(self) -> int:
        """As many as there are: an item alone would be a cluster too many, or too small."""
        return self.n_clusters

    def keeps_rules(self) -> bool:
        """Whether the clusters that are not empty are as the rules want them."""
        sizes = self.state.sizes[: self.n_clusters]
        return self.rules.allow_sizes(sizes[sizes > 0])

    def _ways_out(self, item: int) -> list[int]:
        return [slot for slot in super()._ways_out(item) if slot < self.n_clusters]

    # ------------------------------------------------------------------ exchanges

    def polish(self, most: int) -> None:
        """Sweep, exchange some items and force some out, while that helps."""
        before = np.inf
        while self.fell(before) and not self.stop():
            before = self.loss
            self.sweep()
            self._swap(most)
            self.kick(most)

    def _swap(self, most: int = _SWAPPED) -> None:
        """Exchange items of small clusters, which may not leave alone, for others."""
        bound = self.state.sizes[self.state.slot_of] <= self.smallest
        margin = np.where(bound & np.isfinite(self.scratch.margin), self.scratch.margin, np.inf)
        for item in np.argsort(margin, kind="stable")[:most].tolist():
            if self.stop() or not np.isfinite(margin[item]):
                return
            if self.state.sizes[self.state.slot_of[item]] <= self.smallest:
                self._swap_one(item)

    def _swap_one(self, item: int) -> bool:
        """Put an item where it fits best, and into its place whatever costs least."""
        before = self.loss
        home, slot = int(self.state.slot_of[item]), int(self.scratch.other[item])
        if slot == home or not 0 <= slot < self.n_clusters:
            return False
        self._put(item, slot)
        spare = self.state.sizes[self.state.slot_of] > self.smallest
        spare[item] = False
        partners = np.flatnonzero(spare)
        if partners.size > _PARTNERS:
            partners = np.sort(self.rng.choice(partners, _PARTNERS, replace=False))
        if partners.size:
            losses = move_losses(self.problem, self.state, partners, self.scratch)[:, home]
            self.looks += partners.size
            best = int(losses.argmin())
            if losses[best] < before - self.slack:
                self._put(int(partners[best]), home)
                return True
        self._put(item, home)
        return False

    def _put(self, item: int, slot: int) -> None:
        assign(self.problem, self.state, np.array([item]), np.array([slot], np.int32))

    def _transfer(self) -> None:
        """Merge two clusters and split another one: as many clusters as before."""
        for keep, gone in cluster_moves.closest_pairs(self)[:_TRANSFERS].tolist():
            if self.stop():
                return
            if self._transfer_one(keep, gone):
                return

    def _transfer_one(self, keep: int, gone: int) -> bool:
        before = self.loss
        moved = self.members(gone)
        assign(self.problem, self.state, moved, np.full(moved.size, keep, np.int32))
        enough = np.flatnonzero(self.state.sizes[: self.n_clusters] >= max(2, 2 * self.smallest))
        for slot in self.rng.permutation(enough).tolist():
            if slot != keep and self._halved(slot, gone, before):
                return True
        assign(self.problem, self.state, moved, np.full(moved.size, gone, np.int32))
        return False

    def _halved(self, slot: int, empty: int, below: float) -> bool:
        """Divide a cluster between two far members, if the loss then is low enough."""
        members = self.rng.permutation(self.members(slot))
        far = 1 + int(np.argmin(together(self.problem, int(members[0]), members[1:])))
        members[1], members[far] = members[far], members[1]
        self._put(int(members[1]), empty)
        mask = np.zeros(self.state.sizes.size, np.bool_)
        mask[[slot, empty]] = True
        smallest, self.smallest = self.smallest, 1  # the new half grows from one item
        settled = 0
        for _ in range(2):
            settled = self._sweep(members[2:], mask, members.size - 2, settled)
        self.smallest = smallest
        if self.fell(below) and self.keeps_rules():
            return True
        assign(self.problem, self.state, members, np.full(members.size, slot, np.int32))
        return False
