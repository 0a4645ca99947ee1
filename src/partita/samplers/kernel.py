"""What a kernel family supplies; the sampler's loops are written once, for all of them."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar, TypeVar

import numpy as np
from numpy.typing import NDArray

from partita.samplers.table import Table

Floats = NDArray[np.float64]

Self = TypeVar("Self", bound="Kernel")


@dataclass(frozen=True)
class Block:
    """Columns that a compiled family handles together; see ``kernels/gibbs/family.py``.

    ``columns`` are positions among the kernel's columns; ``tables`` has one row per table and
    one column per cluster size 0 … N.
    """

    family: int
    columns: tuple[int, ...]
    hyper: Floats
    tables: Floats
    n_stats: int
    n_cache: int
    n_work: int


@dataclass(frozen=True)
class Moments:
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


class Kernel(ABC):
    """A conjugate density for the items of one cluster, its parameters integrated out.

    A kernel is a value: hyperparameters only. ``bind`` fits it to a table's
    columns; all other methods are those of a bound kernel.
    """

    kind: ClassVar[str]

    @abstractmethod
    def bind(self: Self, table: Table) -> Self:
        """This kernel with everything fixed that these columns leave open; checks them."""

    @abstractmethod
    def encode(self, table: Table) -> Floats:
        """The columns as numbers for the compiled family, shape (n_rows, n_columns)."""

    @abstractmethod
    def blocks(self, n_columns: int, n_items: int) -> list[Block]:
        """The compiled family's constants for up to n_items items in a cluster."""

    @abstractmethod
    def moments(
        self, values: Floats, labels: NDArray[np.int32], names: tuple[str, ...]
    ) -> dict[str, Moments]:
        """Posterior moments of each cluster's parameters, by the parameter's name."""

    @abstractmethod
    def config(self) -> dict[str, Any]:
        """Hyperparameters as JSON values; ``type(self)(**config)`` gives this kernel again."""

    def log_base(self, values: Floats) -> Floats:
        """What the compiled density leaves out because it is the same under every partition."""
        return np.zeros(values.shape[0])

    def features(self, values: Floats) -> Floats:
        """Coordinates of the items in which near means alike, for starting partitions."""
        scale = values.std(axis=0)
        return np.asarray((values - values.mean(axis=0)) / np.where(scale > 0, scale, 1.0))


def group_sums(values: Floats, labels: NDArray[np.int32]) -> tuple[Floats, Floats]:
    """Sizes (k,) and column sums (k, d) of the clusters."""
    k = int(labels.max()) + 1
    sizes = np.bincount(labels, minlength=k).astype(np.float64)
    sums = np.zeros((k, values.shape[1]))
    np.add.at(sums, labels, values)
    return sizes, sums


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
