"""Partitions to start chains from."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import numpy as np

from partita.errors import InvalidInputError, UnknownNameError
from partita.kernels.arrays import Floats, Ints
from partita.partitions.labels import Labels, as_label_rows, as_labels
from partita.samplers.partition_prior import PartitionPrior

NAMES = ("one", "singletons", "kmeans")

_FEW = 2000
"""Up to this many items a chain may start from singletons, whose first sweep costs O(N²)."""


def starting_partitions(
    initial: Any,
    features: Floats,
    prior: PartitionPrior,
    generators: list[np.random.Generator],
) -> list[Labels]:
    """One canonical partition per chain; by default of different kinds, to make R-hat telling."""
    n_items = features.shape[0]
    most = prior.most_clusters()
    most = n_items if most is None else min(most, n_items)
    if initial is not None and not (isinstance(initial, str) and _is_name(initial)):
        return _given(initial, n_items, len(generators), most)
    if initial is not None and initial not in NAMES:
        raise UnknownNameError(
            f"initial={initial!r} is unknown; expected one of {', '.join(NAMES)}, or labels.",
            argument="initial",
        )
    starts = []
    for chain, generator in enumerate(generators):
        name = initial or _default(chain, n_items)
        starts.append(_start(name, features, most, generator))
    return starts


def _is_name(initial: str) -> bool:
    """Whether the text names a way to start, known or not, and no file."""
    return initial in NAMES or not (Path(initial).suffix or Path(initial).exists())


def _default(chain: int, n_items: int) -> str:
    name = NAMES[min(chain, 2)]
    return "kmeans" if name == "singletons" and n_items > _FEW else name


def _start(name: str, features: Floats, most: int, generator: np.random.Generator) -> Labels:
    n_items = features.shape[0]
    if name == "one" or most == 1:
        return np.zeros(n_items, np.int32)
    if name == "singletons" and most == n_items:
        return np.arange(n_items, dtype=np.int32)
    largest = max(3, math.isqrt(n_items))
    k = most if name == "singletons" else int(generator.integers(2, largest + 1))
    return as_labels(_kmeans(features, min(k, most), generator))


def _kmeans(features: Floats, k: int, generator: np.random.Generator) -> Ints:
    """Ten Lloyd iterations from k items drawn far apart; empty groups just vanish."""
    chosen = [int(generator.integers(features.shape[0]))]
    nearest = np.full(features.shape[0], np.inf)
    for _ in range(k - 1):
        nearest = np.minimum(nearest, ((features - features[chosen[-1]]) ** 2).sum(axis=1))
        if not nearest.any():
            break
        chosen.append(int(generator.choice(nearest.size, p=nearest / nearest.sum())))
    centers = features[chosen]
    labels = np.zeros(features.shape[0], np.int64)
    for _ in range(10):
        distances = (centers**2).sum(axis=1) - 2 * features @ centers.T
        labels = distances.argmin(axis=1)
        sizes = np.bincount(labels, minlength=len(centers))
        sums = np.zeros_like(centers)
        np.add.at(sums, labels, features)
        centers = np.where(sizes[:, None] > 0, sums / np.maximum(sizes, 1)[:, None], centers)
    return labels


def _given(initial: Any, n_items: int, chains: int, most: int) -> list[Labels]:
    matrix = as_label_rows(initial, n_items=n_items, argument="initial")
    if matrix.shape[0] not in (1, chains):
        raise InvalidInputError(
            f"initial has {matrix.shape[0]} partitions for {chains} chains; expected one, or one "
            "per chain.",
            argument="initial",
        )
    if matrix.max() >= most:
        raise InvalidInputError(
            f"initial has {int(matrix.max()) + 1} clusters, but the prior allows {most} at most.",
            argument="initial",
        )
    return [matrix[c % matrix.shape[0]].copy() for c in range(chains)]
