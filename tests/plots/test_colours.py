"""Colours: told apart by everyone, and following the clusters."""

from itertools import permutations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import partita as pt
from partita.plots._style import COLOURS, colour_indices, match_clusters

# Machado, Oliveira and Fernandes (2009), full severity, on linear RGB.
VISION = {
    "normal": np.eye(3),
    "protanopia": [
        [0.152286, 1.052583, -0.204868],
        [0.114503, 0.786281, 0.099216],
        [-0.003882, -0.048116, 1.051998],
    ],
    "deuteranopia": [
        [0.367322, 0.860646, -0.227968],
        [0.280085, 0.672501, 0.047413],
        [-0.011820, 0.042940, 0.968881],
    ],
    "tritanopia": [
        [1.255528, -0.076749, -0.178779],
        [-0.078411, 0.930809, 0.147602],
        [0.004733, 0.691367, 0.303900],
    ],
}


def oklab(colours, vision):
    """Ottosson's OKLab, where a distance of about 0.02 is just noticeable."""
    rgb = np.array([[int(c[i : i + 2], 16) for i in (1, 3, 5)] for c in colours]) / 255
    linear = np.where(rgb <= 0.04045, rgb / 12.92, ((rgb + 0.055) / 1.055) ** 2.4)
    seen = np.clip(linear @ np.array(VISION[vision]).T, 0, 1)
    to_lms = [
        [0.4122214708, 0.5363325363, 0.0514459929],
        [0.2119034982, 0.6806995451, 0.1073969566],
        [0.0883024619, 0.2817188376, 0.6299787005],
    ]
    to_lab = [
        [0.2104542553, 0.7936177850, -0.0040720468],
        [1.9779984951, -2.4285922050, 0.4505937099],
        [0.0259040371, 0.7827717662, -0.8086757660],
    ]
    return np.cbrt(seen @ np.array(to_lms).T) @ np.array(to_lab).T


def closest(colours, vision):
    lab = oklab(colours, vision)
    apart = np.linalg.norm(lab[:, None] - lab[None], axis=2)
    return apart[np.triu_indices(len(lab), 1)].min()


@pytest.mark.parametrize("vision", VISION)
def test_24_colours_are_told_apart_by_everyone(vision):
    assert len(set(COLOURS)) == 24
    # 0.05 is more than twice what is just noticeable; a rainbow of 24 hues falls below 0.02.
    assert closest(COLOURS, vision) > 0.05
    assert closest((*COLOURS, "#FFFFFF"), vision) > 0.05


def partitions(n):
    return st.lists(st.integers(0, 4), min_size=n, max_size=n).map(pt.canonical)


@settings(max_examples=60)
@given(st.integers(1, 9).flatmap(lambda n: st.tuples(partitions(n), partitions(n))))
def test_matching_is_optimal(pair):
    reference, other = pair
    table = pt.cross_table(reference, other)
    size = max(table.shape)
    square = np.zeros((size, size), int)
    square[: table.shape[0], : table.shape[1]] = table
    best = max(sum(square[p[j], j] for j in range(size)) for p in permutations(range(size)))
    matched = match_clusters(reference, other)
    kept = matched >= 0
    assert len(set(matched[kept])) == kept.sum()
    entries = table[matched[kept], np.flatnonzero(kept)]
    assert entries.sum() == best
    assert (entries > 0).all()


@settings(max_examples=60)
@given(st.integers(1, 12).flatmap(lambda n: st.lists(partitions(n), min_size=1, max_size=5)))
def test_indices_are_distinct_within_a_partition_and_shared_between_equal_clusters(rows):
    found = colour_indices(rows)
    for labels, indices in zip(rows, found, strict=True):
        assert indices.size == pt.n_clusters(labels)
        assert len(set(indices.tolist())) == indices.size
        assert indices.min() >= 0
    for labels, indices in zip(rows, found, strict=True):
        if np.array_equal(labels, rows[0]):
            assert np.array_equal(indices, found[0])
