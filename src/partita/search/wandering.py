"""The best single move first: straight down, or on through valleys, uphill where it must be."""

from __future__ import annotations

import numpy as np

from partita.kernels.arrays import Bools, Floats
from partita.kernels.search.moves import assign, close_gaps, move_losses
from partita.search.problem import new_state
from partita.search.walker import Mover

_HELD = (3, 10)
"""Moves for which an item that has moved is held at least: drawn for each walk, from one number
to below another. At most it is held twice as long."""


class Wanderer(Mover):
    """A partition in which all single moves are looked at before each."""

    def fall(self, most_looks: float) -> None:
        """Move the item that gains most, one after the other, until none gains or so many looks.

        Slower than a sweep and, from one cluster, often far better: a sweep fills new clusters
        with whatever items come first.
        """
        until = self.looks + most_looks
        while self.looks < until and not self.stop():
            losses = self._losses_of_moves()
            item, slot = np.unravel_index(int(losses.argmin()), losses.shape)
            if losses[item, slot] >= self.loss - self.slack:
                return
            self._move(int(item), int(slot))

    def wander(self, idle: int, most_looks: float) -> None:
        """Move the item that gains most or loses least, then hold it for a while; end at the best.

        Leads out of valleys that are several items wide, by moves that alternately make the
        partition coarser and finer than the best one. What is held back, an item or a direction,
        moves all the same where that is lower than everything before. Ends after ``idle`` moves
        without such a gain.
        """
        held_until = np.zeros(self.n_items, np.int64)
        least = int(self.rng.integers(*_HELD))
        lowest, best, wanted = self.loss, self.labels, self._coarseness()
        moves, gained, until = 0, 0, self.looks + most_looks
        while moves - gained < idle and self.looks + self.n_items <= until and not self.stop():
            moves += 1
            losses = self._losses_of_moves()
            back = (held_until > moves)[:, None] | self._leading_away(wanted, losses.shape[1])
            losses[back & (losses >= lowest - self.slack)] = np.inf
            item, slot = np.unravel_index(int(losses.argmin()), losses.shape)
            if not np.isfinite(losses[item, slot]):
                break
            self._move(int(item), int(slot))
            held_until[item] = moves + self.rng.integers(least, 2 * least + 2)
            if self.fell(lowest):
                lowest, best, wanted = self.loss, self.labels, self._coarseness()
                gained = moves
        self.go_to(new_state(self.problem, best))

    def _coarseness(self) -> int:
        """Pairs of items within clusters."""
        sizes = self.state.sizes[: self.n_clusters].astype(np.int64)
        return int(sizes @ sizes)

    def _leading_away(self, wanted: int, n_slots: int) -> Bools:
        """Single moves that make a partition coarser which is so already, or finer."""
        there = self._coarseness()
        is_coarse = self.rng.random() < 0.5 if there == wanted else there > wanted
        before, after = self.state.sizes[self.state.slot_of], self.state.sizes[:n_slots] + 1
        if is_coarse:
            return after > before[:, None]
        return after < before[:, None]

    def _losses_of_moves(self) -> Floats:
        """Expected loss after each single move; infinite where an item would stay as it is."""
        self.make_room()
        everyone, homes = np.arange(self.n_items), self.state.slot_of
        losses = move_losses(self.problem, self.state, everyone, self.scratch)
        self.slack = float(self.scratch.slack[0])
        self.looks += self.n_items
        self.cells += self.n_items * self.look_cells
        losses[everyone, homes] = np.inf
        losses[self.state.sizes[homes] == 1, self.n_clusters] = np.inf
        return losses[:, : self.max_clusters]

    def _move(self, item: int, slot: int) -> None:
        assign(self.problem, self.state, np.array([item]), np.array([slot], np.int32))
        close_gaps(self.problem, self.state)
