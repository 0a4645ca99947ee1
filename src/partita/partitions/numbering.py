"""Labels and items as tables number them, and the tables."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from partita._optional import require
from partita._validate import flag
from partita.partitions.labels import Labels, as_labels, by_size
from partita.partitions.types import LabelsLike

if TYPE_CHECKING:
    import pandas as pd


def from_one(labels: NDArray[Any], one_based: bool) -> NDArray[Any]:
    """Labels as a table shows them: counted from 1 where asked, −1 for none as it is.

    Examples
    --------
    >>> import numpy as np
    >>> from partita.partitions.numbering import from_one
    >>> from_one(np.array([0, 1, -1]), True)
    array([ 1,  2, -1])
    """
    return np.where(labels >= 0, labels + 1, labels) if flag(one_based, "one_based") else labels


def items_from_one(names: tuple[str, ...] | None, n_items: int, one_based: bool) -> list[Any]:
    """Items as a table calls them: by name, else counted from 0 or from 1."""
    first = int(flag(one_based, "one_based"))
    return list(names) if names is not None else list(range(first, n_items + first))


def as_numbered(
    labels: LabelsLike, *, n_items: int | None = None, argument: str = "labels"
) -> Labels:
    """One partition from whatever holds it, with its own numbers where they are 0 … K − 1.

    Labels of an estimate keep their numbers, so that tables made from it speak
    of the same clusters; all others are numbered by size, as results are.
    """
    canonical = as_labels(labels, n_items=n_items, argument=argument)
    given: Any = labels
    if hasattr(type(given), "__labels__"):
        given = given.__labels__()
    if isinstance(given, (np.ndarray, list, tuple)):
        values = np.asarray(given)
        whole = values.dtype.kind in "iu" and values.shape == canonical.shape
        if whole and values.min() == 0 and values.max() == canonical.max():
            return values.astype(np.int32)
    return by_size(canonical)


def data_frame(
    columns: Any, *, of: str, index: Iterable[Any] | None = None, name: str | None = None
) -> pd.DataFrame:
    """A pandas table; an error says ``of`` what. ``name`` is that of the index."""
    pandas = require("pandas", extra="pandas", purpose=f"a table of {of}")
    rows = None if index is None else pandas.Index(index, name=name)
    frame: pd.DataFrame = pandas.DataFrame(columns, index=rows)
    return frame
