"""A whole fit of rstan, as ``saveRDS(fit)`` keeps it: the samples of its chains."""

from __future__ import annotations

from typing import Any

import numpy as np

from partita.errors import InvalidLabelsError
from partita.io.frames import draws_from_table
from partita.io.r_objects import RList, RVector, at_path
from partita.io.r_shapes import Columns
from partita.io.registry import ReadOptions
from partita.partitions.convert import with_fields
from partita.partitions.draws import Draws

CLASS = "stanfit"


def draws_of_stanfit(fit: RList, options: ReadOptions, name: str) -> Draws:
    """Draws from the slot ``sim``: one list of named columns for each chain.

    ``sim$warmup2`` counts the draws of warm-up among them, which are left out,
    as ``extract`` does.
    """
    samples, warmup = at_path(fit, "sim$samples"), at_path(fit, "sim$warmup2")
    if not isinstance(samples, RList) or not samples.parts or options.transpose:
        raise InvalidLabelsError(
            f"{name} is a stanfit without samples that can be read. In R: saveRDS(rstan::extract("
            'fit, "z", permuted = FALSE), "z.rds"), with the name of your labels for z.'
        )
    left_out = np.zeros(len(samples.parts), np.int64)
    if isinstance(warmup, RVector) and warmup.values.size == left_out.size:
        left_out = np.asarray(warmup.values, np.int64)
    parts = []
    for number, (chain, first) in enumerate(zip(samples.parts, left_out, strict=True), start=1):
        part = _of_chain(chain, int(first), options, f"{name}, chain {number}")
        parts.append(with_fields(part, chain=np.full(part.n_draws, number)))
    return Draws.concat(parts)


def _of_chain(chain: Any, first: int, options: ReadOptions, name: str) -> Draws:
    columns = [p.values for p in chain.parts if isinstance(p, RVector)] if chain else []
    if not columns or len(columns) != len(chain.names or ()):
        raise InvalidLabelsError(f"{name} has no columns with names.")
    if len({column.shape for column in columns}) > 1 or len(columns[0]) <= first:
        raise InvalidLabelsError(f"{name} has columns of different lengths, or warm-up alone.")
    table = Columns([column[first:] for column in columns], list(chain.names), None)
    return draws_from_table(table, var_name=options.var_name)
