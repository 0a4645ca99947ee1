"""The posterior similarity matrix against its slow references, and its promises."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import partita as pt
from partita import _resources
from partita import similarity_matrix as module
from partita.errors import InvalidInputError, MemoryLimitError
from reference import losses as slow


def simulated(n_draws: int, n_items: int, n_clusters: int, seed: int = 0) -> np.ndarray:
    return np.random.default_rng(seed).integers(0, n_clusters, (n_draws, n_items))


def shares_of(labels, weights=None) -> np.ndarray:
    return np.array(slow.similarity(labels, weights), float)


def by_columns(labels: np.ndarray) -> np.ndarray:
    return np.array([(labels == labels[:, [i]]).mean(axis=0) for i in range(labels.shape[1])])


tables = st.integers(1, 20).flatmap(
    lambda n: st.lists(st.lists(st.integers(0, 5), min_size=n, max_size=n), min_size=1, max_size=9)
)


@given(tables)
def test_unweighted_entries_are_counts_over_draws_exactly(table):
    exact = shares_of(table)
    assert np.array_equal(pt.similarity(table), exact)


@given(tables, st.data())
def test_weighted_entries_are_shares_of_the_weight(table, data):
    weights = data.draw(st.lists(st.floats(1e-3, 1e3), min_size=len(table), max_size=len(table)))
    exact = shares_of(table, weights)
    got = pt.similarity(pt.Draws(table, weights=weights))
    # Sums of at most nine terms: a few units in the last place.
    np.testing.assert_allclose(got, exact, rtol=0, atol=1e-14)
    assert np.array_equal(got, got.T)
    assert (np.diagonal(got) == 1.0).all()
    assert got.max() <= 1.0
    assert (got[exact == 1] == 1.0).all()


@pytest.mark.parametrize("n_draws", [1, 3, 4095, 4096, 4097, 9000, 70_000])
def test_counts_survive_every_boundary_of_the_passes_over_draws(n_draws):
    labels = simulated(n_draws, 7, 3)
    labels[:, 6] = labels[:, 0]  # together in every draw: the largest count there is
    assert np.array_equal(pt.similarity(labels), by_columns(labels))


@pytest.mark.parametrize("n_items", [1, 2, 15, 16, 17, 63, 64, 65, 130])
@pytest.mark.parametrize("weighted", [False, True])
def test_every_number_of_items(n_items, weighted):
    labels = simulated(30, n_items, 4)
    weights = np.full(30, 2.0) if weighted else None
    got = pt.similarity(pt.Draws(labels, weights=weights))
    atol = 3e-14 if weighted else 0
    np.testing.assert_allclose(got, by_columns(labels), rtol=0, atol=atol)
    assert np.array_equal(got, got.T)


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("small", ["_CHUNK_LABELS", "_BATCH_CELLS"])
def test_chunks_of_draws_and_of_rows_add_up(monkeypatch, weighted, small):
    labels = simulated(1300, 40, 6)
    weights = np.linspace(1, 2, 1300) if weighted else None
    draws = pt.Draws(labels, weights=weights)
    whole = pt.similarity(draws)
    monkeypatch.setattr(module, small, 1)
    np.testing.assert_allclose(pt.similarity(draws), whole, rtol=1e-13 if weighted else 0)


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize(
    "rows", [slice(0, 1), slice(5, 40), slice(None, None, 7), [3], [49, 0, 17], np.arange(50) > 30]
)
def test_a_block_of_rows_is_that_part_of_the_matrix(rows, weighted):
    weights = np.random.default_rng(1).random(60) + 0.1 if weighted else None
    draws = pt.Draws(simulated(60, 50, 5), weights=weights)
    assert np.array_equal(pt.similarity(draws, rows=rows), pt.similarity(draws)[rows])


def test_more_than_65536_clusters():
    n = 70_000
    draws = pt.Draws(np.stack([np.arange(n), np.arange(n) % 69_999, np.zeros(n, int)]))
    assert draws.labels.dtype == np.uint32
    block = pt.similarity(draws, rows=[0, 5, n - 1])
    # Items 4464 and 70,000 would share a label in 16 bits; only 0 and the last share one here.
    expected = np.full((3, n), 1 / 3)
    expected[0, 0] = expected[1, 5] = expected[2, n - 1] = 1.0
    expected[0, n - 1] = expected[2, 0] = 2 / 3
    np.testing.assert_array_equal(block, expected)


@pytest.mark.parametrize("weighted", [False, True])
def test_labels_too_many_for_16_bits(monkeypatch, weighted):
    labels = simulated(25, 55, 40)
    draws = pt.Draws(labels, weights=np.full(25, 1.0) if weighted else None)
    whole, part = pt.similarity(draws), pt.similarity(draws, rows=[30, 2, 11, 7, 8, 9])
    monkeypatch.setattr(module, "_CODES", 20)
    assert np.array_equal(pt.similarity(draws), whole)
    assert np.array_equal(pt.similarity(draws, rows=[30, 2, 11, 7, 8, 9]), part)


def test_float32_holds_the_rounded_matrix():
    draws = pt.Draws(simulated(700, 21, 4), weights=np.linspace(1, 3, 700))
    single = pt.similarity(draws, dtype=np.float32)
    assert single.dtype == np.float32
    np.testing.assert_allclose(single, pt.similarity(draws), rtol=0, atol=2**-23)
    with pytest.raises(InvalidInputError, match="float64 or float32"):
        pt.similarity(draws, dtype=int)


def test_too_large_a_matrix_is_refused_with_the_alternative(monkeypatch):
    monkeypatch.setattr(_resources, "available_memory", lambda: 1 << 20)
    draws = pt.Draws(np.zeros((2, 1000), int))
    with pytest.raises(MemoryLimitError, match=r"1,000 items needs 7\.6 MiB, but 1\.0 MiB.*rows="):
        pt.similarity(draws)
    with pytest.raises(MemoryLimitError, match=r"500 × 1,000 similarities.*fewer rows"):
        pt.similarity(draws, rows=slice(0, 500))
    assert pt.similarity(draws, rows=slice(0, 100)).shape == (100, 1000)


def test_memory_of_a_container_is_read(tmp_path):
    (tmp_path / "memory.max").write_text("1000\n")
    (tmp_path / "memory.current").write_text("700\n")
    (tmp_path / "memory.stat").write_text("anon 500\ninactive_file 150\n")
    pair = str(tmp_path / "memory.max"), str(tmp_path / "memory.current")
    assert _resources._container_memory(*pair) == 450
    (tmp_path / "memory.max").write_text("max\n")
    assert _resources._container_memory(*pair) is None
