"""Arithmetic of a search on count tables.

Clusters of all draws are numbered consecutively ("rows"). For each row and
slot the tables hold how many items they share, and what the joint sum
Σ f(n_te) would gain if one more item joined: scoring an item against all
slots is then a sum of contiguous rows, with no look-up of f.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from partita.kernels._jit import kernel, part_of_kernel
from partita.kernels.losses.form_codes import ID, NID, NVI
from partita.kernels.losses.forms import SOME_BITS, combine
from partita.kernels.search.types import AVERAGED, LANES, Problem, Scratch, State

SOME_PAIRS = 0.5
"""The denominator of 1 − ARI, in ordered pairs of one draw, is 0 or at least 1."""


@kernel
def number_rows(
    labels: NDArray[np.int32],
    offsets: NDArray[np.int64],
    row_of: NDArray[np.int32],
    first: int,
) -> None:
    """Write a block of draws into the item-major table of rows, in tiles that stay in cache."""
    n_draws, n_items = labels.shape
    for tile in range(0, n_items, 32):
        stop = min(tile + 32, n_items)
        for m in range(n_draws):
            offset = offsets[first + m]
            for i in range(tile, stop):
                row_of[i, first + m] = labels[m, i] + offset


@kernel
def truth_sums(
    labels: NDArray[np.int32],
    clusters: NDArray[np.int64],
    terms: NDArray[np.float64],
    truth: NDArray[np.float64],
) -> None:
    """Σ f(n_t) of each draw of a block."""
    sizes = np.zeros(labels.shape[1] + 1, np.int32)
    for m in range(labels.shape[0]):
        for t in range(clusters[m]):
            sizes[t] = 0
        for i in range(labels.shape[1]):
            sizes[labels[m, i]] += 1
        total = 0.0
        for t in range(clusters[m]):
            total += terms[sizes[t]]
        truth[m] = total


@part_of_kernel
def fill(problem: Problem, state: State) -> None:
    """All tables, from the slots; they are zero before."""
    n_items, n_draws = problem.row_of.shape
    for i in range(n_items):
        for m in range(n_draws):
            state.counts[problem.row_of[i, m], state.slot_of[i]] += 1
    empty = problem.steps[0]
    for r in range(problem.row_draw.size):
        total = 0.0
        for k in range(state.sizes.size):
            count = state.counts[r, k]
            if count > 0:
                total += problem.terms[count]
                state.gains[r, k] = problem.steps[count]
            else:
                state.gains[r, k] = empty
        state.joint[problem.row_draw[r]] += total
    average(problem, state)


@part_of_kernel
def average(problem: Problem, state: State) -> None:
    """Refresh the mean of the joint sums."""
    total = 0.0
    for m in range(problem.weights.size):
        total += problem.weights[m] * state.joint[m]
    state.mean_joint[0] = total


@part_of_kernel
def put(problem: Problem, state: State, item: int, slot: int) -> None:
    """Tables after an item that was in no slot has joined one."""
    rows = problem.row_of[item]
    mean = 0.0
    for m in range(rows.size):
        gain = state.gains[rows[m], slot]
        state.joint[m] += gain
        mean += problem.weights[m] * gain
        count = state.counts[rows[m], slot] + 1
        state.counts[rows[m], slot] = count
        state.gains[rows[m], slot] = problem.steps[count]
    state.mean_joint[0] += mean


@part_of_kernel
def take(problem: Problem, state: State, item: int, slot: int) -> None:
    """Tables after an item has left its slot."""
    rows = problem.row_of[item]
    mean = 0.0
    for m in range(rows.size):
        count = state.counts[rows[m], slot] - 1
        step = problem.steps[count]
        state.joint[m] -= step
        mean += problem.weights[m] * step
        state.counts[rows[m], slot] = count
        state.gains[rows[m], slot] = step
    state.mean_joint[0] -= mean


@part_of_kernel
def close(problem: Problem, state: State, slot: int, last: int) -> None:
    """Tables after the last slot was moved into an empty one."""
    empty = problem.steps[0]
    for r in range(state.counts.shape[0]):
        state.counts[r, slot] = state.counts[r, last]
        state.gains[r, slot] = state.gains[r, last]
        state.counts[r, last] = 0
        state.gains[r, last] = empty


@part_of_kernel
def objective(problem: Problem, state: State, own: float) -> float:
    """Expected loss from the joint sums and the estimate's own sum Σ f(n_e)."""
    n = problem.row_of.shape[0]
    value = 0.0
    if problem.kind == AVERAGED:
        joint = state.mean_joint[0]
        value = combine(problem.form, problem.a, joint, own, problem.mean_truth, n)
    else:
        for m in range(problem.weights.size):
            loss = combine(problem.form, problem.a, state.joint[m], own, problem.truth[m], n)
            value += problem.weights[m] * loss
    return value


@part_of_kernel
def joint_gains(
    problem: Problem, state: State, item: int, width: int, out: NDArray[np.float64]
) -> None:
    """Mean gain of the joint sum if the item joined each of the first ``width`` slots."""
    rows = problem.row_of[item]
    weights = problem.weights
    gains = state.gains
    for first in range(0, width, LANES):
        # Eight named sums stay in one vector register; an array of sums would go through memory.
        a0 = a1 = a2 = a3 = a4 = a5 = a6 = a7 = 0.0
        for m in range(rows.size):
            r = rows[m]
            w = weights[m]
            a0 += w * gains[r, first]
            a1 += w * gains[r, first + 1]
            a2 += w * gains[r, first + 2]
            a3 += w * gains[r, first + 3]
            a4 += w * gains[r, first + 4]
            a5 += w * gains[r, first + 5]
            a6 += w * gains[r, first + 6]
            a7 += w * gains[r, first + 7]
        out[first] = a0
        out[first + 1] = a1
        out[first + 2] = a2
        out[first + 3] = a3
        out[first + 4] = a4
        out[first + 5] = a5
        out[first + 6] = a6
        out[first + 7] = a7


@part_of_kernel
def leaving(problem: Problem, state: State, item: int, out: NDArray[np.float64]) -> float:
    """What each draw's joint sum loses if the item leaves its slot; returns the mean."""
    home = state.slot_of[item]
    rows = problem.row_of[item]
    mean = 0.0
    for m in range(rows.size):
        if home < 0:
            out[m] = 0.0
            continue
        step = problem.steps[state.counts[rows[m], home] - 1]
        out[m] = step
        mean += problem.weights[m] * step
    return mean


@part_of_kernel
def mean_losses(
    problem: Problem,
    state: State,
    item: int,
    width: int,
    lost: NDArray[np.float64],
    own: NDArray[np.float64],
    out: NDArray[np.float64],
) -> None:
    """Expected loss if the item moved to each slot, combined draw by draw.

    ``lost`` is what each draw's joint sum loses when the item leaves, and
    ``own[k]`` is Σ f(n_e) after it has joined slot k.
    """
    rows = problem.row_of[item]
    gains = state.gains
    n = problem.row_of.shape[0]
    top = problem.terms[n]
    pairs = max(float(n) * (float(n) - 1.0), 1.0)
    for k in range(width):
        out[k] = 0.0
    for m in range(rows.size):
        r = rows[m]
        w = problem.weights[m]
        joint = state.joint[m] - lost[m]
        truth = problem.truth[m]
        if problem.form == ID:
            for k in range(width):
                out[k] += w * (max(truth, own[k]) - joint - gains[r, k]) / n
        elif problem.form == NID:
            for k in range(width):
                below = top - min(truth, own[k])
                above = max(truth, own[k]) - joint - gains[r, k]
                out[k] += w * (above / below if below > SOME_BITS else 0.0)
        elif problem.form == NVI:
            for k in range(width):
                total = joint + gains[r, k]
                above = truth + own[k] - 2.0 * total
                out[k] += w * (above / (top - total) if top - total > SOME_BITS else 0.0)
        else:
            for k in range(width):
                mean = 0.5 * (truth + own[k]) - n
                below = mean - (truth - n) * (own[k] - n) / pairs
                above = mean + n - joint - gains[r, k]
                out[k] += w * (above / below if below > SOME_PAIRS else 0.0)


@part_of_kernel
def score(
    problem: Problem, state: State, item: int, own: NDArray[np.float64], scratch: Scratch
) -> None:
    """Expected loss if the item moved to each slot; its own slot is scored by the caller."""
    n = problem.row_of.shape[0]
    width = (state.k[0] + LANES) // LANES * LANES
    scores = scratch.scores
    lost = leaving(problem, state, item, scratch.lost)
    if problem.kind == AVERAGED:
        joint_gains(problem, state, item, width, scores)
        for k in range(state.k[0] + 1):
            joint = state.mean_joint[0] - lost + scores[k]
            scores[k] = combine(problem.form, problem.a, joint, own[k], problem.mean_truth, n)
    else:
        mean_losses(problem, state, item, width, scratch.lost, own, scores)


@part_of_kernel
def score_merges(
    problem: Problem, state: State, own: NDArray[np.float64], scores: NDArray[np.float64]
) -> None:
    """Add the expected loss after merging slots i < j; ``own`` is Σ f(n_e) after each merge."""
    k_used = state.k[0]
    n = problem.row_of.shape[0]
    averaged = problem.kind == AVERAGED
    change = np.zeros((k_used, k_used))
    filled = np.empty(k_used, np.int64)
    n_rows = problem.row_draw.size
    r = 0
    while r < n_rows:
        m = problem.row_draw[r]
        if not averaged:
            for i in range(k_used):
                for j in range(i + 1, k_used):
                    change[i, j] = 0.0
        while r < n_rows and problem.row_draw[r] == m:
            _add_merge_gains(
                problem, state, r, problem.weights[m] if averaged else 1.0, filled, change
            )
            r += 1
        if not averaged:
            for i in range(k_used):
                for j in range(i + 1, k_used):
                    joint = state.joint[m] + change[i, j]
                    loss = combine(problem.form, problem.a, joint, own[i, j], problem.truth[m], n)
                    scores[i, j] += problem.weights[m] * loss
    if averaged:
        for i in range(k_used):
            for j in range(i + 1, k_used):
                joint = state.mean_joint[0] + change[i, j]
                scores[i, j] = combine(
                    problem.form, problem.a, joint, own[i, j], problem.mean_truth, n
                )


@part_of_kernel
def _add_merge_gains(
    problem: Problem,
    state: State,
    r: int,
    weight: float,
    filled: NDArray[np.int64],
    change: NDArray[np.float64],
) -> None:
    """Add what a row's part of the joint sum gains for each pair of slots merged."""
    count = 0
    for k in range(state.k[0]):
        if state.counts[r, k] > 0:
            filled[count] = k
            count += 1
    for p in range(count):
        x = state.counts[r, filled[p]]
        for q in range(p + 1, count):
            y = state.counts[r, filled[q]]
            gain = problem.terms[x + y] - problem.terms[x] - problem.terms[y]
            change[filled[p], filled[q]] += weight * gain
