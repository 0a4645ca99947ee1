"""What may stand for draws and for labels, in the words of a type checker."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any, Literal, Protocol, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray

if TYPE_CHECKING:
    from partita.partitions.draws import Draws


class SupportsDraws(Protocol):
    """What holds draws says so: Fit, Summary and CredibleBall do, and yours may."""

    def __draws__(self) -> Draws:
        """The draws."""


class SupportsLabels(Protocol):
    """What stands for one partition says so: PointEstimate, Summary and CredibleBall do."""

    def __labels__(self) -> NDArray[np.integer[Any]]:
        """One label per item."""


class _Variables(Protocol):
    """An xarray Dataset."""

    @property
    def data_vars(self) -> Any: ...


class _Groups(Protocol):
    """An xarray DataTree."""

    @property
    def children(self) -> Any: ...


class _NamedGroups(Protocol):
    """An ArviZ InferenceData."""

    def groups(self) -> Any: ...


class _Columns(Protocol):
    """A DataFrame of pandas or polars."""

    @property
    def columns(self) -> Any: ...


class _ColumnNames(Protocol):
    """An Arrow table."""

    @property
    def column_names(self) -> Any: ...


class _Client(Protocol):
    """A client of Dask."""

    @property
    def submit(self) -> Any: ...

    @property
    def scheduler(self) -> Any: ...


Engine: TypeAlias = Literal["dask"] | _Client
"""Where work runs: on a Dask client, or on the one that is in force."""

Path: TypeAlias = str | os.PathLike[str]

Tree: TypeAlias = _Groups | _NamedGroups
"""What ArviZ keeps a posterior in."""

Foreign: TypeAlias = _Variables | Tree | _Columns | _ColumnNames

DataLike: TypeAlias = ArrayLike | _Columns | _ColumnNames
"""Observations in memory, one row per item: arrays and tables."""

DataSource: TypeAlias = DataLike | Path
"""Observations in memory or in a file."""

DrawsLike: TypeAlias = ArrayLike | Path | Foreign | SupportsDraws
"""Everything :func:`partita.as_draws` takes: arrays of shape (draw, item) or (chain, draw, item),
tables, named arrays, paths, and what has ``__draws__``."""

LabelsLike: TypeAlias = DrawsLike | SupportsLabels
"""Everything that can stand for one partition or, where several are asked for, one per row."""
