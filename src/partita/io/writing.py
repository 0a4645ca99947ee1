"""What writers are given: nothing that the format would lose, labels from 1 where asked."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from partita.errors import InvalidInputError, InvalidLabelsError, NotSupportedError, about
from partita.io.columns import CHAIN, WEIGHT, choose_columns
from partita.io.registry import Format
from partita.partitions.cleaning import smallest_unsigned
from partita.partitions.draws import Draws


@about("format")
def check_holds(draws: Draws, chosen: Format) -> None:
    """Refuse what the file could not give back."""
    parts: dict[str, Any] = {
        **{name: getattr(draws, name) for name in ("weights", "chain", "item_names")},
        "kind": None if draws.kind == "posterior" else draws.kind,
    }
    lost = [name for name, part in parts.items() if part is not None and name not in chosen.holds]
    if lost:
        raise NotSupportedError(
            f"format {chosen.name!r} cannot hold {' and '.join(lost)}; choose another, "
            "such as npz, or write the labels alone."
        )
    names = draws.item_names or ()
    chains = (
        draws.chain.tolist() if draws.chain is not None and draws.chain.dtype.kind == "U" else []
    )
    for name in {*names, *chains}:
        if not _is_plain(name):
            raise InvalidInputError(
                f"the name {name!r} has control characters or cannot be written as UTF-8; "
                "rename the item or chain."
            )
    if names and chosen.table and not _survive_as_columns(names):
        raise InvalidInputError(
            f"items named {', '.join(map(repr, names[:3]))}, … would be read back as something "
            f"else: {CHAIN}, {WEIGHT}, lp__, z[1], an empty name and .item1, .item2, … have a "
            "meaning of their own as headings. Rename the items, or write npz, netCDF or zarr."
        )


def _survive_as_columns(names: tuple[str, ...]) -> bool:
    try:
        columns = choose_columns(names, var_name=None, is_whole=lambda _: True)
    except (InvalidInputError, InvalidLabelsError):
        return False
    # An empty first heading marks a column of row names.
    return columns.names == names and "" not in names


def _is_plain(name: str) -> bool:
    try:
        name.encode()
    except UnicodeEncodeError:
        return False
    return not any(ord(character) < 32 or ord(character) == 127 for character in name)


class OneBased:
    """The draws as they are, except that labels are one larger."""

    def __init__(self, draws: Draws) -> None:
        self._draws = draws

    def __getattr__(self, name: str) -> Any:
        return getattr(self._draws, name)

    @property
    def labels(self) -> NDArray[Any]:
        """All labels, from 1."""
        dtype = smallest_unsigned(int(self._draws.n_clusters.max()))
        labels: NDArray[Any] = self._draws.labels.astype(dtype)
        labels += dtype.type(1)
        return labels

    def rows(self, start: int, stop: int) -> NDArray[np.int32]:
        """Some draws, from 1."""
        return self._draws.rows(start, stop) + np.int32(1)
