"""What is written is read back as equal draws, in every format."""

from __future__ import annotations

import io
import tempfile
from pathlib import Path

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

import partita as pt
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
@settings(max_examples=25, deadline=None)
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
