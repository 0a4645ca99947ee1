"""The door of the figures: what may be handed in, and what a figure needs from it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from partita.credible.ball import CredibleBall
from partita.errors import InvalidDataError, InvalidInputError
from partita.partitions.labels import Labels, as_labels, by_size
from partita.samplers.fit import Fit
from partita.summary.result import Summary


@dataclass(frozen=True, eq=False)
class Observations:
    """The data behind a clustering: values, shape (n_items, n_columns), and column names."""

    values: NDArray[np.float64]
    names: tuple[str, ...]


def ball_of(source: Any) -> CredibleBall:
    """The credible ball of a summary, or the one given."""
    if isinstance(source, Summary):
        return source.ball
    if isinstance(source, CredibleBall):
        return source
    raise InvalidInputError(
        f"got {type(source).__name__}; expected a Summary or a CredibleBall. "
        "partita.credible_ball(draws, estimate) makes one."
    )


def estimate_for(source: Any, estimate: Any | None, n_items: int) -> Labels | None:
    """The estimate asked for, else the one the source carries, else None."""
    if estimate is not None:
        return by_size(as_labels(estimate, n_items=n_items))
    carried = isinstance(source, (Summary, CredibleBall))
    return by_size(as_labels(source)) if carried else None


def observations_of(
    source: Any, data: Any | None, fit: Fit | None, n_items: int
) -> Observations | None:
    """The data given, else those of the summary or fit, else None."""
    if data is not None:
        return _clean(data, n_items)
    if isinstance(source, Summary) and source.data is not None:
        names = source.data_names or _numbered(source.data.shape[1])
        return Observations(source.data, names)
    if fit is not None:
        _same_items(fit, n_items)
        unnamed = fit.columns == tuple(str(j) for j in range(len(fit.columns)))
        return Observations(fit.values, _numbered(len(fit.columns)) if unnamed else fit.columns)
    return None


def fit_for(fit: Any | None, n_items: int) -> Fit | None:
    """The fit, checked to be about as many items."""
    if fit is None:
        return None
    if not isinstance(fit, Fit):
        raise InvalidInputError(
            f"fit is {type(fit).__name__}; expected the result of partita.sample."
        )
    _same_items(fit, n_items)
    return fit


def _same_items(fit: Fit, n_items: int) -> None:
    if fit.draws.n_items != n_items:
        raise InvalidInputError(
            f"the fit is about {fit.draws.n_items} items, the partition about {n_items}."
        )


def _clean(data: Any, n_items: int) -> Observations:
    try:
        values = np.array(data, np.float64)
    except (TypeError, ValueError) as error:
        raise InvalidDataError(
            f"data cannot be read as numbers ({error}); expected an array of shape (n_items,) or "
            "(n_items, n_columns). Leave columns of text out."
        ) from error
    table = values[:, None] if values.ndim == 1 else values
    if table.ndim != 2 or table.shape[0] != n_items or table.shape[1] == 0:
        raise InvalidDataError(
            f"data have shape {values.shape}; expected one row per item, ({n_items},) or "
            f"({n_items}, n_columns)."
        )
    columns = getattr(data, "columns", None)
    if columns is None and getattr(data, "name", None):  # a pandas or polars Series
        columns = [data.name]
    names = _numbered(table.shape[1]) if columns is None else tuple(str(name) for name in columns)
    return Observations(table, names)


def _numbered(n_columns: int) -> tuple[str, ...]:
    return tuple(f"x{j + 1}" for j in range(n_columns)) if n_columns > 1 else ("x",)
