"""The default: combines the methods by size and loss, and keeps the best."""

from __future__ import annotations

from partita.search.methods import enumerate_all, sweep
from partita.search.task import Candidate, Task

ENUMERATED_ITEMS = 8
"""Up to so many items all partitions (at most 4,140) are tried, which is instant and exact."""


def search(task: Task) -> list[Candidate]:
    """Enumerate tiny problems; sweep the others from many starts until they agree."""
    if task.n_items <= ENUMERATED_ITEMS:
        return enumerate_all.search(task)
    return sweep.search(task)
