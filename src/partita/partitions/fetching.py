"""Labels from the workers of a cluster, all of them, for what cannot go by passes."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from partita._memory import require_memory
from partita._vocabulary import words
from partita.partitions.draws import Draws
from partita.partitions.remote import RemoteLabels


def fetched(draws: Draws, question: str, say: Callable[[str], None]) -> Draws:
    """The draws with their labels in memory, for a question about all labels at once.

    However many live on workers are fetched, with a word; what memory would not hold is refused
    before.
    """
    labels = draws.stored
    if not isinstance(labels, RemoteLabels):
        return draws
    require_memory(
        labels.nbytes,
        f"{question} looks at all labels at once, not where they are; fetching {draws.n_draws:,} "
        f"draws of {draws.n_items:,} items from the cluster",
        "Ask it of fewer draws, as in draws[::10].",
    )
    of_all = f"of {draws.n_draws:,} {words(draws.kind).draws} fetched from the cluster"
    every = np.arange(draws.n_draws)
    return draws._with(labels=labels.rows(every, lambda done: say(f"{done:,} {of_all}")))
