"""Classes found again by the name that a saved fit holds."""

from __future__ import annotations

import importlib
import pkgutil
import sys
from dataclasses import asdict, fields, is_dataclass
from typing import Any, ClassVar

import numpy as np

from partita import samplers
from partita.errors import FileFormatError, InvalidInputError


class MissingClassError(FileFormatError):
    """A file's model uses a class that has not been imported."""


_OWN = "partita"
"""Home of all classes of partita, which may move between its modules."""

_KNOWN: dict[tuple[type, str], dict[str, type[Registered]]] = {}
"""Classes by their home, for each base (Kernel, PartitionPrior) and kind."""


def _home(module: str) -> str:
    return _OWN if module.startswith(f"{_OWN}.") else module


class Registered:
    """A value that a saved fit names: by its class's ``kind`` and its ``config()``.

    ``kind`` is the class's name unless the class says otherwise.
    """

    kind: ClassVar[str]

    def __init_subclass__(cls, **options: Any) -> None:
        super().__init_subclass__(**options)
        cls.kind = cls.__dict__.get("kind", cls.__name__)
        base = next(each for each in cls.__mro__ if Registered in each.__bases__)
        known, home = _KNOWN.setdefault((base, cls.kind), {}), _home(cls.__module__)
        if _OWN in known and home != _OWN:
            raise InvalidInputError(
                f"a kernel or prior named {cls.kind!r} comes with partita; give the class "
                f"{cls.__qualname__} another name, or another kind."
            )
        known[home] = cls

    def config(self) -> dict[str, Any]:
        """Parameters as JSON values, by the names that :meth:`from_config` takes.

        By default the fields of a dataclass, or the attributes.
        """
        names = [field.name for field in fields(self)] if is_dataclass(self) else list(vars(self))
        return {name: _plain(getattr(self, name)) for name in names}

    @classmethod
    def from_config(cls, config: dict[str, Any]) -> Any:
        """The value again; by default ``cls(**config)``, distributions made anew."""
        return cls(**{name: _restored(value) for name, value in config.items()})


def _plain(value: Any) -> Any:
    """A field as JSON; a distribution as its own parameters."""
    from partita.samplers.priors import F, Gamma

    if isinstance(value, (Gamma, F)):
        return asdict(value)
    if isinstance(value, tuple):
        return tuple(map(_plain, value))
    return value.tolist() if isinstance(value, (np.ndarray, np.generic)) else value


def _restored(value: Any) -> Any:
    """The field again."""
    from partita.samplers.priors import F, Gamma

    if isinstance(value, list):
        return [_restored(each) for each in value]
    for kind in (Gamma, F):
        if isinstance(value, dict) and value.keys() == {field.name for field in fields(kind)}:
            return kind(**value)
    return value


def described(value: Registered) -> list[Any]:
    """Kind and parameters of a value, for a file; of a user's class also its module."""
    home = _home(type(value).__module__)
    described = [value.kind, value.config()]
    return described if home == _OWN else [*described, home]


def restored(base: type, kind: str, config: dict[str, Any], module: str | None = None) -> Any:
    """The kernel or prior, as ``base`` says, of that description.

    Only modules of partita are imported: a file must not choose what code runs.
    """
    home = _home(module) if module else _OWN
    if home == _OWN and _OWN not in _KNOWN.get((base, kind), {}):
        for each in pkgutil.iter_modules(samplers.__path__, "partita.samplers."):
            importlib.import_module(each.name)
    known = _KNOWN.get((base, kind), {})
    was: Any = getattr(sys.modules.get(home), kind, None)  # where a class that moved may be named
    found = known.get(home, was)
    if found not in known.values():
        raise MissingClassError(_say_missing(kind, home, list(known)))
    return found.from_config(config)


def _say_missing(kind: str, home: str, elsewhere: list[str]) -> str:
    """What is not there, what to do, and what has the same name."""
    if home == _OWN:
        return (
            f"the file's model uses the class {kind}, which this version of partita does not have; "
            "the version that wrote it has."
        )
    way = f"Import {home} first"
    if home == "__main__":
        way = f"Define or import {kind} in this script or notebook, as in the one that wrote it"
    others = "".join(f" ({kind} of {each} is another class.)" for each in elsewhere)
    return (
        f"the file's model uses the class {kind} of {home}, which is not known here. {way}, then "
        f"load the file again.{others}"
    )
