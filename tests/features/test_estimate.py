"""Estimates of feature allocations and their loss: known minima, enumeration, laws, refusals."""

import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import partita as pt
from feature_cases import F5, f5, overlapping
from partita.errors import InvalidInputError
from partita.kernels import features as kernels
from partita.losses.builtin import matchings
from reference.losses import best_matching, faro
from simulated import FIVE

COLUMNS = [set(c) for r in range(1, 5) for c in itertools.combinations(range(4), r)]


def every_allocation(most):
    """All multisets of at most ``most`` features of four items."""
    ways = (itertools.combinations_with_replacement(COLUMNS, k) for k in range(most + 1))
    return pt.FeatureDraws.from_sets(itertools.chain.from_iterable(ways), n_items=4)


@pytest.mark.parametrize(
    ("a", "minimum", "sets"),
    [
        (0.25, 0.8, None),
        (0.5, 1.3, [((0, 1), (2, 3))]),
        (0.75, 1.35, [((0, 1), (2, 3))]),
        (1.0, 1.4, [((0, 1), (2, 3))]),
        (1.25, 1.4, [((0, 1), (2,)), ((0, 1), (3,))]),
        (1.5, 1.2, [((0, 1), (2,)), ((0, 1), (3,))]),
        (1.75, 0.7, [((0,),), ((2,),)]),
    ],
)
def test_minima_of_the_five_draws_at_seven_prices(a, minimum, sets):
    best = pt.estimate(f5(), loss=pt.FARO(a))
    assert best.expected_loss == pytest.approx(minimum, abs=1e-12)
    assert sets is None or best.sets in sets
    assert best.lower_bound <= minimum + 1e-12


def test_the_five_draws_are_proven_at_price_one():
    best = pt.estimate(f5())
    assert best.is_proven_optimal
    assert best.n_features == 2
    assert best.matched.tolist() == pytest.approx([1.0, 1.0])
    assert best.membership[:, 0] == pytest.approx([1.0, 0.8, 0.2, 0.0])
    assert pt.expected_loss(best, f5(), loss="faro") == pytest.approx([best.expected_loss])


def test_an_estimate_may_have_more_features_than_any_draw():
    a, b, c = {0, 1}, {2, 3}, {4, 5}
    best = pt.estimate(pt.FeatureDraws.from_sets([[a, b], [a, c], [b, c]], n_items=6))
    assert best.expected_loss == 2.0
    assert best.sets == ((0, 1), (2, 3), (4, 5))


def test_an_item_about_which_partitions_disagree_is_left_out():
    best = pt.estimate(pt.FeatureDraws.from_partitions(FIVE))
    assert best.expected_loss == pytest.approx(2.2)
    assert best.sets == ((3, 4, 5), (0, 1))


def test_search_finds_and_bounds_respect_the_minimum_of_all_allocations():
    everything = every_allocation(4)  # an optimum has at most 2 E K / a features
    rng = np.random.default_rng(4)
    gaps = []
    for case in range(24):
        n_draws = int(rng.integers(3, 9))
        chosen = rng.integers(everything.n_draws - 3060, size=n_draws)  # of at most 3 features
        weights = None if case % 2 else rng.dirichlet(np.ones(n_draws))
        weights = rng.integers(1, 4, n_draws) if case % 5 == 4 else weights  # copies
        draws = everything[chosen]._with(weights=weights)
        loss = pt.FARO((1.0, 0.7, 1.5)[case % 3])
        # Of draw and candidate the better matching is the same: few passes over all candidates.
        points = draws.rows_at(range(n_draws))
        matched = draws.probabilities @ [matchings(point, everything) for point in points]
        fixed = (2 - loss.a) * draws.probabilities @ draws.n_memberships
        losses = loss.a * everything.n_memberships + fixed - 2 * matched
        assert losses[chosen[0]] == pytest.approx(pt.expected_loss(draws[0], draws, loss)[0])
        least = losses.min()
        for bound in ("fast", "tight"):
            best = pt.estimate(draws, loss=loss, bound=bound)
            assert best.expected_loss == pytest.approx(least, abs=1e-9)
            assert best.lower_bound <= least + 1e-9
        gaps.append(best.gap)
    # Set packing is a relaxation, so a few proofs may stay open.
    assert sum(gap == 0.0 for gap in gaps) >= 20


@pytest.mark.parametrize("seed", range(20))
def test_gains_of_flips_and_features_are_those_of_best_matchings(seed):
    rng = np.random.default_rng(seed)
    n = int(rng.integers(2, 9))
    sets = [
        [set(np.flatnonzero(rng.random(n) < 0.5)) for _ in range(rng.integers(5))] for _ in range(7)
    ]
    draws, weights = pt.FeatureDraws.from_sets(sets, n_items=n), rng.dirichlet(np.ones(6))
    z, *others = ([set(feature) for feature in draws.sets(m)] for m in range(7))
    rest, nothing = draws[1:], np.zeros(n)
    packed = np.array(draws.point(0)), np.array(rest.columns), np.array(rest.offsets)

    def gain(family):
        return weights @ [best_matching(family, t) - best_matching(z, t) for t in others]

    up, down = np.zeros((len(z) + 1, n)), np.zeros((len(z), n))
    found = kernels.match_draws(*packed)
    kernels.flip_masses(*packed[1:], weights, found, up, down)
    for r, i in itertools.product(range(len(z) + 1), range(n)):
        family = [*z, set()]
        told = -down[r, i] if i in family[r] else up[r, i]
        family[r] = family[r] ^ {i}
        assert told == pytest.approx(gain(family))
    prices = np.empty(len(packed[1]), np.int64)
    kernels.shadow_prices(packed[2], found, prices)
    without = [(t, [*t[:c], *t[c + 1 :]]) for t in others for c in range(len(t))]
    assert prices.tolist() == [best_matching(z, t) - best_matching(z, less) for t, less in without]
    for feature in itertools.chain(*others):
        (column,) = np.array(pt.FeatureDraws.from_sets([[feature]], n_items=n).columns)
        told = kernels.column_gain(column, *packed[1:], weights, prices, nothing)
        assert told == pytest.approx(gain([*z, feature]))


def planted(n, k, n_draws, noise, seed):
    """Draws around one allocation: memberships flip at random, and a feature is lost sometimes."""
    rng = np.random.default_rng(seed)
    truth = rng.random((n, k)) < 0.2
    draws = []
    for _ in range(n_draws):
        kept = truth[:, rng.random(k) < 0.9]
        draws.append((kept ^ (rng.random(kept.shape) < noise))[:, rng.permutation(kept.shape[1])])
    return truth, pt.FeatureDraws(draws)


def test_a_planted_allocation_is_found_by_any_seed_and_number_of_threads():
    truth, draws = planted(90, 6, 60, 0.05, 1)
    best = pt.estimate(draws)
    assert best.expected_loss <= pt.expected_loss(truth, draws, loss="faro")[0] + 1e-9
    other = pt.estimate(draws, n_jobs=1, rng=0)
    assert other.allocation.tolist() == best.allocation.tolist()
    assert other.expected_loss == best.expected_loss
    assert pt.estimate(draws, rng=7).expected_loss == pytest.approx(best.expected_loss)
    shuffled = pt.FeatureDraws([draws[m][:, ::-1] for m in range(60)])
    assert pt.estimate(shuffled).allocation.tolist() == best.allocation.tolist()


def test_weights_count_as_copies():
    weighted = pt.estimate(f5(weights=[3, 1, 1, 1, 2]))
    copied = pt.estimate(f5()[[0, 0, 0, 1, 2, 3, 4, 4]])
    assert weighted.expected_loss == pytest.approx(copied.expected_loss)
    assert weighted.lower_bound == pytest.approx(copied.lower_bound)


def test_equal_draws_and_draws_without_features():
    same = pt.estimate(f5()[[1, 1, 1]])
    assert same.expected_loss == 0.0
    assert same.is_proven_optimal
    empty = pt.estimate(pt.FeatureDraws.from_sets([[], [{0}], []], n_items=2))
    assert empty.n_features == 0
    assert empty.allocation.shape == (2, 0)


def test_a_time_limit_returns_the_best_so_far():
    _, draws = planted(90, 6, 60, 0.05, 1)
    best = pt.estimate(draws, time_limit=1e-9)
    assert best.search.interrupted
    assert np.isfinite(best.expected_loss)


def test_the_path_of_the_five_draws():
    path = pt.price_path(f5())
    assert path.breakpoints == pytest.approx([0.4, 1.2, 1.6])
    assert path.n_features.tolist() == [3, 2, 2, 1]
    assert path.claimed[1:] == pytest.approx([0.8, 0.4, 0.0])
    assert path.missed[1:] == pytest.approx([0.6, 1.2, 2.8])
    known = {0.25: 0.8, 0.5: 1.3, 0.75: 1.35, 1.0: 1.4, 1.25: 1.4, 1.5: 1.2, 1.75: 0.7}
    assert path.expected(list(known)) == pytest.approx(list(known.values()))
    for a, value in known.items():
        own = pt.expected_loss(path.at(a), f5(), loss=pt.FARO(a))
        assert own == pytest.approx([value])
    assert (path.lower_bounds <= path.expected(path.edges) + 1e-12).all()
    with pytest.raises(InvalidInputError, match="where this path was sought"):
        path.at(0.01)


@pytest.mark.parametrize("n_items", [6, 24])
def test_groups_of_draws_and_set_packing_prove_more_than_pairs(n_items):
    rng = np.random.default_rng(2)
    draws = pt.FeatureDraws([rng.random((n_items, 3)) < 0.5 for _ in range(7)])
    fast, tight = (pt.estimate(draws, bound=bound) for bound in ("fast", "tight"))
    assert fast.lower_bound < tight.lower_bound <= tight.expected_loss


def test_set_packing_is_the_same_for_any_number_of_threads_and_stops_in_time():
    rng = np.random.default_rng(5)
    draws = pt.FeatureDraws([rng.random((12, 4)) < 0.4 for _ in range(25)], weights=rng.random(25))
    one, two = (pt.estimate(draws, bound="tight", n_jobs=n) for n in (1, 2))
    assert one.lower_bound == two.lower_bound > pt.estimate(draws, bound="fast").lower_bound
    short = pt.estimate(draws, bound="tight", time_limit=0.05)
    assert short.lower_bound is None or short.lower_bound <= one.lower_bound + 1e-9


def test_partitions_are_estimated_under_faro_too():
    best = pt.estimate(FIVE, loss="faro")
    assert best.expected_loss == pytest.approx(2.4)
    assert best.labels.tolist() in [[0, 0, 0, 1, 1, 1], [1, 1, 0, 0, 0, 0], [1, 1, 2, 0, 0, 0]]


def test_the_stored_draws_are_as_described_and_their_planted_features_are_found():
    simulated = pt.datasets.overlapping_features()
    assert simulated.draws == overlapping()
    best = pt.estimate(simulated.draws)
    assert best.is_proven_optimal
    np.testing.assert_array_equal(best.allocation, simulated.truth[:, [1, 0, 2]])


families = st.lists(st.sets(st.integers(0, 66), min_size=1), max_size=6)


def as_matrix(family, n=67):
    matrix = np.zeros((n, len(family)), bool)
    for k, feature in enumerate(family):
        matrix[list(feature), k] = True
    return matrix


@given(families, families, st.sampled_from([1.0, 0.5, 1.5, 0.123]))
def test_the_loss_is_its_definition(z, t, a):
    found = pt.distance(as_matrix(z), as_matrix(t), loss=pt.FARO(a))
    assert found == pytest.approx(faro(z, t, a), abs=1e-12)


def test_it_is_a_metric_on_all_small_allocations():
    columns = [set(c) for r in (1, 2, 3) for c in itertools.combinations(range(3), r)]
    every = [
        family for k in range(4) for family in itertools.combinations_with_replacement(columns, k)
    ]
    assert len(every) == 120
    table = pt.pairwise_distances(pt.FeatureDraws.from_sets(every, n_items=3), loss="faro")
    assert ((table == 0) == np.eye(120, dtype=bool)).all()
    assert (table == table.T).all()
    assert (table[:, None] <= table[:, :, None] + table[None]).all()
    assert (table == np.rint(table)).all()
    assert pt.FARO().with_price(0.5) == pt.FARO(0.5)
    assert (pt.FARO().is_metric, pt.FARO(0.7).is_metric, pt.FARO().is_exact) == (True, False, True)


def test_distances_of_the_five_draws():
    known = [[0, 1, 2, 3, 2], [1, 0, 1, 2, 3], [2, 1, 0, 3, 4], [3, 2, 3, 0, 3], [2, 3, 4, 3, 0]]
    assert pt.pairwise_distances(f5(), loss=pt.FARO()).tolist() == known
    assert pt.pairwise_distances(f5(), f5(), loss=pt.FARO()).tolist() == known
    weights = [1, 2, 3, 4, 5]
    expected = pt.expected_loss(f5(), f5(weights=weights), loss="faro")
    assert expected == pytest.approx(np.array(known) @ weights / 15)
    one = pt.expected_loss(f5()[1], f5(), loss=pt.FARO(1.5))
    assert one == pytest.approx([np.mean([faro(F5[1], t, 1.5) for t in F5])])


def test_on_partitions_it_is_twice_the_transfer_distance():
    assert pt.distance([0, 0, 1, 1, 2, 2], [0, 0, 0, 1, 1, 1], loss=pt.FARO()) == 4.0
    assert pt.distance([0, 0, 1, 1], [0, 1, 2, 3], loss=pt.FARO(0.3)) == 4.0
