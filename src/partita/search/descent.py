"""One walk through the partitions: sweeps of items and moves of clusters, until none helps."""

from __future__ import annotations

import numpy as np

from partita.search import cluster_moves
from partita.search.wandering import Wanderer

_DOUBTFUL = 16
"""Items, at most, that a descent forces out of their clusters, and that may follow each other."""

_FEW_DOUBTFUL = 4
"""The same for a partition on which different kinds of starts have met."""

_TRADED, _PARTNERS = 400, 4
"""Items, at most, that are forced into another cluster, and items there that may leave for them."""


class Walker(Wanderer):
    """A partition that walks downhill."""

    def descend(self, rounds: int, *, brief: bool = False) -> None:
        """Sweep, then alternate cluster moves, kicks and sweeps while they help.

        A brief first round tries only merges, splits and few kicks.
        """
        self.sweep()
        for _ in range(rounds):
            if self.stop():
                return
            start = self.loss
            if self._move_clusters(brief=brief):
                self.sweep()
            self.kick(_FEW_DOUBTFUL if brief else _DOUBTFUL)
            brief = False
            if not self.fell(start):
                return

    def _move_clusters(self, *, brief: bool) -> bool:
        """Try some kinds of cluster moves once around; whether the loss fell."""
        start = self.loss
        for move in cluster_moves.FEW if brief else cluster_moves.ALL:
            move(self)
            if self.stop():
                break
        return self.fell(start)

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
                if self.attempt(np.array([item]), np.array([slot], np.int32), followers, None):
                    self.sweep()
                    break

    def trade(self, rounds: int) -> None:
        """Exchange items between clusters while that helps."""
        for _ in range(rounds):
            start = self.loss
            self.sweep()
            self._trade_once()
            if self.stop() or not self.fell(start):
                return

    def _trade_once(self) -> None:
        """Force items into their best other cluster, one by one, and let doubtful ones leave it."""
        margin = self.scratch.margin
        for item in np.argsort(margin, kind="stable")[:_TRADED]:
            home, slot = int(self.state.slot_of[item]), int(self.scratch.other[item])
            if self.stop():
                return
            if slot == home or not 0 <= slot < self.n_clusters:
                continue
            there = self.members(slot)
            partners = there[np.argsort(margin[there], kind="stable")[:_PARTNERS]]
            self.attempt(np.array([item]), np.array([slot], np.int32), partners, None)

    def _ways_out(self, item: int) -> list[int]:
        """Where an item may be forced: its best other slot, then a new one."""
        home, other = int(self.state.slot_of[item]), int(self.scratch.other[item])
        ways = [other] if 0 <= other <= self.n_clusters and other != home else []
        may_open = self.state.sizes[home] > 1 and self.n_clusters < self.max_clusters
        if may_open and self.n_clusters not in ways:
            ways.append(self.n_clusters)
        return ways
