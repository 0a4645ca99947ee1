"""One walk through the partitions: sweeps of items and moves of clusters."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from partita.kernels import cluster_moves as moves
from partita.kernels.search_moves import has_room, objective, sweep
from partita.kernels.search_types import TOLERANCE, Problem, Scratch, State
from partita.partitions.labels import Labels, canonical
from partita.search.problem import grown, n_items_of, new_scratch, new_state

_LOOKS_PER_CALL = 2e8
"""Table cells read between two looks at the clock, about a fifth of a second."""


_DOUBTFUL = 24
"""Items, at most, that a descent forces out of their clusters, and that may follow each other."""


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
        self._bits = rng.integers(1, 2**63, size=4, dtype=np.uint64)
        self._order = rng.permutation(self.n_items)
        self.state: State = new_state(problem, start)
        self.scratch: Scratch = new_scratch(problem, self.state)
        if start is None:
            self._allocate()
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

    def _grow(self) -> None:
        self.state = grown(self.problem, self.state)
        self.scratch = new_scratch(self.problem, self.state)

    def _make_room(self) -> None:
        if not has_room(self.state):
            self._grow()

    def _allocate(self) -> None:
        waiting = self._order
        while waiting.size:
            put = moves.allocate_in_order(
                self.problem, self.state, waiting, self.max_clusters, self.scratch
            )
            self.looks += put
            waiting = waiting[put:]
            if waiting.size:
                self._grow()

    def sweep(self) -> None:
        """Move single items until none can move downhill."""
        cells = max(1, self.problem.weights.size or self.n_items) * (self.n_clusters + 8)
        chunk = max(1, int(_LOOKS_PER_CALL / cells))
        settled = 0
        while settled < self.n_items:
            self._make_room()
            settled, looked = sweep(
                self.problem,
                self.state,
                self._order,
                self.max_clusters,
                settled,
                chunk,
                self.scratch,
            )
            self.looks += looked
            # The next call goes on with the items that this one has not reached.
            self._order = np.roll(self._order, -(looked % self.n_items))
            if self.stop():
                return

    def move_clusters(self) -> bool:
        """Try every kind of cluster move once around; whether the loss fell."""
        start = self.loss
        for kind in (self._merge, self._split, self._rebuild, self._exchange):
            kind()
            if self.stop():
                break
        return self.loss < start - TOLERANCE

    def kick(self, most: int) -> None:
        """Force the most doubtful items out, one by one, so that others may follow.

        Goes by the margins of the last sweep, and sweeps again after each success.
        """
        doubtful = np.argsort(self.scratch.margin, kind="stable")[:most]
        for item in doubtful:
            if self.stop():
                return
            slot = int(self.scratch.other[item])
            stale = slot == self.state.slot_of[item] or slot > self.n_clusters
            if slot < 0 or stale or not np.isfinite(self.scratch.margin[item]):
                continue
            self._make_room()
            self.looks += doubtful.size
            better = moves.kick_item(
                self.problem,
                self.state,
                int(item),
                slot,
                doubtful,
                self.max_clusters,
                self.scratch,
            )
            if better:
                self.sweep()

    def descend(self, rounds: int) -> None:
        """Sweep, then alternate cluster moves, kicks and sweeps while they help."""
        self.sweep()
        for _ in range(rounds):
            if self.stop():
                return
            start = self.loss
            if self.move_clusters():
                self.sweep()
            self.kick(_DOUBTFUL)
            if self.loss >= start - TOLERANCE:
                return

    def _merge(self) -> None:
        while self.n_clusters > 1 and not self.stop():
            if not self._merge_cheapest(below=self.loss - TOLERANCE):
                return

    def _merge_cheapest(self, below: float = np.inf) -> bool:
        """Merge the two clusters whose merging leaves the lowest loss, if that is low enough."""
        scores = moves.merge_scores(self.problem, self.state)
        keep, gone = np.unravel_index(int(scores.argmin()), scores.shape)
        if scores[keep, gone] >= below:
            return False
        moves.merge_slots(self.problem, self.state, int(keep), int(gone))
        return True

    def _split(self) -> None:
        for slot in self._rng.permutation(self.n_clusters):
            if self.stop() or self.n_clusters >= self.max_clusters:
                return
            self._make_room()
            self.looks += 3 * int(self.state.sizes[slot])
            moves.split_slot(self.problem, self.state, int(slot), self._bits, self.scratch)

    def _rebuild(self) -> None:
        for slot in self._rng.permutation(self.n_clusters):
            if self.stop():
                return
            if slot < self.n_clusters:  # an earlier rebuild may have closed slots
                self._make_room()
                self.looks += 2 * int(self.state.sizes[slot])
                moves.rebuild_slot(
                    self.problem,
                    self.state,
                    int(slot),
                    self.max_clusters,
                    self._bits,
                    self.scratch,
                )

    def _exchange(self) -> None:
        for a, b in self._closest_pairs():
            if self.stop():
                return
            if a < self.n_clusters and b < self.n_clusters:
                self.looks += 3 * int(self.state.sizes[a] + self.state.sizes[b])
                moves.exchange_slots(
                    self.problem, self.state, int(a), int(b), self._bits, self.scratch
                )

    def _closest_pairs(self) -> NDArray[np.int64]:
        """As many pairs of clusters as there are clusters: those that cost least to merge."""
        if self.n_clusters < 2:
            return np.empty((0, 2), np.int64)
        scores = moves.merge_scores(self.problem, self.state)
        cheapest = np.argsort(scores, axis=None)[: self.n_clusters]
        pairs = np.column_stack(np.unravel_index(cheapest, scores.shape))
        return pairs[np.isfinite(scores[pairs[:, 0], pairs[:, 1]])]
