"""CODA's text files: a chain of two columns, and an index that names its variables."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from partita._files import FileMissingError
from partita.errors import FileFormatError, InvalidInputError
from partita.io.frames import ForeignTable, draws_from_table
from partita.io.registry import ReadOptions
from partita.kernels.arrays import Floats
from partita.partitions.draws import Draws

_CHAIN = re.compile(r"chain\d*(?=\.[^.]+$)", re.IGNORECASE)


def index_of(path: Path) -> Path | None:
    """The index that belongs to a chain: CODAindex.txt to CODAchain1.txt, or the same with .ind."""
    candidates = [path.with_suffix(".ind")]
    if found := _CHAIN.search(path.name):
        word = "Index" if found[0][0] == "C" else "index"
        names = (_CHAIN.sub(each, path.name) for each in (word, "index", "Index"))
        candidates += [path.with_name(name) for name in names]
    return next((each for each in candidates if each.is_file() and each != path), None)


def read_coda(path: Path, options: ReadOptions) -> Draws:
    """Draws of one variable of a chain, as JAGS, OpenBUGS and coda's ``write.coda`` keep them."""
    if options.transpose:
        raise InvalidInputError(
            "transpose=True has no meaning for CODA's files.", argument="transpose"
        )
    index = index_of(path)
    if index is None:
        raise FileMissingError(
            f"{path} has no index beside it; expected CODAindex.txt, or the same name with .ind. "
            "Copy it there."
        )
    spans = _read_index(index)
    try:
        values = np.loadtxt(path, ndmin=2, comments=None)
    except ValueError as error:
        raise FileFormatError(f"{path} is no chain of CODA: {error}") from None
    if values.shape[1] != 2:
        raise FileFormatError(
            f"{path} has {values.shape[1]} columns; expected the iteration and the value."
        )
    return draws_from_table(_Chain(values, spans, str(path)), var_name=options.var_name)


def _read_index(path: Path) -> dict[str, tuple[int, int]]:
    found = {}
    for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), start=1):
        parts = line.rsplit(None, 2)
        if not parts:
            continue
        if len(parts) != 3 or not (parts[1].isdigit() and parts[2].isdigit()):
            raise FileFormatError(
                f"{path}, line {number}: expected a name, its first and its last row; "
                f"came {line[:60]!r}."
            )
        found[parts[0].strip('"')] = (int(parts[1]) - 1, int(parts[2]))
    return found


class _Chain(ForeignTable):
    """The variables of a chain as columns."""

    def __init__(self, values: Floats, spans: dict[str, tuple[int, int]], name: str) -> None:
        self._values, self._spans = values, list(spans.values())
        self.names = list(spans)
        lengths = {stop - start for start, stop in self._spans}
        if len(lengths) != 1 or max(stop for _, stop in self._spans) > len(values):
            raise FileFormatError(
                f"{name} and its index do not fit: {len(values):,} rows, and variables of "
                f"{', '.join(map(str, sorted(lengths)[:4])) or 'no'} rows. Copy both again."
            )
        (self.n_rows,) = lengths
        first = self._values[slice(*self._spans[0]), 0]
        if any(not np.array_equal(self._values[slice(*span), 0], first) for span in self._spans):
            raise FileFormatError(f"{name}: its variables were monitored at different iterations.")

    def column(self, position: int) -> NDArray[Any]:
        """One whole column."""
        return self._values[slice(*self._spans[position]), 1]
