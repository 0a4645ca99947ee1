"""Posterior moments of clusters' parameters."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from partita._result import Result
from partita.kernels.arrays import Floats


@dataclass(frozen=True, repr=False)
class Moments(Result):
    """Posterior mean and variance of one parameter in each cluster.

    Attributes
    ----------
    mean, variance : ndarray, shape (n_clusters, ...)
        The variance is infinite where the posterior has none.
    columns : tuple of str
        The data's columns, along the second axis.
    """

    mean: Floats
    variance: Floats
    columns: tuple[str, ...]


@dataclass(frozen=True, eq=False, repr=False)
class ClusterParameters(Result):
    """Posterior moments of the clusters' parameters, given a partition.

    Attributes
    ----------
    sizes : ndarray of int, shape (n_clusters,)
        In order of first appearance, as all rows.
    parameters : mapping of str to Moments
        By name: "mean" and "variance" or "covariance" of normal columns, "probability" of
        Bernoulli and "probability of <column>" of categorical ones, "rate" of counts. Each has
        ``mean``, ``variance`` and ``columns``.
    """

    sizes: NDArray[np.int64]
    parameters: Mapping[str, Moments]

    def __getitem__(self, name: str) -> Moments:
        return self.parameters[name]


def mixed_moments(found: Sequence[Mapping[str, Moments]]) -> Mapping[str, Moments]:
    """Moments of a mixture of equally probable posteriors: the laws of total mean and variance."""
    if len(found) == 1:
        return found[0]
    mixed = {}
    for name, first in found[0].items():
        means = np.stack([each[name].mean for each in found])
        variances = np.stack([each[name].variance for each in found])
        variance = variances.mean(axis=0) + means.var(axis=0)
        mixed[name] = Moments(means.mean(axis=0), variance, first.columns)
    return mixed


def merge_moments(parts: list[dict[str, Moments]]) -> Mapping[str, Moments]:
    """Parameters of several kernels under one name each: side by side where shapes allow."""
    merged: dict[str, Moments] = {}
    for part in parts:
        for name, found in part.items():
            before = merged.get(name)
            if before is None:
                merged[name] = found
            elif found.mean.ndim == 2 == before.mean.ndim:
                merged[name] = Moments(
                    np.concatenate([before.mean, found.mean], axis=1),
                    np.concatenate([before.variance, found.variance], axis=1),
                    before.columns + found.columns,
                )
            else:
                merged[f"{name} of {', '.join(found.columns)}"] = found
    return merged
