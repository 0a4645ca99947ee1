"""What every result shares: it cannot be changed, and prints short, on a screen and as HTML."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields
from html import escape
from types import MappingProxyType
from typing import Any

import numpy as np


class Result:
    """Base of the frozen dataclasses that functions return.

    Arrays in it are read-only views. ``repr`` is short, ``str`` fills at most a screen, and a
    notebook shows the same; a class that has more to say overrides them.
    """

    def __post_init__(self) -> None:
        for field in fields(self):  # type: ignore[arg-type] # every subclass is a dataclass
            value = getattr(self, field.name)
            fixed = frozen(value)
            if fixed is not value:
                object.__setattr__(self, field.name, fixed)

    def __getstate__(self) -> dict[str, Any]:
        # A read-only mapping cannot be pickled; reading makes it read-only again.
        state = self.__dict__.items()
        return {n: dict(v) if isinstance(v, MappingProxyType) else v for n, v in state}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update({name: frozen(value) for name, value in state.items()})

    def _shown(self) -> dict[str, str]:
        shown = (field.name for field in fields(self) if field.repr)  # type: ignore[arg-type]
        return {name: _short(getattr(self, name)) for name in shown}

    def __repr__(self) -> str:
        shown = (f"{name}={text}" for name, text in self._shown().items())
        return f"{type(self).__name__}({', '.join(shown)})"

    def __str__(self) -> str:
        if type(self).__repr__ is not Result.__repr__:
            return repr(self)
        shown = {f"{name.replace('_', ' ')}:": text for name, text in self._shown().items()}
        width = max(map(len, shown), default=0)
        return "\n".join(f"{name:<{width}} {text}" for name, text in shown.items())

    def _repr_html_(self) -> str:
        return as_html(self)


def as_html(value: object) -> str:
    """The screen of a value for a notebook."""
    # The typeface by name: not every notebook page gives text of columns one of even width.
    return f"<pre style='font-family:monospace'>{escape(str(value))}</pre>"


def frozen(value: Any) -> Any:
    """The value with its arrays read-only, in tuples and mappings too; itself where it is."""
    if isinstance(value, np.ndarray):
        if not value.flags.writeable:
            return value
        view = value.view()
        view.flags.writeable = False
        return view
    if type(value) is tuple:
        entries = tuple(map(frozen, value))
        return entries if any(a is not b for a, b in zip(entries, value, strict=True)) else value
    if isinstance(value, Mapping):
        return MappingProxyType({key: frozen(entry) for key, entry in value.items()})
    return value


def clipped(value: object) -> str:
    """The repr of what a result was made with, cut where it is long: tables, many columns."""
    text = repr(value)
    return text if len(text) <= 160 else f"{text[:159]}…"


def _short(value: Any) -> str:
    if isinstance(value, np.ndarray):
        shape = " × ".join(map(str, value.shape)) or "1"
        return f"<{shape} {value.dtype}>"
    if isinstance(value, Mapping):
        return f"<{', '.join(map(str, value))}>"
    if isinstance(value, tuple) and (len(value) > 3 or any(isinstance(v, Result) for v in value)):
        return f"<{len(value)} entries>"
    return repr(value)
