"""Losses from their names."""

from __future__ import annotations

import re
from collections.abc import Callable
from importlib import import_module

from partita.errors import InvalidInputError, NotSupportedError, UnknownNameError, about
from partita.losses.base import Loss
from partita.losses.claims import verified
from partita.losses.names import LOSSES, WITH_ARGUMENTS

ALIASES = {
    "variation_of_information": "vi",
    "one_minus_ari": "omari",
    "one_minus_pear": "ompear",
    "vi_lower_bound": "vi_lb",
}
"""Names in full for those that are cryptic, taken wherever a name is."""

_CALL = re.compile(r"\s*([a-z_]+)\s*\(\s*([^()]+?)\s*\)\s*")


def class_of(name: str) -> type[Loss]:
    """The class of a name in the tables."""
    home = {**LOSSES, **WITH_ARGUMENTS}[name]
    found: type[Loss] = getattr(import_module(f"partita.losses.{home.module}"), home.kind)
    return found


def named(fact: Callable[[Loss], bool]) -> str:
    """The names of losses of which something is true, for a sentence."""
    return ", ".join(repr(name) for name in LOSSES if fact(class_of(name)()))


def as_loss(loss: str | Loss) -> Loss:
    """A loss from its name or from itself; claims of a user's own class are checked first."""
    if isinstance(loss, type) and issubclass(loss, Loss):
        try:
            return as_loss(loss())
        except TypeError as error:
            raise InvalidInputError(
                f"loss={loss.__name__} is a class that cannot be made of nothing "
                f"({error}); expected a loss, as in {loss.__name__}(…).",
                argument="loss",
            ) from None
    if isinstance(loss, Loss):
        if type(loss).__module__.startswith("partita.losses."):
            return loss
        with about("loss"):
            return verified(loss)
    made = _by_name(loss) if isinstance(loss, str) else None
    if made is not None:
        return made
    known = ", ".join(repr(name) for name in (*LOSSES, *ALIASES))
    raise UnknownNameError(
        f"unknown loss {loss!r}; expected one of {known}, one with a parameter, as in 'vi(0.7)' "
        "or 'entropy(1.5)', or a loss object.",
        argument="loss",
    )


def as_metric(loss: str | Loss, why: str) -> Loss:
    """As :func:`as_loss`, where only a metric will do."""
    measure = as_loss(loss)
    if not measure.is_metric:
        raise NotSupportedError(
            f"{measure!r} is no metric, and {why}. Losses that are: "
            f"{named(lambda known: known.is_metric)} (with a = 1).",
            argument="loss",
        )
    return measure


def _by_name(loss: str) -> Loss | None:
    """The loss of a name, or of a name with its parameter; None where there is none."""
    key = ALIASES.get(loss.lower(), loss.lower())
    if key in LOSSES:
        return class_of(key)()
    call = _CALL.fullmatch(key)
    if call is None or call[1] not in {**LOSSES, **WITH_ARGUMENTS}:
        return None
    cls = class_of(call[1])
    return None if cls.parameter is None else cls(**{cls.parameter: _number(call[2], loss)})


def _number(text: str, loss: str | Loss) -> float:
    try:
        return float(text)
    except ValueError:
        raise UnknownNameError(
            f"unknown loss {loss!r}; expected a number in the brackets, as in 'vi(0.7)'.",
            argument="loss",
        ) from None
