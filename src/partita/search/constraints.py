"""The best partition with exactly k clusters, or with none smaller than a given size."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from partita._validate import whole
from partita._wording import counted
from partita.errors import InvalidInputError, NotSupportedError
from partita.kernels.search.moves import (
    assign,
    merge_scores,
    move_losses,
    objective,
    slack,
    together,
)
from partita.losses.evaluate import expected_loss
from partita.partitions.enumeration import partition_blocks
from partita.partitions.labels import Labels, canonical
from partita.search.methods.linkage import cut_into
from partita.search.methods.sweep import explored
from partita.search.problem import Problem, State, new_scratch, new_state, problem_from_draws
from partita.search.task import Candidate, Task, run_until, window

ENUMERATED_ITEMS = 8
"""Up to so many items every partition that keeps the rules is tried."""

DRAWS, DISTURBED = 6, 12
"""Draws to start from, and disturbed best partitions."""

SWAPS = 16
"""Items, at most, for which an exchange with another item is sought."""


class Rules(NamedTuple):
    """What an estimate must be like."""

    n_clusters: int | None
    min_size: int

    def allow(self, labels: Labels) -> bool:
        """Whether a partition keeps them."""
        sizes = np.bincount(labels)
        right = self.n_clusters is None or sizes.size == self.n_clusters
        return bool(right and sizes.min() >= self.min_size)


def clean_rules(
    n_items: int, n_clusters: int | None, min_size: int, max_clusters: int | None, method: str
) -> Rules | None:
    """The rules an estimate must keep; None where it is free."""
    least = whole(min_size, "min_size", least=1)
    k = None if n_clusters is None else whole(n_clusters, "n_clusters", least=1)
    if k is None and least == 1:
        return None
    if method not in ("auto", "sweep"):
        raise NotSupportedError(
            f"method {method!r} keeps no n_clusters and no min_size; use 'auto' or 'sweep'."
        )
    if max_clusters is not None:
        raise InvalidInputError("give max_clusters, or n_clusters and min_size, not both.")
    if (k or 1) * least > n_items:
        raise InvalidInputError(
            f"n_clusters={k}, min_size={least}: {(k or 1) * least:,} items would be needed, but "
            f"there are {n_items:,}."
        )
    return Rules(k, least)


def within(task: Task, rules: Rules, free: list[Candidate]) -> list[Candidate]:
    """What keeps the rules, and what that costs, in words."""
    best = min(free, key=lambda c: task.evaluate(c.labels))
    kept = search_within(task, rules, free)
    if rules.allow(best.labels):
        return [best, *kept]
    sizes = np.bincount(best.labels)
    lowest = min(task.evaluate(c.labels) for c in kept)
    cost = lowest - task.evaluate(best.labels)
    asked = [] if rules.n_clusters is None else [f"n_clusters={rules.n_clusters}"]
    asked += [f"min_size={rules.min_size}"] if rules.min_size > 1 else []
    small = int((sizes < rules.min_size).sum())
    dust = f", {small} of them smaller than {rules.min_size}" if small else ""
    share = f" ({100 * cost / (lowest - cost):.2g}%)" if lowest > cost else ""
    unit = f" {task.loss.unit}" if task.loss.unit else ""
    task.limits.append(
        f"{' and '.join(asked)}: without it {counted(sizes.size, 'cluster')}{dust}; it costs "
        f"{cost:.4g}{unit}{share}"
    )
    return kept


def search_within(task: Task, rules: Rules, free: list[Candidate]) -> list[Candidate]:
    """Partitions that keep the rules, from what a search without them has found."""
    if all(rules.allow(c.labels) for c in free):
        return free
    if task.draws is not None and task.n_items <= ENUMERATED_ITEMS:
        return _enumerated(task, rules)
    problem, _ = explored(task)
    starts = list(_starts(task, rules, problem, free))
    generators = task.rng.spawn(len(starts))
    work = list(zip(starts, generators, strict=True))

    def walk(piece: tuple[Candidate, np.random.Generator]) -> tuple[float, Candidate]:
        labels = _kept(problem, piece[0].labels, rules, piece[1])
        loss, end = _settled(task, problem, labels, rules)
        return loss, Candidate(end, piece[0].origin)

    ends = run_until(task, walk, work, "keeping the rules")
    best = min(ends, key=lambda e: e[0])
    for rng in task.rng.spawn(DISTURBED):
        if task.clock.is_up():
            break
        begin = _kept(problem, _disturbed(best[1].labels, rng), rules, rng)
        loss, end = _settled(task, problem, begin, rules)
        ends.append((loss, Candidate(end, "disturbed best")))
        best = min(best, ends[-1], key=lambda e: e[0])
    whole = best[1].labels
    if task.draws is not None and not task.loss.uses_similarity and not task.clock.is_up():
        whole = _settled(task, problem_from_draws(task.draws, task.loss), whole, rules)[1]
    return [Candidate(whole, best[1].origin), *(e[1] for e in ends)]


def _enumerated(task: Task, rules: Rules) -> list[Candidate]:
    assert task.draws is not None
    rows = np.concatenate([np.array(b, np.int32) for b in partition_blocks(task.n_items, 1024)])
    rows = rows[[rules.allow(row) for row in rows]]
    losses = expected_loss(rows, task.draws, loss=task.loss)
    best = rows[losses <= window(float(losses.min()))]
    return [Candidate(np.ascontiguousarray(row), "enumeration") for row in best]


def _starts(
    task: Task, rules: Rules, problem: Problem, free: list[Candidate]
) -> Iterator[Candidate]:
    del problem
    seen: set[bytes] = set()
    for candidate in free:
        if candidate.labels.tobytes() not in seen:
            seen.add(candidate.labels.tobytes())
            yield candidate
    k = rules.n_clusters or int(free[0].labels.max()) + 1
    cut = cut_into(task, k)
    if cut is not None:
        yield Candidate(cut, "average linkage")
    if task.draws is not None:
        size = min(DRAWS, task.draws.n_draws)
        for m in task.rng.choice(task.draws.n_draws, size, replace=False):
            yield Candidate(task.draws.rows(int(m), int(m) + 1)[0], "draw")


# ---------------------------------------------------------------------- keeping the rules


def _kept(problem: Problem, labels: Labels, rules: Rules, rng: np.random.Generator) -> Labels:
    """A partition near this one that keeps the rules."""
    labels = canonical(labels)
    for _ in range(2 * labels.size):
        sizes = np.bincount(labels)
        k = rules.n_clusters
        if sizes.min() < rules.min_size and sizes.size > 1:
            labels = _merged(problem, labels, int(sizes.argmin()))
        elif k is not None and sizes.size > k:
            labels = _merged(problem, labels, None)
        elif k is not None and sizes.size < k:
            halved = _split(problem, labels, rules.min_size, rng)
            if halved is None:
                break
            labels = halved
        else:
            return labels
    return _dealt(labels, rules)


def _merged(problem: Problem, labels: Labels, slot: int | None) -> Labels:
    """Merge the cheapest pair of clusters, of those with one of them in a slot."""
    scores = merge_scores(problem, new_state(problem, labels))
    scores = np.minimum(scores, scores.T)
    if slot is not None:
        a, b = slot, int(scores[slot].argmin())
    else:
        a, b = (int(x) for x in np.unravel_index(int(scores.argmin()), scores.shape))
    return canonical(np.where(labels == a, b, labels))


def _split(problem: Problem, labels: Labels, least: int, rng: np.random.Generator) -> Labels | None:
    """Divide the cluster whose halves leave the lowest loss; None where none is large enough."""
    best: tuple[float, Labels] | None = None
    sizes = np.bincount(labels)
    for slot in np.flatnonzero(sizes >= max(2, 2 * least)):
        members = rng.permutation(np.flatnonzero(labels == slot))
        one = members[int(together(problem, int(members[0]), members).argmin())]
        other = members[int(together(problem, int(one), members).argmin())]
        if one == other:
            one, other = members[0], members[1]
        lean = together(problem, int(one), members) - together(problem, int(other), members)
        lean[members == one], lean[members == other] = np.inf, -np.inf
        order = members[np.argsort(lean, kind="stable")]
        count = int(np.clip((lean < 0).sum(), max(1, least), members.size - max(1, least)))
        halved = labels.copy()
        halved[order[:count]] = sizes.size
        loss = float(objective(problem, new_state(problem, canonical(halved))))
        if best is None or loss < best[0]:
            best = (loss, canonical(halved))
    return None if best is None else best[1]


def _dealt(labels: Labels, rules: Rules) -> Labels:
    """Items in the order of their clusters, dealt into clusters of nearly equal size."""
    n = labels.size
    k = rules.n_clusters or max(1, min(int(labels.max()) + 1, n // rules.min_size))
    out = np.empty(n, np.int32)
    for place, items in enumerate(np.array_split(np.argsort(labels, kind="stable"), k)):
        out[items] = place
    return canonical(out)


def _disturbed(labels: Labels, rng: np.random.Generator) -> Labels:
    """Some items, or the halves of a cluster, moved at random."""
    n, k = labels.size, int(labels.max()) + 1
    out = labels.copy()
    if rng.random() < 0.5:
        some = rng.random(n) < rng.uniform(0.05, 0.3)
        out[some] = rng.integers(0, k, int(some.sum()))
    else:
        a, b, c = rng.integers(0, k, 3)
        out[out == b] = a
        out[(out == c) & (rng.random(n) < 0.5)] = k
    return canonical(out)


# ---------------------------------------------------------------------- walking within them


def _settled(task: Task, problem: Problem, labels: Labels, rules: Rules) -> tuple[float, Labels]:
    """The lowest partition that single moves and exchanges reach within the rules."""
    state = new_state(problem, labels)
    for _ in range(20 * labels.size):
        if task.clock.is_up():
            break
        if not (_moved(problem, state, rules) or _exchanged(problem, state)):
            break
    return float(objective(problem, state)), canonical(state.slot_of)


def _move_to(problem: Problem, state: State, item: int, slot: int) -> None:
    assign(problem, state, np.array([item]), np.array([slot], np.int32))


def _all_moves(problem: Problem, state: State) -> np.ndarray[tuple[int, int], np.dtype[np.float64]]:
    """Losses after each item has moved to each cluster that exists."""
    losses = move_losses(problem, state, new_scratch(problem, state))[:, : int(state.k[0])]
    losses[np.arange(losses.shape[0]), state.slot_of] = np.inf
    return np.ascontiguousarray(losses)


def _moved(problem: Problem, state: State, rules: Rules) -> bool:
    """Make the best move that keeps the rules, if it gains."""
    losses = _all_moves(problem, state)
    losses[state.sizes[state.slot_of] <= rules.min_size] = np.inf
    item, slot = np.unravel_index(int(losses.argmin()), losses.shape)
    if losses[item, slot] >= objective(problem, state) - slack(problem, state):
        return False
    _move_to(problem, state, int(item), int(slot))
    return True


def _exchanged(problem: Problem, state: State) -> bool:
    """Exchange two items of different clusters, if that gains."""
    present = objective(problem, state)
    losses = _all_moves(problem, state)
    cheapest = np.argsort(losses, axis=None)[: min(SWAPS, losses.size)]
    for item, slot in zip(*np.unravel_index(cheapest, losses.shape), strict=True):
        home = int(state.slot_of[item])
        if not np.isfinite(losses[item, slot]):
            continue
        _move_to(problem, state, int(item), int(slot))
        back = _all_moves(problem, state)[:, home]
        back[(state.slot_of != slot) | (np.arange(back.size) == item)] = np.inf
        other = int(back.argmin())
        if back[other] < present - slack(problem, state):
            _move_to(problem, state, other, home)
            return True
        _move_to(problem, state, int(item), home)
    return False
