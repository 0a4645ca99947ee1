"""Comma- and tab-separated text: the writing side."""

from __future__ import annotations

import bz2
import gzip
import lzma
from collections.abc import Iterator
from contextlib import nullcontext
from functools import partial
from pathlib import Path
from typing import IO, Any

import numpy as np

from partita._progress import Status
from partita.io.collect import rows_per_block
from partita.io.columns import CHAIN, RUN, WEIGHT, placeholder_names
from partita.partitions.draws import Draws


def write(draws: Draws, target: Path | IO[Any], *, sep: str) -> None:
    """Write draws separated by a character, under a header."""
    with Status("writing draws") as status:
        lines = _lines(draws, sep, status)
        if not isinstance(target, Path):
            target.writelines(lines)
        else:
            with target.open("wb") as raw, _packed(raw, target.suffix.lower()) as stream:
                stream.writelines(lines)


write_csv = partial(write, sep=",")
write_tsv = partial(write, sep="\t")


def _packed(raw: IO[bytes], suffix: str) -> Any:
    if suffix == ".gz":  # no time stamp and no name inside: equal draws give equal files
        return gzip.GzipFile("", "wb", fileobj=raw, mtime=0)
    if suffix == ".xz":
        return lzma.LZMAFile(raw, "wb")
    return bz2.BZ2File(raw, "wb") if suffix == ".bz2" else nullcontext(raw)


def _lines(draws: Draws, sep: str, status: Status) -> Iterator[bytes]:
    from partita.kernels.io.text import format_rows

    yield _header(draws, sep)
    rows = rows_per_block(draws.n_items)
    room = np.empty(11 * min(rows, draws.n_draws) * draws.n_items, np.uint8)
    for block in draws.blocks(rows):
        status.say(f"{block.start:,} of {draws.n_draws:,}")
        ends = np.empty(block.stop - block.start, np.int64)
        used = format_rows(draws.rows(block.start, block.stop), ord(sep), room, ends)
        text = room[:used].tobytes()
        if draws.chain is None and draws.weights is None and draws.kind == "posterior":
            yield text
            continue
        starts = [0, *ends[:-1].tolist()]
        for draw, start, end in zip(range(block.start, block.stop), starts, ends, strict=True):
            yield _prefix(draws, draw, sep) + text[start:end]


def _header(draws: Draws, sep: str) -> bytes:
    cells = [CHAIN] if draws.chain is not None else []
    if draws.kind == "ensemble":
        cells.append(RUN)
    if draws.weights is not None:
        cells.append(WEIGHT)
    if draws.item_names is None:
        cells += placeholder_names(draws.n_items)
    else:  # in quotes, so that names such as 1, 2, 3 are not taken for labels
        cells += [_quote(name) for name in draws.item_names]
    return (sep.join(cells) + "\n").encode()


def _prefix(draws: Draws, draw: int, sep: str) -> bytes:
    cells = []
    if draws.chain is not None:
        chain = draws.chain[draw].item()
        cells.append(_quote(chain) if isinstance(chain, str) else str(chain))
    if draws.kind == "ensemble":
        cells.append(str(draw + 1))
    if draws.weights is not None:
        cells.append(repr(float(draws.weights[draw])))
    return (sep.join(cells) + sep).encode()


def _quote(text: str) -> str:
    return '"' + text.replace('"', '""') + '"'
