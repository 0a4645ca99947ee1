"""Draws whose labels stay on disk: mapped where they are canonical, else once written anew."""

from __future__ import annotations

import logging
import mmap

import numpy as np
import pytest

import partita as pt
from partita import _storage

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
