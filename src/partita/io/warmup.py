"""Draws of the warm-up, which Stan's programs may write before the posterior's."""

from __future__ import annotations

import re
import warnings

from partita.errors import FileFormatError
from partita.partitions.draws import Draws

_SETTING = re.compile(
    rb"^#\s*(save_warmup|num_warmup|warmup|num_samples|iter|thin)\s*=\s*(\d+|true|false)\b", re.M
)


def without_warmup(draws: Draws, comments: bytes, name: str) -> Draws:
    """The draws less those that the file's comments call warm-up, with a warning.

    CmdStan writes ``num_warmup = 1000`` and ``num_samples = 1000``, rstan
    ``warmup=1000`` and ``iter=2000``; both note ``save_warmup`` and ``thin``.
    A file with exactly as many rows as there are samples has lost its warm-up
    already.
    """
    found = {key: _number(value) for key, value in _SETTING.findall(comments)}
    warmup = found.get(b"num_warmup", found.get(b"warmup", 0))
    if not found.get(b"save_warmup") or not warmup:
        return draws
    thin = max(1, found.get(b"thin", 1))
    samples = found.get(b"num_samples", found.get(b"iter", warmup) - warmup)
    n_warmup = -(-warmup // thin)
    if draws.n_draws == -(-samples // thin):
        return draws
    if draws.n_draws <= n_warmup:
        raise FileFormatError(
            f"{name} has {draws.n_draws} draws, all of them warm-up by its comments "
            f"(save_warmup, {n_warmup} draws of warm-up). There is no posterior draw in it."
        )
    warnings.warn(
        f"{name} was written with save_warmup: its first {n_warmup} draws are warm-up and were "
        "left out.",
        stacklevel=2,
    )
    return draws[n_warmup:]


def _number(value: bytes) -> int:
    return {b"true": 1, b"false": 0}.get(value) if value.isalpha() else int(value)  # type: ignore[return-value]
