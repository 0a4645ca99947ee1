"""The running sums of a search against evaluation from scratch, for every loss and kind."""

from __future__ import annotations

import numpy as np
import pytest

import partita as pt
from loss_instances import every_loss
from partita.kernels import cluster_moves as moves
from partita.kernels import search_moves as single
from partita.partitions.labels import canonical
from partita.search.problem import (
    grown,
    new_scratch,
    new_state,
    problem_from_draws,
    problem_from_similarity,
)
from search.posteriors import random_posterior

N_ITEMS = 9


def problems(loss, draws):
    """The problem on counts where there is one, and on the similarity matrix where it suffices."""
    found = []
    if loss.name != "vi_lb":
        found.append(problem_from_draws(draws.unique(), loss))
    if loss.uses_similarity:
        found.append(problem_from_similarity(pt.similarity(draws), loss))
    return found


def expected(state, draws, loss):
    return pt.expected_loss(state.slot_of, draws, loss=loss)[0]


def compact(state):
    """Slots 0 … k − 1 are used, slot k is not, and sizes say so."""
    k = int(state.k[0])
    assert np.array_equal(np.bincount(state.slot_of, minlength=len(state.sizes)), state.sizes)
    assert (state.sizes[:k] > 0).all()
    assert (state.sizes[k:] == 0).all()


@every_loss
@pytest.mark.parametrize("seed", range(3))
def test_objective_after_random_moves_equals_the_expected_loss(loss, seed):
    draws = random_posterior(N_ITEMS, 12, seed, weighted=seed == 2)
    rng = np.random.default_rng(seed)
    for problem in problems(loss, draws):
        state = new_state(problem, canonical(rng.integers(0, 4, N_ITEMS)))
        for _ in range(60):
            if not single.has_room(state):
                state = grown(problem, state)
            item = int(rng.integers(N_ITEMS))
            home = int(state.slot_of[item])
            single.take(problem, state, item)
            slot = int(rng.integers(state.k[0] + 1))
            single.put(problem, state, item, slot)
            if state.sizes[home] == 0:
                single.close_gap(problem, state, home)
            compact(state)
            assert single.objective(problem, state) == pytest.approx(
                expected(state, draws, loss), abs=1e-11
            )


@every_loss
@pytest.mark.parametrize("seed", range(3))
def test_the_score_of_a_move_is_the_loss_after_it(loss, seed):
    draws = random_posterior(N_ITEMS, 12, seed, weighted=seed == 2)
    rng = np.random.default_rng(seed)
    labels = canonical(rng.integers(0, 4, N_ITEMS))
    for problem in problems(loss, draws):
        state = new_state(problem, labels)
        scratch = new_scratch(problem, state)
        present = single.objective(problem, state)
        for item in range(N_ITEMS):
            single.score_moves(problem, state, item, present, scratch)
            for slot in range(int(state.k[0]) + 1):
                moved = labels.copy()
                moved[item] = slot
                wanted = pt.expected_loss(moved, draws, loss=loss)[0]
                assert scratch.scores[slot] == pytest.approx(wanted, abs=1e-11)


@every_loss
@pytest.mark.parametrize("seed", range(3))
def test_the_score_of_a_merge_is_the_loss_after_it(loss, seed):
    draws = random_posterior(N_ITEMS, 12, seed)
    labels = canonical(np.random.default_rng(seed).integers(0, 5, N_ITEMS))
    for problem in problems(loss, draws):
        state = new_state(problem, labels)
        scores = moves.merge_scores(problem, state)
        k = int(state.k[0])
        for i in range(k):
            for j in range(k):
                if i >= j:
                    assert scores[i, j] == np.inf
                    continue
                merged = np.where(labels == j, i, labels)
                wanted = pt.expected_loss(merged, draws, loss=loss)[0]
                assert scores[i, j] == pytest.approx(wanted, abs=1e-11)


@every_loss
@pytest.mark.parametrize("seed", range(4))
def test_cluster_moves_never_raise_the_loss_and_keep_the_tables_right(loss, seed):
    draws = random_posterior(N_ITEMS, 15, seed)
    rng = np.random.default_rng(seed)
    bits = rng.integers(1, 2**63, size=4, dtype=np.uint64)
    for problem in problems(loss, draws):
        state = new_state(problem, canonical(rng.integers(0, 3, N_ITEMS)))
        for turn in range(12):
            if not single.has_room(state):
                state = grown(problem, state)
            scratch = new_scratch(problem, state)
            before = single.objective(problem, state)
            k = int(state.k[0])
            if turn % 4 == 0:
                better = moves.split_slot(problem, state, int(rng.integers(k)), bits, scratch)
            elif turn % 4 == 1:
                slot = int(rng.integers(k))
                better = moves.rebuild_slot(problem, state, slot, N_ITEMS, bits, scratch)
            elif turn % 4 == 2 and k > 1:
                a, b = rng.choice(k, 2, replace=False)
                better = moves.exchange_slots(problem, state, int(a), int(b), bits, scratch)
            else:
                item, slot = int(rng.integers(N_ITEMS)), int(rng.integers(k))
                everyone = np.arange(N_ITEMS)
                better = moves.kick_item(problem, state, item, slot, everyone, N_ITEMS, scratch)
            compact(state)
            after = single.objective(problem, state)
            assert after == pytest.approx(expected(state, draws, loss), abs=1e-11)
            assert (after < before - 1e-13) if better else after == pytest.approx(before, abs=1e-11)


def test_tables_grow_without_changing_what_they_say():
    draws = random_posterior(N_ITEMS, 12, 0)
    problem = problem_from_draws(draws, pt.VI())
    state = new_state(problem, canonical(np.arange(N_ITEMS) % 3))
    wider = grown(problem, state)
    assert wider.sizes.size > state.sizes.size
    assert single.objective(problem, wider) == single.objective(problem, state)
    scratch, wide = new_scratch(problem, state), new_scratch(problem, wider)
    single.score_moves(problem, state, 0, 1.0, scratch)
    single.score_moves(problem, wider, 0, 1.0, wide)
    assert np.array_equal(scratch.scores[:4], wide.scores[:4])


def test_a_sweep_in_pieces_ends_where_one_sweep_ends():
    draws = random_posterior(40, 60, 3)
    problem = problem_from_draws(draws, pt.VI())
    order = np.random.default_rng(0).permutation(40)
    ends = []
    for chunk in (10_000, 7):
        state = new_state(problem, canonical(np.arange(40) % 5))
        settled, turn = 0, order
        while settled < 40:
            if not single.has_room(state):
                state = grown(problem, state)
            scratch = new_scratch(problem, state)
            settled, looked = single.sweep(problem, state, turn, 40, settled, chunk, scratch)
            turn = np.roll(turn, -(looked % 40))
        ends.append(canonical(state.slot_of))
    assert np.array_equal(*ends)
