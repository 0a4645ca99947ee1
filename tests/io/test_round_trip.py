"""What is written is read back as equal draws, in every format, in memory and mapped."""

import io
import logging
import mmap
import tempfile
from pathlib import Path

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

import partita as pt
from partita import _storage
from partita.errors import InvalidInputError, NotSupportedError

SUFFIXES = ("csv", "csv.gz", "tsv", "tsv.gz", "npz", "parquet", "nc", "zarr", "rds", "RData")

MEANT = {"lp__", "lp", "k", "chain", "iter", "draw"}
"""Headings with a meaning of their own; items of these names are refused."""

_letters = st.characters(exclude_categories=("Cs", "Cc"))
_names = st.text(_letters, min_size=1, max_size=5).filter(
    lambda s: not s.startswith(".") and "[" not in s and s.lower() not in MEANT
)


@st.composite
def some_draws(draw):
    n_draws, n_items = draw(st.integers(1, 6)), draw(st.integers(1, 4))
    row = st.lists(st.integers(0, 3), min_size=n_items, max_size=n_items)
    labels = draw(st.lists(row, min_size=n_draws, max_size=n_draws))
    per_draw = {"min_size": n_draws, "max_size": n_draws}
    weights = draw(st.none() | st.lists(st.floats(1e-3, 1e3), **per_draw))
    ids = st.lists(st.integers(-3, 3), **per_draw) | st.lists(_names, **per_draw)
    chain = draw(st.none() | ids | st.just(sorted(draw(ids))))
    names = draw(st.none() | st.lists(_names, min_size=n_items, max_size=n_items, unique=True))
    kind = "posterior" if chain is not None else draw(st.sampled_from(["posterior", "ensemble"]))
    return pt.Draws(labels, weights=weights, chain=chain, item_names=names, kind=kind)


def _same(a, b):
    """Equal, with weights equal up to the one rounding of scaling them to sum to 1 again."""
    assert np.array_equal(a.labels, b.labels)
    assert a.labels.dtype == b.labels.dtype
    assert (a.weights is None) == (b.weights is None)
    if a.weights is not None:
        np.testing.assert_allclose(a.weights, b.weights, rtol=4e-16)
    assert (a.chain is None) == (b.chain is None)
    assert a.chain is None or a.chain.tolist() == b.chain.tolist()
    assert a.item_names == b.item_names
    assert a.kind == b.kind


@pytest.mark.parametrize("suffix", SUFFIXES)
@given(draws=some_draws())
@example(draws=pt.Draws([[0, 1, 2], [0, 1, 2]]))  # counts, as column numbers do
@example(draws=pt.Draws([[0, 1]], item_names=["1", "2"]))
@example(draws=pt.Draws([[0, 1]], item_names=[" ", 'a"b,c\u2028']))
@example(draws=pt.Draws([[0]], item_names=["# no comment"]))
@example(draws=pt.Draws([[0], [0]], chain=["1", "2"]))
@example(draws=pt.Draws([[0, 1], [0, 0]], kind="ensemble"))
@example(draws=pt.Draws([[0, 1]], kind="ensemble", weights=[2], item_names=["a", "b"]))
@example(draws=pt.Draws([[0], [0], [0]], chain=[1, 0, 1], weights=[1, 2, 3]))
@example(draws=pt.Draws([[0, 0, 1], [0, 1, 2]], chain=[1, 2]).reweighted("entropy", 3.0))
@settings(max_examples=25)
def test_round_trip(suffix, draws):
    with tempfile.TemporaryDirectory() as directory:
        path = Path(directory) / f"draws.{suffix}"
        pt.write_draws(draws, path)
        _same(pt.read_draws(path), draws)
        assert [p.name for p in Path(directory).iterdir()] == [path.name]


@pytest.mark.parametrize("suffix", [*SUFFIXES, "npy"])
def test_round_trip_of_many_clusters_and_blocks(suffix, tmp_path):
    rng = np.random.default_rng(0)
    labels = np.concatenate([rng.integers(0, 5, (90, 300)), rng.permuted([range(300)], axis=1)])
    draws = pt.Draws(labels)
    assert draws.labels.dtype == np.uint16
    pt.write_draws(draws, tmp_path / f"draws.{suffix}")
    assert pt.read_draws(tmp_path / f"draws.{suffix}") == draws


def test_npy_refuses_what_it_cannot_hold(tmp_path):
    draws = pt.Draws([[0, 1]], item_names=["a", "b"])
    with pytest.raises(NotSupportedError, match=r"cannot hold item_names.*npz"):
        pt.write_draws(draws, tmp_path / "d.npy")
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("format", ["csv", "parquet", "rds"])
@pytest.mark.parametrize(
    "names",
    [[".chain", "a"], [".item1", ".item2"], ["z[1]", "z[2]"], ["lp__", "z.1"], [".draw"], [""]],
)
def test_headings_with_a_meaning_are_refused_as_names(format, names, tmp_path):
    draws = pt.Draws([list(range(len(names)))], item_names=names)
    with pytest.raises(InvalidInputError, match="read back as something else"):
        pt.write_draws(draws, tmp_path / f"d.{format}")
    pt.write_draws(draws, tmp_path / "d.npz")
    assert pt.read_draws(tmp_path / "d.npz") == draws


@pytest.mark.parametrize("name", ["a\nb", "a\0", "\ud800"])
def test_names_that_no_file_holds(name, tmp_path):
    with pytest.raises(InvalidInputError, match="control characters"):
        pt.write_draws(pt.Draws([[0]], item_names=[name]), tmp_path / "d.csv")


def test_equal_draws_make_equal_files(tmp_path):
    for suffix in ("csv", "csv.gz", "npz", "npy"):
        contents = []
        for name in ("a", "b"):
            pt.write_draws([[0, 1], [0, 0]], tmp_path / f"{name}.{suffix}")
            contents.append((tmp_path / f"{name}.{suffix}").read_bytes())
        assert contents[0] == contents[1]
    assert (tmp_path / "a.csv.gz").read_bytes()[4:8] == bytes(4)  # no time stamp


def test_streams(monkeypatch, capfdbinary):
    draws = pt.Draws([[0, 1], [0, 0]], weights=[1, 3])
    memory = io.BytesIO()
    pt.write_draws(draws, memory)
    memory.seek(0)
    assert pt.read_draws(memory) == draws
    pt.write_draws(draws, "-", format="tsv")
    written = capfdbinary.readouterr().out
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(written)))
    assert pt.read_draws("-", format="tsv") == draws
    with pytest.raises(NotSupportedError, match="stream"):
        pt.write_draws(draws, memory, format="npz")
    with pytest.raises(NotSupportedError, match="stream"):
        pt.read_draws(memory, format="npz")


def test_several_files_are_chains(tmp_path):
    pt.write_draws([[0, 1], [0, 0]], tmp_path / "a.csv")
    pt.write_draws([[0, 0]], tmp_path / "b.npz")
    draws = pt.read_draws([tmp_path / "a.csv", tmp_path / "b.npz"])
    assert draws == pt.Draws([[0, 1], [0, 0], [0, 0]], chain=[0, 0, 1])
    with pytest.raises(InvalidInputError, match="empty list"):
        pt.read_draws([])


RNG = np.random.default_rng(2)
LABELS = RNG.integers(0, 5, (40, 9)) + 3
DRAWS = pt.Draws(LABELS, chain=np.repeat([0, 1], 20), weights=RNG.random(40) + 0.1)


def is_mapped(draws: pt.Draws) -> bool:
    base = draws.labels
    while isinstance(base, np.ndarray):
        base = base.base
    return isinstance(base, mmap.mmap)


def test_our_own_npy_file_is_mapped_itself(tmp_path, caplog):
    plain = pt.Draws(LABELS)
    pt.write_draws(plain, tmp_path / "draws.npy")
    mapped = pt.read_draws(tmp_path / "draws.npy", memory_map=True)
    assert is_mapped(mapped)
    assert not is_mapped(pt.read_draws(tmp_path / "draws.npy"))
    assert mapped == plain
    assert mapped.labels.dtype == plain.labels.dtype
    assert not caplog.messages


@pytest.mark.parametrize(
    "labels",
    [
        LABELS,  # not canonical
        pt.canonical(LABELS),  # signed
        pt.canonical(LABELS).astype(np.uint16),  # wider than needed
        np.asfortranarray(pt.Draws(LABELS).labels),
        LABELS.reshape(2, 20, 9),
    ],
)
def test_other_arrays_are_written_once_and_that_is_said(labels, tmp_path, caplog):
    np.save(tmp_path / "draws.npy", labels)
    with caplog.at_level(logging.WARNING, "partita"):
        mapped = pt.read_draws(tmp_path / "draws.npy", memory_map=True)
    assert is_mapped(mapped)
    assert mapped == pt.read_draws(tmp_path / "draws.npy")
    assert "temporary file" in caplog.messages[-1]


@pytest.mark.parametrize("name", ["draws.npz", "draws.csv", "draws.parquet"])
def test_files_of_every_kind_can_be_mapped(name, tmp_path):
    pt.write_draws(DRAWS, tmp_path / name)
    mapped = pt.read_draws(tmp_path / name, memory_map=True)
    assert is_mapped(mapped)
    assert mapped == DRAWS


def test_no_file_is_left(tmp_path, monkeypatch):
    monkeypatch.setenv("TMPDIR", str(tmp_path / "temporary"))
    monkeypatch.setattr("tempfile.tempdir", None)
    (tmp_path / "temporary").mkdir()
    np.save(tmp_path / "draws.npy", LABELS)
    mapped = pt.read_draws(tmp_path / "draws.npy", memory_map=True)
    labels = mapped.labels.copy()
    np.save(tmp_path / "bad.npy", np.where(np.eye(40, 9), np.nan, LABELS))
    with pytest.raises(pt.PartitaError):
        pt.read_draws(tmp_path / "bad.npy", memory_map=True)
    np.testing.assert_array_equal(mapped.labels, labels)
    del mapped
    assert not list((tmp_path / "temporary").iterdir())


def test_answers_from_a_file_are_those_from_memory(tmp_path, monkeypatch):
    monkeypatch.setattr(_storage, "_MOST_DRAWS", 4)
    pt.write_draws(DRAWS, tmp_path / "draws.npz")
    mapped = pt.read_draws(tmp_path / "draws.npz", memory_map=True)
    assert is_mapped(mapped)
    for ask in (
        lambda d: pt.similarity(d),
        lambda d: pt.expected_loss(LABELS[:2], d),
        lambda d: pt.item_uncertainty(d, LABELS[0]).contribution,
        lambda d: pt.credible_ball(d, LABELS[0]).distances,
        lambda d: d.select_items([3, 1]).labels,
        lambda d: d[5:9].labels,
    ):
        np.testing.assert_array_equal(ask(mapped), ask(DRAWS))


def test_all_different_draws_are_not_copied(tmp_path):
    """Looking for equal draws leaves labels on disk where there are none."""
    labels = np.unique(pt.canonical(RNG.integers(0, 5, (50, 9))), axis=0)
    pt.write_draws(pt.Draws(labels), tmp_path / "draws.npy")
    assert is_mapped(pt.read_draws(tmp_path / "draws.npy", memory_map=True).unique())
