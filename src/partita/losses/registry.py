"""Every loss by its name."""

from __future__ import annotations

from partita.errors import UnknownNameError
from partita.losses.base import Loss
from partita.losses.binder import Binder
from partita.losses.id import ID
from partita.losses.nid import NID
from partita.losses.nvi import NVI
from partita.losses.omari import OneMinusARI
from partita.losses.ompear import OneMinusPEAR
from partita.losses.vi import VI
from partita.losses.vi_lower_bound import VILowerBound

LOSSES: dict[str, type[Loss]] = {
    loss.name: loss for loss in (VI, Binder, VILowerBound, NVI, ID, NID, OneMinusARI, OneMinusPEAR)
}
"""The registry: a new loss is found everywhere once it stands here."""


def as_loss(loss: str | Loss) -> Loss:
    """A loss from its name or from itself."""
    if isinstance(loss, Loss):
        return loss
    if isinstance(loss, type) and issubclass(loss, Loss):
        return loss()
    key = loss.lower() if isinstance(loss, str) else loss
    if isinstance(key, str) and key in LOSSES:
        return LOSSES[key]()
    known = ", ".join(repr(name) for name in LOSSES)
    raise UnknownNameError(f"unknown loss {loss!r}; expected one of {known}, or a loss object.")
