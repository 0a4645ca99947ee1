"""Every cut of a linkage, against cuts made and evaluated one by one."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.cluster.hierarchy import cut_tree, linkage

import partita as pt
from loss_instances import every_loss
from partita.errors import NotSupportedError
from partita.kernels import dendrogram
from partita.kernels.dendrogram import link
from partita.search import linkage as method
from reference import search_methods as reference
from reference.losses import similarity as exact_similarity
from search_tasks import found, make_task, random_draws, stored_draws

SEARCHES = {"average": method.search_average, "complete": method.search_complete}
both = pytest.mark.parametrize("name", SEARCHES)


def all_cuts(merges: np.ndarray) -> np.ndarray:
    return np.array([method._cut(merges, t) for t in range(len(merges) + 1)])


@every_loss
@both
def test_losses_of_all_cuts(loss, name):
    draws = random_draws(25, 40, seed=1)
    task = make_task(draws, loss)
    merges = method._merges(task, name)
    expected = pt.expected_loss(all_cuts(merges), draws, loss)
    assert method._cut_losses(task, merges) == pytest.approx(expected, rel=0, abs=1e-12)


@every_loss
@both
@pytest.mark.parametrize("seed", range(3))
def test_best_cut_of_the_reference(loss, name, seed):
    """Distinct distances, so that both linkages merge in the same order."""
    draws = random_draws(8, 60, seed=seed)
    unique = draws.unique()
    rows, mass = unique.labels.tolist(), unique.probabilities.tolist()
    cuts = reference.linkage_cuts(exact_similarity(rows, mass), name)
    for cap in (None, 3):
        allowed = [c for c in cuts if cap is None or max(c) < cap]
        reached = SEARCHES[name](make_task(draws, loss, max_clusters=cap))
        assert found(reached) == reference.minimisers(loss, allowed, rows, mass)


@both
def test_cuts_are_those_of_scipy(name):
    draws = random_draws(40, 30, seed=7)
    merges = method._merges(make_task(draws), name)
    apart = 1 - pt.similarity(draws.unique())
    tree = linkage(apart[np.triu_indices(40, 1)], name)
    assert np.array_equal(all_cuts(merges), pt.canonical(cut_tree(tree).T))


@pytest.mark.parametrize("loss", ["binder", "vi_lb", "one_minus_pear"])
def test_from_the_similarity_matrix_alone(loss):
    draws = random_draws(20, 30, seed=3)
    alone = make_task(loss=loss, similarity=pt.similarity(draws))
    for search in SEARCHES.values():
        assert found(search(alone)) == found(search(make_task(draws, loss)))


def test_walk_of_a_chain_and_of_a_balanced_tree():
    """Ranges of the walk hold the items of each merge, the larger side first."""
    chain = np.array([[0, 1], [2, 4], [3, 5]])
    balanced = np.array([[0, 1], [2, 3], [4, 5]])
    for merges in (chain, balanced, *(random_tree(n) for n in (2, 9, 40))):
        size = method._sizes(merges)
        walk = dendrogram.walk_tree(merges[:, 0].copy(), merges[:, 1].copy(), size)
        items = [{i} for i in range(len(merges) + 1)]
        for left, right in merges:
            items.append(items[left] | items[right])
        for s, t in enumerate(walk.merge):
            sides = [items[node] for node in merges[t]]
            heavy = set(walk.order[walk.first[s] : walk.middle[s]].tolist())
            light = set(walk.order[walk.middle[s] : walk.last[s]].tolist())
            assert heavy in sides
            assert light in sides
            assert len(heavy) >= len(light)
        assert sorted(walk.merge.tolist()) == list(range(len(merges)))


def random_tree(n: int) -> np.ndarray:
    rng = np.random.default_rng(n)
    alive, merges = list(range(n)), []
    for t in range(n - 1):
        pair = rng.choice(len(alive), 2, replace=False).tolist()
        merges.append([alive[i] for i in pair])
        alive = [x for i, x in enumerate(alive) if i not in pair] + [n + t]
    return np.array(merges)


@pytest.mark.parametrize("pairs", [False, True])
def test_gains_of_merges(pairs):
    merges = random_tree(30)
    size = method._sizes(merges)
    walk = dendrogram.walk_tree(merges[:, 0].copy(), merges[:, 1].copy(), size)
    terms = np.array([reference.term(pairs, x) for x in range(31)])
    row = np.random.default_rng(0).integers(0, 6, 30).astype(np.int32)
    heavy, light = np.zeros(30, np.int32), np.zeros(30, np.int32)
    gains = np.empty(29)
    dendrogram.merge_gains(walk, row[walk.order], terms, heavy, light, gains)
    items = [[i] for i in range(30)]
    for t, (left, right) in enumerate(merges):
        gain = reference.merge_gain(row.tolist(), (items[left], items[right]), pairs)
        assert gains[t] == pytest.approx(gain, rel=0, abs=1e-12)
        items.append(items[left] + items[right])
    assert not heavy.any()
    assert not light.any()


def test_the_same_for_every_number_of_threads(monkeypatch):
    monkeypatch.setattr(method, "BLOCK_LABELS", 7 * 30)
    draws = random_draws(30, 100, seed=8)
    values = []
    for n in (1, 3):
        task = make_task(draws, "nid", n_jobs=n)
        values.append(method._cut_losses(task, method._merges(task, "average")))
    assert np.array_equal(*values)


def test_time_that_is_up_still_gives_a_cut(monkeypatch):
    monkeypatch.setattr(method, "BLOCK_LABELS", 7 * 30)
    draws = random_draws(30, 100, seed=8)
    for loss in ("vi", "nvi"):
        task = make_task(draws, loss, time_limit=1e-9)
        reached = method.search_average(task)
        assert task.clock.interrupted
        assert pt.expected_loss(reached[0].labels, draws, loss) < 2.0


def test_small_and_degenerate():
    assert found(method.search_average(make_task(pt.Draws([[0]])))) == [[0]]
    same = pt.Draws([[0, 0, 1, 1, 1]])
    for loss in ("vi", "nvi", "one_minus_pear", "vi_lb"):
        assert found(method.search_complete(make_task(same, loss))) == [[0, 0, 1, 1, 1]]
    alone = pt.Draws([[0, 1, 2, 3]])
    assert found(method.search_average(make_task(alone, "nid"))) == [[0, 1, 2, 3]]
    one = pt.Draws([[0] * 7])
    for loss in ("nvi", "nid", "id", "one_minus_ari", "vi"):
        assert found(method.search_average(make_task(one, loss))) == [[0] * 7]


def test_refusal():
    with pytest.raises(NotSupportedError, match="needs the draws"):
        method.search_average(make_task(loss="vi", similarity=np.eye(3)))


@pytest.mark.parametrize(
    ("name", "loss", "linkage_name", "value"),
    [
        ("example1", "vi_lb", "average", 0.427644366745569),
        ("example1", "vi_lb", "complete", 0.441010735594898),
        ("example1", "binder", "average", 0.06226648),
        ("example1", "binder", "complete", 0.06268914),
        ("galaxy", "vi_lb", "average", 0.57287202356292),
        ("galaxy", "one_minus_pear", "average", 1 - 0.540530333353874),
    ],
)
def test_values_of_mcclust(name, loss, linkage_name, value):
    """The records of minVI, minbinder.ext and maxpear; R printed up to 15 digits."""
    task = make_task(stored_draws(name), loss)
    best = SEARCHES[linkage_name](task)[0]
    assert task.evaluate(best.labels) == pytest.approx(value, rel=0, abs=1e-9)


@both
@pytest.mark.parametrize("n_items", [2, 3, 17, 40])
@pytest.mark.parametrize("levels", [3, 20, 10**6])  # few levels: nearly all heights are tied
def test_merges_at_equal_heights_are_those_of_scipy(name, n_items, levels):
    apart = np.random.default_rng(levels).integers(0, levels + 1, (n_items, n_items)) / levels
    apart = np.triu(apart, 1) + np.triu(apart, 1).T
    tree = linkage(apart[np.triu_indices(n_items, 1)], name)
    assert np.array_equal(link(apart, complete=name == "complete"), tree[:, :2])
