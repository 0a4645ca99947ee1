"""Plain arrays and nested lists."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from partita.errors import InvalidInputError, InvalidLabelsError
from partita.partitions.draws import Draws


def draws_from_array(obj: Any, *, transpose: bool = False, **fields: Any) -> Draws:
    """Draws from (draw, item) or (chain, draw, item) labels; see ``as_draws``."""
    values = _as_array(obj)
    if values.ndim not in (2, 3):
        raise InvalidLabelsError(
            f"draws have shape {values.shape}; expected (draw, item) or (chain, draw, item). "
            "For a single draw, pass labels[None, :]."
        )
    if transpose:
        values = values.swapaxes(-1, -2)
    if values.ndim == 2:
        return Draws(values, **fields)
    if fields.get("chain") is not None:
        raise InvalidInputError(
            f"chain=... was given for labels of shape {values.shape}, whose first axis is the "
            "chain already."
        )
    n_chains, n_draws, n_items = values.shape
    fields["chain"] = np.repeat(np.arange(n_chains), n_draws)
    if fields.get("weights") is not None:
        fields["weights"] = np.ravel(fields["weights"])
    if values.flags.c_contiguous or not values.size:
        return Draws(values.reshape(n_chains * n_draws, n_items), **fields)
    # Chain by chain: flattening would copy the labels whole, in their own dtype.
    joined = Draws.concat([Draws(one) for one in values])
    return with_fields(joined, **fields)


def with_fields(draws: Draws, **fields: Any) -> Draws:
    """The same labels with those of weights, chain and item_names replaced that are not None."""
    given = {name: value for name, value in fields.items() if value is not None}
    if not given:
        return draws
    kept = {name: getattr(draws, name) for name in ("weights", "chain", "item_names")}
    return Draws._from_canonical(draws.labels, draws.n_clusters, **(kept | given))


def _as_array(obj: Any) -> NDArray[Any]:
    if isinstance(obj, np.ma.MaskedArray) and np.ma.is_masked(obj):
        where = ", ".join(str(int(i[0])) for i in np.nonzero(np.ma.getmaskarray(obj)))
        raise InvalidLabelsError(
            f"the label at [{where}] is masked (missing); every item needs a label in every draw. "
            "Drop the item or the draw before partita sees it."
        )
    try:
        values = np.asarray(obj)
    except ValueError:
        raise _ragged(obj) from None
    if values.dtype.kind == "U" and isinstance(obj, (list, tuple)):
        # NumPy turns numbers and NaN between strings into strings; keep them apart.
        return np.asarray(obj, dtype=object)
    return values


def _ragged(obj: Any) -> InvalidLabelsError:
    lengths = sorted({len(row) if hasattr(row, "__len__") else 1 for row in obj})
    return InvalidLabelsError(
        f"rows of the draws have different lengths ({', '.join(map(str, lengths[:4]))}); each "
        "draw must label every item."
    )
