"""Lower bounds are certificates: never above the minimum over all partitions."""

from dataclasses import replace
from itertools import permutations

import numpy as np
import pytest
import scipy.optimize

import partita as pt
from partita._resources import Clock
from partita.search.bounds import EFFORTS, lower_bound
from partita.search.bounds.composition import composition_bound
from partita.search.bounds.matching import matching_bound
from partita.search.bounds.pairs import pair_programme, pairwise_bound, triangle_bound
from search_tasks import all_losses, make_task, random_posterior

METRICS = [pt.VI(), pt.Binder(), pt.ID(), pt.NID(), pt.NVI()]
PRICED = [pt.VI(a=0.4), pt.VI(a=1.6), pt.Binder(a=0.4), pt.Binder(a=1.6)]


@pytest.mark.parametrize("loss", METRICS + PRICED, ids=repr)
@pytest.mark.parametrize("bound", ["fast", "auto", "tight"])
def test_the_bound_of_an_estimate_is_never_above_the_minimum(loss, bound):
    for seed in (0, 5, 7):
        n_items = 4 + seed % 4
        draws = random_posterior(n_items, 5 + 5 * seed, seed, weighted=seed in (0, 2, 5))
        minimum = all_losses(draws, loss)[1].min()
        found = pt.estimate(draws, loss=loss, method="sweep", bound=bound)
        assert found.lower_bound is not None
        assert found.lower_bound <= minimum + 1e-12
        assert found.lower_bound >= 0.0


def steep(name: str) -> pt.Draws:
    """Sixty to two hundred draws of twelve items, with weights of the name."""
    n_draws = {"halves": 60, "sevenths": 200, "log-normal": 150, "beyond int64": 70}[name]
    rng = np.random.default_rng(3)
    weights = {
        "halves": 0.5 ** np.arange(n_draws),
        "sevenths": 0.7 ** np.arange(n_draws),
        "log-normal": np.exp(2 * rng.normal(size=n_draws)),
        "beyond int64": 10.0 ** rng.uniform(-12, 12, n_draws),
    }[name]
    return pt.Draws(random_posterior(12, n_draws, 7).labels, weights=weights)


@pytest.mark.parametrize(
    ("name", "loss"),
    [
        *((name, pt.VI()) for name in ("halves", "sevenths", "log-normal", "beyond int64")),
        *((name, pt.ID()) for name in ("halves", "log-normal")),
        *((name, pt.NID()) for name in ("sevenths", "beyond int64")),
        *((name, pt.NVI()) for name in ("halves", "sevenths")),
    ],
    ids=repr,
)
def test_more_work_never_proves_less_on_unequal_weights(name, loss):
    draws = steep(name)
    fast, auto, tight = (pt.estimate(draws, loss=loss, bound=b) for b in ("fast", "auto", "tight"))
    assert 0.0 < fast.lower_bound <= auto.lower_bound <= tight.lower_bound <= tight.expected_loss
    if draws.unique().weights.max() >= 0.5:
        assert fast.is_proven_optimal


class Countdown(Clock):
    """A time limit that is reached after the clock has been asked a number of times."""

    def __init__(self, asked: int) -> None:
        super().__init__(np.inf)
        self.asked = asked

    def is_up(self) -> bool:
        self.asked -= 1
        return self.asked < 0


@pytest.mark.parametrize("loss", [pt.VI(), pt.VI(a=1.4), pt.ID(), pt.Binder()], ids=repr)
def test_more_work_never_proves_less_wherever_time_cuts_it(loss, monkeypatch):
    # The small effort has only matched draws, as on most data; the large one begins with prices.
    monkeypatch.setitem(EFFORTS, "fast", replace(EFFORTS["fast"], table_steps=0))
    draws = random_posterior(40, 300, 2).unique()
    labels = pt.canonical(pt.estimate(draws, loss=loss, bound=None).labels)
    value = pt.expected_loss(labels, draws, loss=loss)[0]
    for asked in (0, 1, 2, 5, 17, 18, 40, 160):
        proven = []
        for name in ("fast", "auto", "tight"):
            task = make_task(draws, loss, n_starts=1, n_jobs=1, clock=Countdown(asked))
            proven.append(lower_bound(task, labels, value, name))
        assert proven == sorted(proven)


def test_unequal_weights_are_proven_as_well_as_the_best_matching_of_all_draws():
    # The bound of the linear programme max Σ x_ab d_ab, Σ_b x_ab ≤ w_a, over all pairs at once.
    draws = steep("sevenths").unique()
    far = pt.pairwise_distances(draws)
    first, second = np.triu_indices(draws.n_draws, 1)
    meets = np.zeros((draws.n_draws, first.size))
    meets[first, np.arange(first.size)] = meets[second, np.arange(first.size)] = 1.0
    best = -scipy.optimize.linprog(-far[first, second], A_ub=meets, b_ub=draws.weights).fun
    for whole, share in ((48, 0.99), (256, 1 - 1e-9)):
        rng = np.random.default_rng(0)
        value = matching_bound(draws, pt.VI(), block=16, whole=whole, rng=rng)
        assert share * best <= value <= best * (1 + 1e-9)


@pytest.mark.parametrize("loss", METRICS, ids=repr)
def test_draws_of_equal_mass_are_proven_by_the_best_of_all_permutations(loss):
    draws = random_posterior(6, 7, 3)
    draws = pt.Draws(np.unique(draws.labels, axis=0))
    far, n = pt.pairwise_distances(draws, loss=loss), draws.n_draws
    best = max(far[np.arange(n), list(order)].sum() for order in permutations(range(n)))
    rng = np.random.default_rng(0)
    value = matching_bound(draws, loss, block=n, whole=n, rng=rng)
    assert value == pytest.approx(0.5 * best / n)


@pytest.mark.parametrize("loss", METRICS, ids=repr)
@pytest.mark.parametrize(("n_items", "k"), [(12, 3), (130, 4), (70, 20), (70, 40)])
def test_many_draws_of_equal_mass_are_proven_by_the_best_matchings_of_two_halves(loss, n_items, k):
    # Few clusters are compared as sets of bits, more by tables, many by walks.
    draws = pt.Draws(np.random.default_rng(k).integers(0, k, (19, n_items)))
    far = pt.pairwise_distances(draws, loss=loss)
    order = np.arange(19)
    np.random.default_rng(0).shuffle(order)
    best = 0.0
    # Ten draws and six in halves; three of an odd number among themselves.
    for one, other, count in ((0, 5, 5), (10, 13, 3), (16, 16, 3)):
        rows = order[one : one + count]
        sums = [far[rows, list(to)].sum() for to in permutations(order[other : other + count])]
        best += max(sums) / (2 if one == other else 1)
    value = matching_bound(draws, loss, block=5, whole=5, rng=np.random.default_rng(0))
    assert value == pytest.approx(best / 19, rel=1e-9)


def test_triangles_tighten_the_bound_and_never_pass_the_minimum():
    # One item with everyone, the others apart: every second pair wants to break a triangle.
    draws = [[0, *(0 if j == i else j + 1 for j in range(6))] for i in range(6)]
    similarity = pt.similarity(pt.Draws(draws))
    similarity[0, 1:] = similarity[1:, 0] = 0.9
    programme = pair_programme(similarity, pt.Binder())
    partitions = np.array(list(pt.lattice.all_partitions(7)))
    minimum = pt.expected_loss(partitions, similarity=similarity, loss="binder").min()
    loose = pairwise_bound(programme)
    tight, cut_short = triangle_bound(programme, minimum, work=1e9)
    assert loose < tight <= minimum + 1e-12
    assert not cut_short
    assert triangle_bound(programme, minimum, work=0) == (loose, True)
    assert triangle_bound(programme, minimum, work=1e9, seconds=lambda: 0.0) == (loose, True)


def test_random_labelings_do_not_hold_the_proof_up():
    # No structure at all: almost every triangle is in conflict, and the programmes are hard.
    labels = np.random.default_rng(0).integers(0, 6, (10, 56))
    found = pt.estimate(labels, loss="binder")
    assert 0.0 < found.lower_bound <= found.expected_loss


@pytest.mark.parametrize("name", ["vi_lb", "one_minus_ari", "one_minus_pear"])
def test_losses_without_a_known_bound_have_none(name):
    found = pt.estimate(random_posterior(12, 20, 0), loss=name)
    assert found.lower_bound is None
    assert found.gap is None
    assert not found.is_proven_optimal


@pytest.mark.parametrize("loss", [*METRICS, *PRICED, pt.Entropy(1.5, a=1.3)], ids=repr)
@pytest.mark.parametrize("ratio", [1.0, 1e8, 1e18, 1e30])
def test_a_draw_that_holds_enough_is_proven_to_be_a_minimiser(loss, ratio):
    """Just enough of the mass, or so much that similarities round the rest away."""
    rows = random_posterior(7, 9, 3).labels
    enough = max(loss.price, 2.0 - loss.price) / 2.0 + 1e-9
    weights = np.full(len(rows), (1.0 - enough) / (len(rows) - 1))
    weights[0] = enough * ratio
    draws = pt.Draws(rows, weights=weights)
    found = pt.estimate(draws, loss=loss, method="sweep")
    assert found.is_proven_optimal
    assert found.lower_bound == pytest.approx(all_losses(draws, loss)[1].min(), rel=1e-9)
    assert pt.distance(found, rows[0], loss) == 0.0


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
    used, solve = [], scipy.optimize.linprog

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
    assert any(limit.startswith("time") for limit in found.search.limits)
    assert found.lower_bound is None or found.lower_bound <= found.expected_loss
