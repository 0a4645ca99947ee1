"""One walk through the partitions: sweeps of items and moves of clusters.

Splitting, rebuilding and exchanging are one move with different members and
different slots allowed: members are taken out, put back where they fit best,
swept among the allowed slots, and the result is kept if the loss fell.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
from numpy.typing import NDArray

from partita.kernels.search.moves import (
    assign,
    close_gaps,
    merge_scores,
    objective,
    sweep,
    together,
)
from partita.kernels.search.types import TOLERANCE, Scratch
from partita.partitions.labels import Labels, canonical
from partita.search.problem import (
    Problem,
    State,
    grown,
    has_counts,
    has_lists,
    n_items_of,
    new_scratch,
    new_state,
    reads_of,
)

_CELLS_PER_CALL = 2e8
"""Table cells read between two looks at the clock, about a fifth of a second."""

_DOUBTFUL = 16
"""Items, at most, that a descent forces out of their clusters, and that may follow each other."""

_FEW_DOUBTFUL = 4
"""The same for a partition on which different kinds of starts have met."""

_DISSOLVED_CELLS = 4_000_000
"""Cells of the tables, at most, when everything is dissolved into singletons."""

_MERGED_CLUSTERS = 2_000
"""Clusters, at most, of which every pair is compared."""

_MOVED_CLUSTERS = 400
"""Clusters, at most, that one round of a kind of move takes up."""

_EVERY_SLOT = np.empty(0, np.bool_)

Items = NDArray[np.int64]


class Walker:
    """A partition on its way downhill. Owned by one thread.

    Every method leaves a valid partition behind, also when ``stop()`` says
    that time is up.
    """

    def __init__(
        self,
        problem: Problem,
        start: Labels | None,
        rng: np.random.Generator,
        *,
        max_clusters: int | None = None,
        stop: Callable[[], bool] = lambda: False,
    ) -> None:
        self.problem = problem
        self.n_items = n_items_of(problem)
        self.max_clusters = self.n_items if max_clusters is None else max_clusters
        self.stop = stop
        self.looks = 0
        self._rng = rng
        self._order = rng.permutation(self.n_items)
        whole = start is not None and bool((start >= 0).all())
        room = 0 if start is None or whole else int(start.max()) + 1
        self.state: State = new_state(problem, start if whole else None, room)
        self.scratch: Scratch = new_scratch(problem, self.state)
        if not whole:
            self._allocate(start)
        while self.n_clusters > self.max_clusters:
            self._merge_cheapest()

    @property
    def loss(self) -> float:
        """Expected loss by the running sums."""
        return float(objective(self.problem, self.state))

    @property
    def labels(self) -> Labels:
        """The partition, canonical."""
        return canonical(self.state.slot_of)

    @property
    def n_clusters(self) -> int:
        """Number of clusters."""
        return int(self.state.k[0])

    def _make_room(self) -> None:
        if self.n_clusters + 2 > self.state.sizes.size:
            self.state = grown(self.problem, self.state)
            self.scratch = new_scratch(self.problem, self.state)

    def _sweep(self, order: Items, allowed: NDArray[np.bool_], looks: int, settled: int = 0) -> int:
        """Look at items in turn; how many in a row have settled."""
        self._make_room()
        settled, looked = sweep(
            self.problem,
            self.state,
            order,
            allowed,
            self.max_clusters,
            settled,
            looks,
            self.scratch,
        )
        self.looks += looked
        return settled

    def _allocate(self, placed: Labels | None) -> None:
        """Put items one by one where they fit best, after those that are placed already."""
        waiting = self._order
        if placed is not None:
            known = np.flatnonzero(placed >= 0)
            assign(self.problem, self.state, known, placed[known])
            waiting = waiting[placed[waiting] < 0]
        while waiting.size:
            self._sweep(waiting, _EVERY_SLOT, waiting.size)
            waiting = waiting[self.state.slot_of[waiting] < 0]

    def sweep(self) -> None:
        """Move single items until none can move downhill."""
        cells = max(1, reads_of(self.problem)) * (self.n_clusters + 8)
        chunk = max(1, int(_CELLS_PER_CALL / cells))
        settled = 0
        while settled < self.n_items:
            before = self.looks
            settled = self._sweep(self._order, _EVERY_SLOT, chunk, settled)
            # The next call goes on with the items that this one has not reached.
            self._order = np.roll(self._order, -((self.looks - before) % self.n_items))
            if self.stop():
                return

    def sweep_only(self, items: Items, tolerance: float) -> None:
        """Move only the given items until none of them can move downhill."""
        before = np.inf
        while self.loss < before - tolerance and not self.stop():
            before = self.loss
            self._sweep(items, _EVERY_SLOT, items.size)

    def descend(self, rounds: int, *, brief: bool = False) -> None:
        """Sweep, then alternate cluster moves, kicks and sweeps while they help.

        A brief first round tries only merges, splits and few kicks.
        """
        self.sweep()
        for _ in range(rounds):
            if self.stop():
                return
            start = self.loss
            kinds = (self._merge, self._split, self._extremes, self._rebuild, self._exchange)
            if self._move_clusters(kinds[:2] if brief else kinds):
                self.sweep()
            self.kick(_FEW_DOUBTFUL if brief else _DOUBTFUL)
            brief = False
            if self.loss >= start - TOLERANCE:
                return

    # ------------------------------------------------------------------ pairs of items

    def kick(self, most: int) -> None:
        """Force the most doubtful items out, one by one, so that others may follow.

        Moves two items that gain only together. Each goes to its best other
        slot and, failing that, into a cluster of its own. Goes by the margins
        of the last sweep, and sweeps again after each success.
        """
        doubtful = np.argsort(self.scratch.margin, kind="stable")[:most]
        for item in doubtful:
            if self.stop():
                return
            if not np.isfinite(self.scratch.margin[item]):
                continue
            followers = doubtful[doubtful != item]
            for slot in self._ways_out(int(item)):
                if self._try(np.array([item]), np.array([slot], np.int32), followers, None, 2):
                    self.sweep()
                    break

    def _ways_out(self, item: int) -> list[int]:
        """Where an item may be forced: its best other slot, then a new one."""
        home, other = int(self.state.slot_of[item]), int(self.scratch.other[item])
        ways = [other] if 0 <= other <= self.n_clusters and other != home else []
        may_open = self.state.sizes[home] > 1 and self.n_clusters < self.max_clusters
        if may_open and self.n_clusters not in ways:
            ways.append(self.n_clusters)
        return ways

    # ------------------------------------------------------------------ clusters

    def _move_clusters(self, kinds: Sequence[Callable[[], None]]) -> bool:
        """Try some kinds of cluster moves once around; whether the loss fell."""
        start = self.loss
        for kind in kinds:
            kind()
            if self.stop():
                break
        return self.loss < start - TOLERANCE

    def _merge(self) -> None:
        while 1 < self.n_clusters <= _MERGED_CLUSTERS and not self.stop():
            if not self._merge_cheapest(below=self.loss - TOLERANCE):
                return

    def _merge_cheapest(self, below: float = np.inf) -> bool:
        """Merge the two clusters whose merging leaves the lowest loss, if that is low enough."""
        scores = merge_scores(self.problem, self.state)
        keep, gone = np.unravel_index(int(scores.argmin()), scores.shape)
        if scores[keep, gone] >= below:
            return False
        members = self._members(int(gone))
        assign(self.problem, self.state, members, np.full(members.size, keep, np.int32))
        close_gaps(self.problem, self.state)
        return True

    def _extremes(self) -> None:
        """Merge everything, or dissolve everything where the tables stay small."""
        ends = [np.zeros(self.n_items, np.int32)]
        rows = self.problem.row_draw.size if has_counts(self.problem) else self.n_items
        small = has_lists(self.problem) or rows * self.n_items <= _DISSOLVED_CELLS
        if self.max_clusters >= self.n_items and small:
            ends.append(np.arange(self.n_items, dtype=np.int32))
        for labels in ends:
            state = new_state(self.problem, labels)
            if objective(self.problem, state) < self.loss - TOLERANCE:
                self.state = state
                self.scratch = new_scratch(self.problem, state)

    def _split(self) -> None:
        """Divide each cluster between a random member and the member least often with it."""
        for slot in self._rng.permutation(self.n_clusters)[:_MOVED_CLUSTERS]:
            if self.stop() or self.n_clusters >= self.max_clusters:
                return
            members = self._rng.permutation(self._members(int(slot)))
            if members.size < 2:
                continue
            far = 1 + int(np.argmin(together(self.problem, int(members[0]), members[1:])))
            members[1], members[far] = members[far], members[1]
            self._make_room()
            fresh = self.n_clusters
            slots = np.full(members.size - 1, -1, np.int32)
            slots[0] = fresh
            self._try(members[1:], slots, members[2:], (int(slot), fresh), 2)

    def _rebuild(self) -> None:
        """Dissolve each cluster: its members go wherever they fit, one by one."""
        for slot in self._rng.permutation(self.n_clusters)[:_MOVED_CLUSTERS]:
            if self.stop():
                return
            if slot < self.n_clusters:  # an earlier rebuild may have closed slots
                members = self._rng.permutation(self._members(int(slot)))
                out = np.full(members.size, -1, np.int32)
                self._try(members, out, members, tuple(range(self.n_clusters + 1)), 2)

    def _exchange(self) -> None:
        """Deal the members of two clusters anew between two random ones of them."""
        for a, b in self._closest_pairs():
            if self.stop():
                return
            if max(a, b) < self.n_clusters:
                first = self._rng.permutation(self._members(int(a)))
                second = self._rng.permutation(self._members(int(b)))
                rest = self._rng.permutation(np.concatenate((first[1:], second[1:])))
                if rest.size:
                    out = np.full(rest.size, -1, np.int32)
                    self._try(rest, out, rest, (int(a), int(b)), 2)

    def _closest_pairs(self) -> NDArray[np.int64]:
        """As many pairs of clusters as there are clusters: those that cost least to merge."""
        if not 2 <= self.n_clusters <= _MERGED_CLUSTERS:
            return np.empty((0, 2), np.int64)
        scores = merge_scores(self.problem, self.state)
        cheapest = np.argsort(scores, axis=None)[: min(self.n_clusters, _MOVED_CLUSTERS)]
        pairs = np.column_stack(np.unravel_index(cheapest, scores.shape))
        return pairs[np.isfinite(scores[pairs[:, 0], pairs[:, 1]])]

    # ------------------------------------------------------------------ what they share

    def _members(self, slot: int) -> Items:
        return np.flatnonzero(self.state.slot_of == slot)

    def _try(
        self,
        moved: Items,
        slots: NDArray[np.int32],
        swept: Items,
        allowed: tuple[int, ...] | None,
        passes: int,
    ) -> bool:
        """Assign some items, sweep some among the allowed slots, keep it if the loss fell.

        Items assigned to slot −1 are taken out, and put back by the sweep.
        """
        before, k_before = self.loss, self.n_clusters
        touched = np.union1d(moved, swept)
        homes = self.state.slot_of[touched]
        self._make_room()
        assign(self.problem, self.state, moved, slots)
        self._make_room()
        mask = np.zeros(self.state.sizes.size, np.bool_)
        mask[slice(None) if allowed is None else list(allowed)] = True
        settled = 0
        for _ in range(passes):
            if settled < swept.size:
                settled = self._sweep(swept, mask, swept.size, settled)
                mask = np.pad(mask, (0, self.state.sizes.size - mask.size))
        # A table that filled up may have left items outside; such a result is not kept.
        whole = bool((self.state.slot_of[touched] >= 0).all())
        if whole and self.loss < before - TOLERANCE:
            close_gaps(self.problem, self.state)
            return True
        assign(self.problem, self.state, touched, homes)
        self.state.k[0] = k_before
        return False
