"""Every cut of a linkage, against cuts made and evaluated one by one."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.cluster.hierarchy import cut_tree, linkage

import partita as pt
from loss_instances import every_loss
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
