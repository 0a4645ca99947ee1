"""Prices of items prove a bound of the variation of information: against all partitions."""

import numpy as np
import pytest

import partita as pt
from partita._resources import Clock
from partita.search.bounds.composition import composition_bound
from search_tasks import all_losses, stored_draws

PRICES = (1.0, 0.4, 0.8, 1.3, 1.7)


def posterior(seed: int) -> pt.Draws:
    """Two to eight items, from clear to without structure; equal, unequal and steep weights."""
    rng = np.random.default_rng(seed)
    n_items, n_draws = int(rng.integers(2, 9)), int(rng.integers(1, 25))
    truth = rng.integers(0, max(1, n_items // 3) + 1, n_items)
    noise = rng.integers(0, rng.integers(1, n_items + 1) + 1, (n_draws, n_items))
    labels = np.where(rng.random((n_draws, n_items)) < rng.random(), truth, noise)
    weights = [None, rng.gamma(0.5, size=n_draws) + 1e-3, 0.6 ** np.arange(n_draws)][seed % 3]
    return pt.Draws(labels, weights=weights).unique()


def bound_of(draws: pt.Draws, labels: np.ndarray, value: float, a: float) -> float:
    work = {"steps": 10**8, "rounds": 20, "price_work": 1e9}
    return composition_bound(draws, labels, value, a=a, n_jobs=1, **work)[0]


@pytest.mark.parametrize("a", PRICES)
def test_the_bound_is_never_above_the_minimum(a):
    # Where the bound closes, an error of a billionth upwards would show; where it does not, the
    # next best partition shows that the bound is of the minimum, and not of what proposed it.
    closed, shares = 0, []
    for seed in range(24):
        draws = posterior(seed)
        partitions, losses = all_losses(draws, pt.VI(a))
        for place in np.argsort(losses, kind="stable")[:2]:
            found = bound_of(draws, partitions[place].astype(np.int32), losses[place], a)
            assert found <= losses.min()
            if losses[place] == losses.min() > 1e-9:
                shares.append(found / losses.min())
                closed += draws.n_items > 4 and losses.min() - found <= 1e-9 * losses.min() + 1e-14
    assert closed >= 4
    assert np.mean(shares) > 0.93


@pytest.mark.parametrize("a", [1.0, 0.4, 1.6])
def test_the_bound_holds_whatever_partition_proposes_the_prices(a):
    rng = np.random.default_rng(5)
    for seed in range(10):
        draws = posterior(seed)
        partitions, losses = all_losses(draws, pt.VI(a))
        other = int(rng.integers(len(partitions)))
        found = bound_of(draws, partitions[other].astype(np.int32), losses[other], a)
        assert found <= losses.min()


@pytest.mark.parametrize("bound", ["auto", "tight"])
def test_the_galaxies_estimate_is_proven_optimal(bound):
    found = pt.estimate(stored_draws("galaxy"), bound=bound)
    assert found.is_proven_optimal
    assert found.n_clusters == 3


def uneven_splits(n_items: int, n_draws: int, seed: int) -> pt.Draws:
    """Two halves, each cut in its own way in every draw: very many sets break the prices."""
    rng = np.random.default_rng(seed)
    place = rng.random((2, n_items))
    rows = []
    for _ in range(n_draws):
        cuts = [np.sort(rng.random(rng.integers(1, 4))) for _ in range(2)]
        noisy = place + 0.05 * rng.normal(size=place.shape)
        inside = [np.searchsorted(c, p) for c, p in zip(cuts, noisy, strict=True)]
        rows.append(np.where(np.arange(n_items) % 2, inside[0], 10 + inside[1]))
    return pt.Draws(np.array(rows))


@pytest.mark.parametrize("bound", ["fast", "auto"])
def test_the_proof_ends_when_its_work_is_done(bound, monkeypatch):
    """The linear programmes stay within their budget of iterations times rows."""
    import scipy.optimize

    from partita.search.bounds import EFFORTS

    used = []
    solve = scipy.optimize.linprog

    def counted(*args, **options):
        result = solve(*args, **options)
        used.append(result.nit * options["A_ub"].shape[0])
        return result

    monkeypatch.setattr(scipy.optimize, "linprog", counted)
    draws = uneven_splits(200, 60, 1)
    found = pt.estimate(draws, bound=bound)
    names = ["fast", "auto"][: ["fast", "auto"].index(bound) + 1]
    assert used
    assert sum(used) <= sum(EFFORTS[name].price_work for name in names)
    assert 0.0 < found.lower_bound <= found.expected_loss
    assert pt.estimate(draws, bound=bound, n_jobs=1).lower_bound == found.lower_bound


def test_less_work_proves_less_and_says_so():
    draws = pt.Draws(np.random.default_rng(0).integers(0, 4, (40, 10))).unique()
    best = pt.estimate(draws, bound=None)
    options = {"a": 1.0, "n_jobs": 1, "rounds": 6, "price_work": 1e9}
    few, cut = composition_bound(draws, best.labels, best.expected_loss, steps=1, **options)
    assert few == -np.inf
    assert cut
    many, _ = composition_bound(draws, best.labels, best.expected_loss, steps=10**8, **options)
    assert 0.0 < many <= best.expected_loss
    stopped, cut = composition_bound(
        draws, best.labels, best.expected_loss, steps=10**8, clock=Clock(0.0), **options
    )
    assert stopped == -np.inf
    assert cut


def test_a_time_limit_ends_the_tight_proof():
    rng = np.random.default_rng(0)
    truth = rng.integers(0, 8, 400)
    noise = rng.integers(0, 10, (200, 400))
    draws = pt.Draws(np.where(rng.random((200, 400)) < 0.6, noise, truth))
    found = pt.estimate(draws, bound="tight", time_limit=0.6)
    assert found.search.bound_seconds < 10.0  # without a limit it takes a minute
    assert any(limit.startswith("time") for limit in found.search.limits)
    assert found.lower_bound is None or found.lower_bound <= found.expected_loss
