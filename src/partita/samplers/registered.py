"""Classes found again by the name that a saved fit holds."""

from __future__ import annotations

import importlib
import pkgutil
from dataclasses import asdict, fields, is_dataclass
from typing import Any, ClassVar

import numpy as np

from partita import samplers
from partita.errors import FileFormatError, InvalidInputError
from partita.samplers.hyperpriors import F, Gamma


class MissingClassError(FileFormatError):
    """A file's model uses a class that has not been imported."""


_KNOWN: dict[str, type[Registered]] = {}


class Registered:
    """A value that a saved fit names: by its class's ``kind`` and its ``config()``.

    ``kind`` is the class's name unless the class says otherwise.
    """

    kind: ClassVar[str]

    def __init_subclass__(cls, **options: Any) -> None:
        super().__init_subclass__(**options)
        cls.kind = cls.__dict__.get("kind", cls.__name__)
        taken = _KNOWN.get(cls.kind)
        own = "partita."
        if taken and taken.__module__.startswith(own) and not cls.__module__.startswith(own):
            raise InvalidInputError(
                f"a kernel or prior named {cls.kind!r} comes with partita; give the class "
                f"{cls.__qualname__} another name, or another kind."
            )
        _KNOWN[cls.kind] = cls

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
    if isinstance(value, (Gamma, F)):
        return asdict(value)
    if isinstance(value, tuple):
        return tuple(map(_plain, value))
    return value.tolist() if isinstance(value, (np.ndarray, np.generic)) else value


def _restored(value: Any) -> Any:
    """The field again."""
    if isinstance(value, list):
        return [_restored(each) for each in value]
    for kind in (Gamma, F):
        if isinstance(value, dict) and value.keys() == {field.name for field in fields(kind)}:
            return kind(**value)
    return value


def described(value: Registered) -> list[Any]:
    """Kind and parameters of a value, for a file; of a user's class also its module."""
    home = type(value).__module__
    described = [value.kind, value.config()]
    return described if home.startswith("partita.") else [*described, home]


def restored(kind: str, config: dict[str, Any], module: str | None = None) -> Any:
    """The value of that description.

    Only modules of partita are imported: a file must not choose what code runs.
    """
    own = module is not None and module.startswith("partita.")
    if kind not in _KNOWN and (own or module is None):
        # Files of version 0.1 name the class alone, and classes of partita may move.
        for each in pkgutil.iter_modules(samplers.__path__, "partita.samplers."):
            importlib.import_module(each.name)
    if kind not in _KNOWN:
        where = f" Import {module} first" if module else " Import the module that defines it"
        raise MissingClassError(
            f"the file's model uses the class {kind}, which is not known here.{where}, then load "
            "the file again."
        )
    return _KNOWN[kind].from_config(config)
