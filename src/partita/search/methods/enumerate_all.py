"""Every partition, for the exact answer on few items.

Pieces of the tree of restricted growth strings are searched depth-first in
threads. What is found is the minimum: it is its own proof, for every loss.
"""

from __future__ import annotations

import numpy as np

from partita.errors import NotSupportedError
from partita.kernels.search.enumeration import Lowest, remove, search_below
from partita.kernels.search.moves import put
from partita.labels import Labels
from partita.lattice import MAX_ENUMERATED, bell_number, partition_blocks
from partita.search.problem import Problem, new_scratch, new_state, problem_of
from partita.search.task import TIE, Candidate, Task, run_until, window

PREFIX_ITEMS = 7
"""Items of a prefix; 877 prefixes are enough pieces, and each is done in a fraction of a second."""

PIECES = 64
"""Pieces of work, each with its own tables; fixed, so that threads do not change the answer."""

MAX_TIES = 10_000
"""Most minimisers that are listed; more are counted in the limits."""

ORIGIN = "enumeration"


def search(task: Task) -> list[Candidate]:
    """All minimisers within the tie tolerance, in lexicographic order.

    O(B(N − 1) M K) from draws, with B the Bell numbers (B(11) = 678,570), and
    free of M for the losses that need only the similarity matrix.
    """
    n = task.n_items
    if n > MAX_ENUMERATED:
        raise NotSupportedError(
            f"method 'enumerate' tries every partition of at most {MAX_ENUMERATED} items; "
            f"{n} items have {_in_words(bell_number(n))} of them. Use 'auto' or 'sweep', whose "
            "result comes with a proven bound for VI, NVI, ID, NID and Binder, or 'ilp' for "
            "Binder's exact minimum.",
            argument="method",
        )
    one_cluster = np.zeros(n, np.int32)
    bound = task.evaluate(one_cluster)
    pieces = _pieces(task)
    problem = problem_of(task)
    done = run_until(
        task, lambda piece: _search_piece(task, problem, piece, bound), pieces, "piece"
    )
    parts = [lowest for lowest, _ in done]
    task.looks += sum(looks for _, looks in done)
    best = min([bound, *(float(part.best[0]) for part in parts)])
    labels = [one_cluster] if bound <= window(best) else []
    unlisted = 0
    for part in parts:
        count = int(part.kept[0])
        labels.extend(part.labels[:count][part.losses[:count] <= window(best)])
        unlisted += int(part.kept[1]) if part.best[0] <= window(best) else 0
    unlisted += max(0, len(labels) - MAX_TIES)
    if unlisted:
        task.limits.append(
            f"{MAX_TIES + unlisted:,} partitions tie at the minimum; {MAX_TIES:,} are listed"
        )
    found = [Candidate(row, ORIGIN) for row in labels[:MAX_TIES]]
    capped = task.options.max_clusters is not None and task.options.max_clusters < n
    if not capped and not task.clock.interrupted:
        task.prove(task.evaluate(found[0].labels))
    return found


def _in_words(count: int) -> str:
    digits = len(str(count)) - 1
    return f"{count:,}" if digits < 12 else f"more than 10^{digits}"


def _pieces(task: Task) -> list[Labels]:
    """Prefixes of all partitions in lexicographic order, in pieces of equal number."""
    length = min(PREFIX_ITEMS, task.n_items - 1)
    if length == 0:
        return []
    prefixes = np.concatenate(list(partition_blocks(length, 1024)))
    cap = task.options.max_clusters
    if cap is not None:
        prefixes = prefixes[prefixes.max(axis=1) < cap]
    return np.array_split(prefixes, min(PIECES, len(prefixes)))


def _search_piece(
    task: Task, problem: Problem, prefixes: Labels, bound: float
) -> tuple[Lowest, int]:
    """The lowest losses below a few prefixes, and how many partitions were looked at."""
    n = task.n_items
    cap = n if task.options.max_clusters is None else task.options.max_clusters
    state = new_state(problem, None, room=n)
    scratch = new_scratch(problem, state)
    lowest = Lowest(
        labels=np.empty((MAX_TIES, n), np.int32),
        losses=np.empty(MAX_TIES),
        kept=np.zeros(2, np.int64),
        best=np.array([bound]),
    )
    looks = 0
    for prefix in prefixes:
        if task.clock.is_up():
            break
        for item, slot in enumerate(prefix):
            put(problem, state, item, int(slot))
        looks += search_below(problem, state, prefix.size, cap, TIE, scratch, lowest)
        for item in range(prefix.size - 1, -1, -1):
            remove(problem, state, item)
    return lowest, looks
