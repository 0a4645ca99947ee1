"""The data behind a clustering, for figures and reports; no number depends on them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from partita._validate import refuse_masked
from partita.errors import InvalidDataError
from partita.io.data_table import as_table
from partita.labels import DataLike


@dataclass(frozen=True, eq=False)
class Observations:
    """Columns of numbers, shape (n_items, n_columns), and their names where they have any.

    In the columns of ``categories`` numbers are codes of levels, which have no order.
    """

    values: NDArray[np.float64]
    names: tuple[str, ...] | None
    categories: tuple[int, ...] = ()

    @property
    def titles(self) -> tuple[str, ...]:
        """The names, or x, or x1, x2, …."""
        n_columns = self.values.shape[1]
        if self.names is not None:
            return self.names
        return tuple(f"x{j + 1}" for j in range(n_columns)) if n_columns > 1 else ("x",)

    @property
    def columns(self) -> tuple[str, ...] | None:
        """The names as a table calls them, so that observations are read as a table is."""
        return self.names

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> NDArray[Any]:
        return np.array(self.values, dtype=dtype, copy=copy)


def as_observations(data: DataLike, n_items: int) -> Observations:
    """Observations from an array or a table of numbers with one row per item."""
    refuse_masked(data, "data", InvalidDataError)
    table = as_table(data)
    texts = [
        name for name, c in zip(table.names, table.columns, strict=True) if c.dtype.kind == "O"
    ]
    if texts:
        raise InvalidDataError(
            f"data cannot be read as numbers: column {', '.join(map(repr, texts[:5]))} holds "
            "text, categories or dates. Leave such columns out."
        )
    values = np.column_stack([column.astype(np.float64) for column in table.columns])
    if table.n_rows != n_items:
        raise InvalidDataError(
            f"data have shape {values.shape}; expected one row per item, ({n_items},) or "
            f"({n_items}, n_columns)."
        )
    values.flags.writeable = False
    unnamed = table.names == tuple(str(j) for j in range(table.n_columns))
    return Observations(values, None if unnamed else table.names)
