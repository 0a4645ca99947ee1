"""FARO against its definition and literature, its kernels against every change one by one."""

import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import partita as pt
from feature_cases import F5, f5
from partita.errors import InvalidInputError
from partita.features.draws import FeatureDraws
from partita.kernels import features as kernels
from reference.losses import best_matching, faro


def case(seed):
    """An allocation and some draws of few items, with many ties."""
    rng = np.random.default_rng(seed)
    n = int(rng.integers(2, 9))
    sets = [
        [set(np.flatnonzero(rng.random(n) < 0.5).tolist()) for _ in range(rng.integers(0, 5))]
        for _ in range(7)
    ]
    draws = FeatureDraws.from_sets(sets, n_items=n)
    families = [[set(f) for f in draws.sets(m)] for m in range(7)]
    weights = rng.dirichlet(np.ones(6))
    return n, families[0], families[1:], draws, weights


def arrays(draws):
    rest = draws[1:]
    return np.array(draws.point(0)), np.array(rest.columns), np.array(rest.offsets)


@pytest.mark.parametrize("seed", range(40))
def test_flips_prices_and_gains_are_those_of_evaluation(seed):
    n, z, others, draws, weights = case(seed)
    packed = arrays(draws)
    k = len(z)
    base = [best_matching(z, t) for t in others]
    out = np.empty(6, np.int64)
    kernels.matched_overlaps(*packed, out)
    assert out.tolist() == base

    up, down = np.zeros((k + 1, n)), np.zeros((k, n))
    found = kernels.match_draws(*packed)
    kernels.flip_masses(*packed[1:], weights, *found, up, down)
    for r in range(k + 1):
        family = [*z, set()]
        for i in range(n):
            changed = [*family[:r], family[r] ^ {i}, *family[r + 1 :]]
            gains = [best_matching(changed, t) - b for t, b in zip(others, base, strict=True)]
            if i in family[r]:
                assert -np.dot(gains, weights) == pytest.approx(down[r, i])
            else:
                assert np.dot(gains, weights) == pytest.approx(up[r, i])

    prices = np.empty(len(packed[1]), np.int64)
    kernels.shadow_prices(packed[2], *found, prices)
    removed = [
        b - best_matching(z, [*t[:c], *t[c + 1 :]])
        for t, b in zip(others, base, strict=True)
        for c in range(len(t))
    ]
    assert prices.tolist() == removed

    for t in others:
        for c in t[:2]:
            column = FeatureDraws.from_sets([[c]], n_items=n).columns[0].copy()
            gains = [best_matching([*z, c], x) - b for x, b in zip(others, base, strict=True)]
            gain = kernels.column_gain(column, *packed[1:], weights, prices, np.zeros(n))
            assert gain == pytest.approx(np.dot(gains, weights))


@pytest.mark.parametrize("seed", range(12))
def test_the_best_column_of_every_block_is_found(seed):
    n, _, others, draws, weights = case(seed)
    rng = np.random.default_rng(seed)
    _, columns, offsets = arrays(draws)
    bits = columns[:, 0] >> np.uint64(64 - n)
    prices, low = 2.0 * rng.random(len(bits)), np.uint64(seed % n)
    rest = np.arange(1 << int(low), dtype=np.uint64)
    overlaps = np.bitwise_count(bits[:, None] & rest).astype(float)
    blocks = np.arange(1 << (n - int(low)))
    gain, place = np.empty(blocks.size), np.empty(blocks.size, np.int64)
    work = np.empty(rest.size), np.empty(rest.size)
    kernels.price_columns(
        bits >> low, overlaps, offsets, weights, prices, 0.4, blocks, *work, gain, place
    )  # fmt: skip

    def gain_of(z):
        items = {n - 1 - i for i in range(n) if z >> i & 1}
        over = iter(prices.tolist())
        left = [max([0.0, *(len(items & t) - next(over) for t in draw)]) for draw in others]
        return np.dot(weights, left) - 0.4 * len(items)

    for block in blocks.tolist():
        inside = [gain_of((block << int(low)) | x) for x in range(rest.size)]
        assert gain[block] == pytest.approx(max(inside))
        assert inside[place[block]] == pytest.approx(max(inside))


# ------------------------------------------------------------------------------------------- FARO


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


def test_what_it_says_of_itself():
    assert pt.FARO().is_metric
    assert not pt.FARO(0.7).is_metric
    assert pt.FARO().is_exact
    assert pt.FARO().with_price(0.5) == pt.FARO(0.5)
    with pytest.raises(InvalidInputError, match="strictly between 0 and 2"):
        pt.FARO(2)
