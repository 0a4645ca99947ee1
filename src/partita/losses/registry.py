"""Every loss by its name."""

from __future__ import annotations

import re

from partita.errors import NotSupportedError, UnknownNameError, about
from partita.losses.base import Loss
from partita.losses.binder import Binder
from partita.losses.claims import verified
from partita.losses.entropy import Entropy
from partita.losses.id import ID
from partita.losses.nid import NID
from partita.losses.nvi import NVI
from partita.losses.omari import OneMinusARI
from partita.losses.ompear import OneMinusPEAR
from partita.losses.priced import PricedLoss
from partita.losses.vi import VI
from partita.losses.vi_lower_bound import VILowerBound

LOSSES: dict[str, type[Loss]] = {
    loss.name: loss for loss in (VI, Binder, VILowerBound, NVI, ID, NID, OneMinusARI, OneMinusPEAR)
}
"""The registry: a new loss is found everywhere once it stands here."""


ALIASES = {
    "variation_of_information": "vi",
    "one_minus_ari": "omari",
    "one_minus_pear": "ompear",
    "vi_lower_bound": "vi_lb",
}
"""Names in full for those that are cryptic, taken wherever a name is."""

PARAMETRISED: dict[str, type[PricedLoss]] = {"vi": VI, "binder": Binder, "entropy": Entropy}
"""Losses that a string may give their parameter: ``"vi(0.7)"``, ``"entropy(1.5)"``."""

_CALL = re.compile(r"\s*([a-z_]+)\s*\(\s*([^()]+?)\s*\)\s*")


def as_loss(loss: str | Loss) -> Loss:
    """A loss from its name or from itself; claims of a user's own class are checked first."""
    if isinstance(loss, type) and issubclass(loss, Loss):
        return as_loss(loss())
    if isinstance(loss, Loss):
        if type(loss).__module__.startswith("partita.losses."):
            return loss
        with about("loss"):
            return verified(loss)
    key = loss.lower() if isinstance(loss, str) else loss
    if isinstance(key, str):
        key = ALIASES.get(key, key)
    if isinstance(key, str) and key in LOSSES:
        return LOSSES[key]()
    call = _CALL.fullmatch(key) if isinstance(key, str) else None
    if call is not None and call[1] in PARAMETRISED:
        return PARAMETRISED[call[1]](_number(call[2], loss))
    known = ", ".join(repr(name) for name in (*LOSSES, *ALIASES))
    raise UnknownNameError(
        f"unknown loss {loss!r}; expected one of {known}, with a parameter 'vi(0.7)', "
        "'binder(1.3)', 'entropy(1.5)', or a loss object.",
        argument="loss",
    )


def as_metric(loss: str | Loss, why: str) -> Loss:
    """As :func:`as_loss`, where only a metric will do."""
    measure = as_loss(loss)
    if not measure.is_metric:
        raise NotSupportedError(
            f"{measure!r} is no metric, and {why}. Losses that are: 'vi', 'binder', 'nvi', 'id', "
            "'nid' (with a = 1).",
            argument="loss",
        )
    return measure


def _number(text: str, loss: str | Loss) -> float:
    try:
        return float(text)
    except ValueError:
        raise UnknownNameError(
            f"unknown loss {loss!r}; expected a number in the brackets, as in 'vi(0.7)'.",
            argument="loss",
        ) from None
