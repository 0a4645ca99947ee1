"""A partition on its way downhill: its tables, sweeps of its items, and moves that are tried."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from partita.kernels.arrays import Bools
from partita.kernels.search.moves import (
    assign,
    close_gaps,
    merge_scores,
    objective,
    sweep,
)
from partita.kernels.search.types import Scratch
from partita.labels import Labels, canonical
from partita.search.problem import (
    Problem,
    State,
    companion_cells,
    grown,
    look_cells,
    n_items_of,
    new_scratch,
    new_state,
)

_CELLS_PER_CALL = 2e8
"""Table cells read between two looks at the clock, about a fifth of a second."""

_EVERY_SLOT = np.empty(0, np.bool_)

Items = NDArray[np.int64]


class Mover:
    """A partition that single items, and sets of them, can be moved in. Owned by one thread.

    Every method leaves a valid partition behind, also when ``stop()`` says
    that it is enough.
    """

    smallest = 0
    """Clusters of at most so many items lose none to a sweep."""

    def __init__(
        self,
        problem: Problem,
        start: Labels | None,
        rng: np.random.Generator,
        *,
        max_clusters: int | None = None,
        stop: Callable[[], bool] = lambda: False,
        most_cells: float = np.inf,
    ) -> None:
        self.problem = problem
        self.n_items = n_items_of(problem)
        self.max_clusters = self.n_items if max_clusters is None else max_clusters
        self._time_is_up = stop
        self._most_cells = most_cells
        self.looks = 0
        self.cells = 0.0
        self._companions = companion_cells(problem)
        self.slack = 0.0
        self.rng = rng
        self._order = rng.permutation(self.n_items)
        whole = start is not None and bool((start >= 0).all())
        room = 0 if start is None or whole else int(start.max()) + 1
        self.state: State = new_state(problem, start if whole else None, room)
        self.scratch: Scratch = new_scratch(problem, self.state)
        if not whole:
            self._allocate(start)
        while self.n_clusters > self.max_clusters:
            self.merge_cheapest()

    def stop(self) -> bool:
        """Whether to go no further: time is up, or the work that was allowed is done."""
        return self.tired or self._time_is_up()

    @property
    def tired(self) -> bool:
        """Whether the work that was allowed is done."""
        return self.cells > self._most_cells

    @property
    def look_cells(self) -> float:
        """Work of a look at one item."""
        return look_cells(self.problem, self.n_clusters, self._companions)

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

    def fell(self, before: float) -> bool:
        """Whether the loss is lower than before, by more than rounding."""
        return self.loss < before - self.slack

    def most_slots(self) -> int:
        """Clusters, at most, that a sweep may leave."""
        return self.max_clusters

    def keeps_rules(self) -> bool:
        """Whether a partition that was tried may be kept."""
        return True

    def members(self, slot: int) -> Items:
        """The items of a cluster."""
        return np.flatnonzero(self.state.slot_of == slot)

    def go_to(self, state: State) -> None:
        """Stand somewhere else."""
        self.state = state
        self.scratch = new_scratch(self.problem, state)

    def make_room(self) -> None:
        """Have an empty slot, and room for one more."""
        if self.n_clusters + 2 > self.state.sizes.size:
            self.go_to(grown(self.problem, self.state))

    def _sweep(self, order: Items, allowed: Bools, looks: int, settled: int = 0) -> int:
        """Look at items in turn; how many in a row have settled."""
        self.make_room()
        settled, looked = sweep(
            self.problem,
            self.state,
            order,
            allowed,
            self.most_slots(),
            self.smallest,
            settled,
            looks,
            self.scratch,
        )
        self.looks += looked
        self.cells += looked * self.look_cells
        self.slack = float(self.scratch.slack[0])
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

    def look_first(self, items: Items) -> None:
        """Sweep in this order of all items: a sweep ends one round after its last move."""
        self._order = items

    def sweep(self) -> None:
        """Move single items until none can move downhill."""
        chunk = max(1, int(_CELLS_PER_CALL / self.look_cells))
        settled = 0
        while settled < self.n_items:
            before = self.looks
            settled = self._sweep(self._order, _EVERY_SLOT, chunk, settled)
            # The next call goes on with the items that this one has not reached.
            self._order = np.roll(self._order, -((self.looks - before) % self.n_items))
            if self.stop():
                return

    def sweep_only(self, items: Items) -> None:
        """Move only the given items until none of them can move downhill."""
        settled = 0
        while settled < items.size and not self.stop():
            settled = self._sweep(items, _EVERY_SLOT, items.size, settled)

    def merge_cheapest(self, below: float = np.inf) -> bool:
        """Merge the two clusters whose merging leaves the lowest loss, if that is low enough."""
        scores = merge_scores(self.problem, self.state)
        keep, gone = np.unravel_index(int(scores.argmin()), scores.shape)
        if scores[keep, gone] >= below:
            return False
        members = self.members(int(gone))
        assign(self.problem, self.state, members, np.full(members.size, keep, np.int32))
        close_gaps(self.problem, self.state)
        return True

    def attempt(
        self,
        moved: Items,
        slots: NDArray[np.int32],
        swept: Items,
        allowed: tuple[int, ...] | None,
    ) -> bool:
        """Assign some items, sweep some twice among the allowed slots, keep it if the loss fell.

        Items assigned to slot −1 are taken out, and put back by the sweep.
        """
        before, k_before = self.loss, self.n_clusters
        homes = self.state.slot_of.copy()
        self.make_room()
        assign(self.problem, self.state, moved, slots)
        self.make_room()
        mask = np.zeros(self.state.sizes.size, np.bool_)
        mask[slice(None) if allowed is None else list(allowed)] = True
        settled = 0
        for _ in range(2):
            if settled < swept.size:
                settled = self._sweep(swept, mask, swept.size, settled)
                if mask.size < self.state.sizes.size:
                    mask = np.pad(mask, (0, self.state.sizes.size - mask.size))
        # A table that filled up may have left items outside; such a result is not kept.
        whole = bool((self.state.slot_of >= 0).all())
        if whole and self.fell(before) and self.keeps_rules():
            close_gaps(self.problem, self.state)
            return True
        # Only those that went away: most of the swept items usually stay where they are.
        away = np.flatnonzero(self.state.slot_of != homes)
        assign(self.problem, self.state, away, homes[away])
        self.state.k[0] = k_before
        return False
