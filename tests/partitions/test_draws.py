"""The container of draws, and noise among their labels: never guessed, placed as the rule says."""

import io
import pickle
import tracemalloc

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

import partita as pt
from partita import _storage as module
from partita.errors import InvalidInputError, InvalidLabelsError, InvalidWeightsError
from partita.labels import by_size, canonical, relabel
from reference.partitions import first_appearance
from strategies import label_vectors

tables = st.integers(1, 8).flatmap(
    lambda n: st.lists(
        st.lists(st.sampled_from([-3, -2, 0, 1, 2, 3]), min_size=n, max_size=n),
        min_size=1,
        max_size=8,
    )
)


@given(tables)
def test_labels_are_canonical_whatever_came(table):
    draws = pt.Draws(table)
    assert draws.labels.tolist() == [first_appearance(row) for row in table]
    assert draws.n_clusters.tolist() == [len(set(row)) for row in table]
    assert (draws.n_draws, draws.n_items) == np.shape(table)
    assert len(draws) == draws.n_draws


@pytest.mark.parametrize(
    "labels",
    [
        [[5, 5, -7], [10**18, -(10**18), 10**18]],
        [[2.0, 2.0, 7.0], [1.0, 0.0, 1.0]],
        [[True, True, False], [True, False, True]],
        [["b", "b", "a"], ["x", "y", "x"]],
        np.array([["b", "b", "a"], ["x", "y", "x"]], dtype=object),
        np.array([[3, 3, 1], [4, 2, 4]], dtype=np.int8)[:, ::1],
        [[2**70, 2**70, 2**70 + 1], [-2, 2**64, -2]],
        np.array([[2**53 + 1, 2**53 + 1, 2**53], [1, 0, 1]], dtype=object),
        np.asfortranarray([[3, 3, 1], [4, 2, 4]]),
    ],
)
def test_every_kind_of_label(labels):
    assert pt.Draws(labels).labels.tolist() == [[0, 0, 1], [0, 1, 0]]


@pytest.mark.parametrize(
    ("n_clusters", "dtype"),
    [(1, np.uint8), (256, np.uint8), (257, np.uint16), (65536, np.uint16), (65537, np.uint32)],
)
def test_the_dtype_is_the_smallest_that_holds_the_labels(n_clusters, dtype):
    draws = pt.Draws(np.stack([np.zeros(n_clusters, int), np.arange(n_clusters)]))
    assert draws.labels.dtype == dtype
    assert draws.labels[1, -1] == n_clusters - 1


def test_the_dtype_grows_in_a_later_block(monkeypatch):
    monkeypatch.setattr(module, "BLOCK_LABELS", 300)
    table = np.stack([np.arange(300) // 2, np.arange(300), np.zeros(300, int)])
    assert np.array_equal(pt.Draws(table).labels, table)
    assert pt.Draws(table).labels.dtype == np.uint16


def test_nothing_can_be_changed():
    labels = np.array([[0, 1], [1, 1]])
    weights, chain = np.array([1.0, 3.0]), np.array([0, 1])
    draws = pt.Draws(labels, weights=weights, chain=chain, item_names=["a", "b"])
    labels[:], weights[:], chain[:] = 7, 7, 7
    assert draws.labels.tolist() == [[0, 1], [0, 0]]
    assert draws.weights.tolist() == [0.25, 0.75]
    assert draws.chain.tolist() == [0, 1]
    for array in (draws.labels, draws.weights, draws.chain, draws.n_clusters):
        with pytest.raises(ValueError, match="read-only"):
            array[0] = 1
    with pytest.raises(AttributeError, match="immutable"):
        draws.weights = None


def test_a_block_is_all_that_is_held_in_a_larger_dtype():
    table = np.random.default_rng(0).integers(0, 50, (15_000, 2_000), dtype=np.uint8)
    pt.Draws(table[:1])  # compile first
    tracemalloc.start()
    draws = pt.Draws(table)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert draws.labels.nbytes == table.nbytes
    # Beside the result: one block of 4.2 million labels as int64 and as int32, 50 MB. The whole
    # matrix as int64 would take 240 MB.
    assert peak < table.nbytes + 60e6


@given(tables, st.data())
def test_unique_merges_equal_partitions_and_keeps_their_mass(table, data):
    table += table[: data.draw(st.integers(0, len(table)))]
    masses = data.draw(st.lists(st.integers(1, 9), min_size=len(table), max_size=len(table)))
    draws = pt.Draws(table, weights=masses)
    expected: dict[tuple, int] = {}
    for row, mass in zip(table, masses, strict=True):
        key = tuple(first_appearance(row))
        expected[key] = expected.get(key, 0) + mass
    merged = draws.unique()
    assert [tuple(row) for row in merged.labels.tolist()] == list(expected)
    np.testing.assert_allclose(merged.weights, np.array([*expected.values()]) / sum(masses))
    index, mass = draws.unique_index()
    assert np.array_equal(merged.labels[index], draws.labels)
    np.testing.assert_allclose(mass, merged.weights)


def test_unique_survives_colliding_hashes(monkeypatch):
    import partita.kernels.labels as kernels

    monkeypatch.setattr(kernels, "hash_rows", lambda rows: np.zeros(len(rows), np.uint64))
    merged = pt.Draws([[0, 1, 1], [0, 0, 0], [0, 1, 1], [0, 1, 2]]).unique()
    assert merged.labels.tolist() == [[0, 1, 1], [0, 0, 0], [0, 1, 2]]
    np.testing.assert_allclose(merged.weights, [0.5, 0.25, 0.25])


def numbered(n_draws: int, **kwargs) -> pt.Draws:
    """Draws that can be told apart: draw m puts the first m + 1 of its items together."""
    return pt.Draws(np.arange(n_draws + 1) > np.arange(n_draws)[:, None], **kwargs)


def which(draws: pt.Draws) -> list[int]:
    return ((draws.labels == 0).sum(axis=1) - 1).tolist()


def test_drop_and_thin_without_chains_and_within_each():
    draws = numbered(7)
    assert which(draws.drop(0)) == [0, 1, 2, 3, 4, 5, 6]
    assert which(draws.drop(5)) == [5, 6]
    assert which(draws.thin(3)) == [0, 3, 6]
    assert which(draws.drop(1).thin(2)) == [1, 3, 5]
    with pytest.raises(InvalidInputError, match="leaves nothing"):
        draws.drop(7)
    draws = numbered(8, chain=["b", "a", "a", "b", "b", "a", "a", "a"])
    assert which(draws.drop(2)) == [4, 5, 6, 7]
    assert which(draws.thin(2)) == [0, 1, 4, 5, 7]
    assert draws.drop(2).chain.tolist() == ["b", "a", "a", "a"]
    # A chain shorter than the burn-in disappears; the others stay.
    assert which(draws.drop(3)) == [6, 7]


def test_weights_of_any_size_are_scaled():
    labels = [[0, 1], [0, 0], [0, 1]]
    for scale in (1.7e308, 1e300, 1.0, 1e-300, 1e-320):
        weights = pt.Draws(labels, weights=np.array([1.0, 0.5, 1.0]) * scale).weights
        np.testing.assert_allclose(weights, [0.4, 0.2, 0.4], rtol=1e-3)  # 1e-320 has few digits
        assert weights.sum() == pytest.approx(1, abs=1e-15)
    assert pt.Draws(labels, weights=[1e-300, 1.0, 1e-200]).weights.min() == 1e-300


def test_selection_of_chains():
    draws = numbered(5, chain=[0, 0, 2, 2, 5])
    assert which(draws.select_chains(2)) == [2, 3]
    assert which(draws.select_chains([5, 0])) == [0, 1, 4]
    assert draws.n_chains == 3
    with pytest.raises(InvalidInputError, match="no chain 1; the chains are"):
        draws.select_chains([0, 1])
    with pytest.raises(InvalidInputError, match="no chain ids"):
        numbered(3).select_chains(0)


def test_selection_of_items_by_position_mask_and_name():
    draws = pt.Draws([[0, 1, 1, 2], [0, 0, 1, 0]], item_names=list("abcd"), weights=[1, 3])
    for items in ([3, 1], [-1, 1], ["d", "b"], np.array(["d", "b"], dtype=object)):
        part = draws.select_items(items)
        assert part.labels.tolist() == [[0, 1], [0, 0]]
        assert part.item_names == ("d", "b")
        assert part.weights.tolist() == [0.25, 0.75]
    part = draws.select_items([False, True, False, True])
    assert part.item_names == ("b", "d")
    assert part.n_clusters.tolist() == [2, 1]


@pytest.mark.parametrize(
    ("items", "message"),
    [
        ([4], "0 … 3"),
        ([-5], "0 … 3"),
        ([], "no items"),
        ([1, 1], "twice"),
        ([1, -3], "twice"),
        ([True, False], "length 2; expected 4"),
        (["x"], "no item named 'x'"),
    ],
)
def test_items_that_are_not_there(items, message):
    draws = pt.Draws([[0, 1, 1, 2]], item_names=list("abcd"))
    with pytest.raises(InvalidInputError, match=message):
        draws.select_items(items)


def test_concatenation_keeps_the_share_of_each_part():
    a, b = pt.Draws([[0, 1], [0, 0]], weights=[1, 3]), pt.Draws([[0, 1]] * 6)
    both = pt.Draws.concat([a, b])
    assert both.labels.tolist() == [[0, 1], [0, 0]] + [[0, 1]] * 6
    np.testing.assert_allclose(both.weights, [0.0625, 0.1875] + [0.125] * 6)
    assert pt.Draws.concat([b, b]).weights is None


def test_concatenation_of_chains():
    plain = pt.Draws([[0]])
    early, late = (pt.Draws([[0], [0]], chain=[name, name]) for name in (0, 7))
    assert pt.Draws.concat([early, late]).chain.tolist() == [0, 0, 7, 7]
    assert pt.Draws.concat([early, early]).chain.tolist() == [0, 0, 1, 1]
    assert pt.Draws.concat([plain, late, plain]).chain.tolist() == [0, 1, 1, 2]
    assert pt.Draws.concat([plain]).chain is None


def test_equality_and_pickle():
    draws = pt.Draws([[0, 1], [0, 0]], weights=[1, 2], chain=[0, 1], item_names=["a", "b"])
    copy = pickle.loads(pickle.dumps(draws))
    assert copy == draws
    assert not copy.labels.flags.writeable
    assert draws != pt.Draws([[0, 1], [0, 0]])
    assert pt.Draws([[0, 1]]) == pt.Draws([["x", "y"]])
    assert pt.Draws([[0, 1]]) != 3
    with pytest.raises(TypeError, match="unhashable"):
        hash(draws)


NO_LABELS = [
    ([], "shape"),
    (np.empty((0, 3)), "no draws"),
    (np.empty((3, 0)), "no items"),
    ([0, 1, 1], r"labels\[None, :\]"),
    (np.zeros((2, 2, 2), int), "as_draws"),
    ([[0, 1], [0]], "different lengths"),
    ([[0.0, np.nan]], "NaN at draw 0, item 1"),
    ([[0.0, 1.0], [1.5, 0.0]], "whole numbers"),
    ([[0.0, np.inf]], "whole numbers"),
    ([["a", ""]], "empty string"),
    (np.array([["a", None]], dtype=object), "missing value"),
    (np.array([[1 + 2j]]), "complex"),
    ([[1.0, 0.5], [0.5, 1.0]], "similarity matrix"),
]
NO_WEIGHTS = [
    *(([1.0], "shape"), ([1.0, 2.0, 3.0], "shape")),
    *(([1.0, -1.0], "negative"), ([1.0, 0.0], "zero"), ([0.0, 0.0], "all weights are zero")),
    ([1e-200, 1e200], "too small beside the largest"),
    *(([1.0, np.nan], "finite"), ([1.0, np.inf], "finite")),
    *((["a", "b"], "numbers"), (np.array([1 + 2j, 1]), "numbers")),
]


@pytest.mark.parametrize(
    ("field", "value", "error", "message"),
    [
        *(("labels", value, InvalidLabelsError, message) for value, message in NO_LABELS),
        *(("weights", value, InvalidWeightsError, message) for value, message in NO_WEIGHTS),
        *(("chain", chain, InvalidInputError, None) for chain in ([0], [0.5, 1.0], [[0, 1]])),
        *(("item_names", names, InvalidInputError, None) for names in (["a"], ["a", "a"])),
    ],
)
def test_what_cannot_be_used_is_refused(field, value, error, message):
    with pytest.raises(error, match=message) as caught:
        pt.Draws(**({"labels": [[0, 1], [0, 0]]} | {field: value}))
    assert caught.value.argument == field


def test_a_bad_label_deep_in_the_matrix_is_named_by_its_own_position(monkeypatch):
    monkeypatch.setattr(module, "BLOCK_LABELS", 10)
    table = np.zeros((50, 2))
    table[37, 1] = np.nan
    with pytest.raises(InvalidLabelsError, match="draw 37, item 1"):
        pt.Draws(table)
    table[37, 1] = 0.5
    with pytest.raises(InvalidLabelsError, match=r"draws\[37, 1\]"):
        pt.Draws(table)


@given(st.lists(st.integers(0, 9), min_size=1, max_size=30))
def test_the_partition_stays_and_sizes_fall(labels):
    found = by_size(labels)
    assert np.array_equal(canonical(found), canonical(labels))
    sizes = np.bincount(found)
    first = [int(np.flatnonzero(found == k)[0]) for k in range(sizes.size)]
    keys = [(-size, item) for size, item in zip(sizes.tolist(), first, strict=True)]
    assert keys == sorted(keys)


def test_rows_one_by_one():
    assert by_size([[0, 1, 1], [2, 2, 2]]).tolist() == [[1, 0, 0], [0, 0, 0]]


@given(label_vectors(9))
def test_labels_that_partita_made_are_renumbered_without_checks(row):
    made = np.array(row)  # 0, 1, … with gaps
    assert relabel(made).tolist() == first_appearance(row)
    assert relabel(np.stack([made, made])).tolist() == [first_appearance(row)] * 2
    assert by_size(made).tolist() == by_size(canonical(row)).tolist()


# --------------------------------------------------------------------------- noise is never guessed


NOISY = [[0, 0, -1, -1], [0, 1, 1, -1]]
SINGLETONS = [[0, 0, 1, 2], [0, 1, 1, 2]]
CLUSTER = [[0, 0, 1, 1], [0, 1, 1, 2]]


@pytest.mark.parametrize("make", [np.array, lambda x: x, lambda x: np.array(x, float)])
def test_the_two_meanings(make):
    assert pt.as_draws(make(NOISY), noise=(-1, "singletons")).labels.tolist() == SINGLETONS
    assert pt.as_draws(make(NOISY), noise=(-1, "cluster")).labels.tolist() == CLUSTER


@pytest.mark.parametrize("wrap", [np.array, lambda x: np.array(x, object), lambda x: x])
def test_minus_one_beside_other_labels_is_refused_with_advice(wrap):
    with pytest.raises(InvalidLabelsError, match=r"draw 0, item 2.*noise=\(-1, 'singletons'\)"):
        pt.as_draws(wrap(NOISY))
    with pytest.raises(InvalidLabelsError, match="noise="):
        pt.Draws(wrap(NOISY))
    with pytest.raises(InvalidLabelsError, match="item 2"):
        pt.distance(wrap(NOISY[0]), [0, 0, 1, 1])


def test_negative_labels_alone_are_labels():
    assert pt.as_draws([[-1, -1, -2]]).labels.tolist() == [[0, 0, 1]]
    assert pt.as_draws([[-1, -1, -1]]).labels.tolist() == [[0, 0, 0]]
    assert pt.as_draws([[-5, 3, 3]]).labels.tolist() == [[0, 1, 1]]


def test_any_label_can_mark_noise():
    text = [["a", "noise", "noise", "a"]]
    assert pt.as_draws(text, noise=("noise", "singletons")).labels.tolist() == [[0, 1, 2, 0]]
    assert pt.as_draws([[7, 9, 9, 7]], noise=(9, "singletons")).labels.tolist() == [[0, 1, 2, 0]]


def test_files_and_tables_follow_the_rule(tmp_path):
    text = "a,b,c,d\n0,0,-1,-1\n0,1,1,-1\n"
    with pytest.raises(InvalidLabelsError, match="noise="):
        pt.read_draws(io.StringIO(text))
    found = pt.read_draws(io.StringIO(text), noise=(-1, "singletons"))
    assert found.labels.tolist() == SINGLETONS
    np.save(tmp_path / "draws.npy", np.array(NOISY))
    for path in (tmp_path / "draws.npy", str(tmp_path / "draws.npy")):
        assert pt.as_draws(path, noise=(-1, "cluster")).labels.tolist() == CLUSTER
    frame = pd.DataFrame(NOISY, columns=list("abcd"))
    assert pt.as_draws(frame, noise=(-1, "singletons")).labels.tolist() == SINGLETONS
    # The rule ends with the reading.
    with pytest.raises(InvalidLabelsError, match="noise="):
        pt.as_draws(frame)


def test_the_command_line_and_the_estimator(tmp_path, partita):
    path = tmp_path / "draws.csv"
    path.write_text("a,b,c,d\n0,0,-1,-1\n0,1,1,-1\n")
    out = tmp_path / "clean.npz"
    partita("convert", path, out, "--noise", "-1:singletons")
    assert pt.read_draws(out).labels.tolist() == SINGLETONS
    partita("convert", path, out, "--noise", "-1", code=2)
    sklearn = pytest.importorskip("partita.sklearn")
    consensus = sklearn.PartitionConsensus(noise=(-1, "singletons")).fit(np.array(NOISY).T)
    assert consensus.labels_.shape == (4,)
    with pytest.raises(InvalidLabelsError, match="noise="):
        sklearn.PartitionConsensus().fit(np.array(NOISY).T)


def test_partial_partitions():
    part = pt.lattice.PartialPartition([5, -1, 2, 2, -3])
    assert part.labels.tolist() == [1, -1, 0, 0, -1]
    assert part.items.tolist() == [0, 2, 3]
    assert (part.size, part.n_clusters, part.is_full, len(part)) == (3, 2, False, 5)
    assert part == pt.lattice.PartialPartition([9, -1, 4, 4, -1])
    assert part != pt.lattice.PartialPartition([9, -1, 4, 9, -1])
    assert part.agrees([0, 0, 1, 1, 2])
    assert not part.agrees([0, 0, 0, 0, 1])
    assert np.asarray(part).tolist() == part.labels.tolist()
    with pytest.raises(ValueError, match="read-only"):
        part.labels[0] = 3
    nothing = pt.lattice.PartialPartition([-1, -1])
    assert (nothing.size, nothing.n_clusters, nothing.agrees([0, 1])) == (0, 0, True)


def test_partial_partitions_where_they_have_a_meaning():
    part = pt.lattice.PartialPartition([0, -1, 0, 1])
    assert pt.lattice.refines(part, [0, 1, 0, 0])  # each stated cluster lies within one cluster
    assert pt.lattice.refines(part, [0, 1, 0, 2])
    assert not pt.lattice.refines(part, [0, 0, 1, 1])
    for refused in (
        lambda: pt.distance(part, [0, 1, 0, 1]),
        lambda: pt.lattice.refines([0, 1, 0, 1], part),
        lambda: pt.estimate(part),
    ):
        with pytest.raises(InvalidLabelsError):
            refused()
