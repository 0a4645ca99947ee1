"""Arithmetic of a search on the similarity matrix p.

``within[k, i]`` is Σ p_ij over the members j of slot k (p_ii included while i
is a member). Binder's loss and PEAR need its sums; VI_LB its logarithms.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from partita.kernels._jit import part_of_kernel
from partita.kernels.losses.forms import combine
from partita.kernels.search.types import PAIRS, Problem, Scratch, State


@part_of_kernel
def fill(problem: Problem, state: State) -> None:
    """All sums, from the slots; they are zero before."""
    for i in range(state.slot_of.size):
        put(problem, state, i, state.slot_of[i])


@part_of_kernel
def put(problem: Problem, state: State, item: int, slot: int) -> None:
    """Sums after an item that was in no slot has joined one."""
    for j in range(state.slot_of.size):
        state.within[slot, j] += problem.similarity[item, j]


@part_of_kernel
def take(problem: Problem, state: State, item: int, slot: int) -> None:
    """Sums after an item has left its slot."""
    for j in range(state.slot_of.size):
        state.within[slot, j] -= problem.similarity[item, j]


@part_of_kernel
def close(state: State, slot: int, last: int) -> None:
    """Sums after the last slot was moved into an empty one."""
    for i in range(state.slot_of.size):
        state.within[slot, i] = state.within[last, i]
        state.within[last, i] = 0.0


@part_of_kernel
def objective(problem: Problem, state: State, own: float) -> float:
    """Expected loss from the sums of the items that are in a slot; ``own`` is Σ f(n_e)."""
    n = state.slot_of.size
    total = 0.0
    for i in range(n):
        if state.slot_of[i] >= 0:
            within = state.within[state.slot_of[i], i]
            total += within if problem.kind == PAIRS else np.log2(within)
    if problem.kind == PAIRS:
        value = combine(problem.form, problem.a, total, own, problem.mean_truth, n)
    else:
        value = (own + problem.mean_truth - 2.0 * total) / n
    return value


@part_of_kernel
def score(
    problem: Problem,
    state: State,
    item: int,
    own: NDArray[np.float64],
    present: float,
    own_present: float,
    scratch: Scratch,
) -> None:
    """Expected loss if the item moved to each slot; its own slot is scored by the caller.

    ``present`` and ``own_present`` are the loss and Σ f(n_e) as they stand.
    """
    n = state.slot_of.size
    home = state.slot_of[item]
    scores = scratch.scores
    if problem.kind == PAIRS:
        joint = 0.0
        for i in range(n):
            if state.slot_of[i] >= 0:
                joint += state.within[state.slot_of[i], i]
        if home >= 0:
            joint -= 2.0 * state.within[home, item] - 1.0
        for k in range(state.k[0] + 1):
            with_item = joint + 2.0 * state.within[k, item] + 1.0
            scores[k] = combine(problem.form, problem.a, with_item, own[k], problem.mean_truth, n)
    else:
        for k in range(state.k[0] + 1):
            scores[k] = own[k] - own_present - 2.0 * np.log2(state.within[k, item] + 1.0)
        left = 0.0
        for j in range(n):
            slot = state.slot_of[j]
            shared = problem.similarity[item, j]
            if slot < 0 or shared <= 0.0 or j == item:
                continue
            here = state.within[slot, j]
            if slot == home:
                left += np.log2(here / (here - shared))
            else:
                scores[slot] -= 2.0 * np.log2((here + shared) / here)
        if home >= 0:
            left += np.log2(state.within[home, item])
        for k in range(state.k[0] + 1):
            scores[k] = present + (scores[k] + 2.0 * left) / n


@part_of_kernel
def score_merges(
    problem: Problem, state: State, own: NDArray[np.float64], scores: NDArray[np.float64]
) -> None:
    """Add the expected loss after merging slots i < j; ``own`` is Σ f(n_e) after each merge."""
    n = state.slot_of.size
    k_used = state.k[0]
    present = 0.0
    for i in range(n):
        a = state.slot_of[i]
        here = state.within[a, i]
        present += here if problem.kind == PAIRS else np.log2(here)
        for b in range(k_used):
            there = state.within[b, i]
            if b != a and there > 0.0:
                gain = there if problem.kind == PAIRS else np.log2((here + there) / here)
                scores[min(a, b), max(a, b)] += gain
    for a in range(k_used):
        for b in range(a + 1, k_used):
            joint = present + scores[a, b]
            if problem.kind == PAIRS:
                scores[a, b] = combine(
                    problem.form, problem.a, joint, own[a, b], problem.mean_truth, n
                )
            else:
                scores[a, b] = (own[a, b] + problem.mean_truth - 2.0 * joint) / n
