"""The base class of results: read-only arrays, a short repr, one screen of text, and HTML."""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import fields
from html import escape
from types import MappingProxyType
from typing import Any, NamedTuple
from warnings import warn

import numpy as np

from partita._wording import printable

_LEFT = "text-align:left;vertical-align:top"
_WARNING = "border-left:4px solid #b3261e;padding:2px 10px;margin:4px 0"
_NOTE = "opacity:.75;margin:4px 0"


def _escaped(text: str) -> str:
    """Text that is neither markup nor control characters."""
    return escape(printable(text, keep="\n\t"))


def title(text: str) -> str:
    """The heading of a result."""
    return f"<div style='font-weight:600;margin:4px 0'>{_escaped(text)}</div>"


def facts(pairs: Iterable[tuple[str, str]]) -> str:
    """Return names and values as a table of two columns."""
    rows = "".join(
        f"<tr><th style='{_LEFT}'>{_escaped(name)}</th>"
        f"<td style='{_LEFT}'>{_escaped(text)}</td></tr>"
        for name, text in pairs
    )
    return f"<table>{rows}</table>"


def table(headings: Sequence[str], rows: Iterable[Sequence[str]], caption: str = "") -> str:
    """A table with headings; the first column names its rows."""
    head = "".join(f"<th>{_escaped(heading)}</th>" for heading in headings)
    body = ""
    for first, *others in rows:
        cells = "".join(f"<td>{_escaped(cell)}</td>" for cell in others)
        body += f"<tr><th>{_escaped(first)}</th>{cells}</tr>"
    above = f"<caption>{_escaped(caption)}</caption>" if caption else ""
    return f"<table>{above}<thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"


def warning(text: str) -> str:
    """Something to heed."""
    return f"<div style='{_WARNING}'><b>Warning.</b> {_escaped(text)}</div>"


def note(text: str) -> str:
    """Something to know."""
    return f"<div style='{_NOTE}'>{_escaped(text)}</div>"


class Table(NamedTuple):
    """A table as text: columns with a heading each, the first column names the row."""

    caption: str
    columns: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]

    @classmethod
    def of_columns(cls, caption: str, columns: Mapping[str, Iterable[str]]) -> Table:
        """The table of these columns by heading."""
        return cls(caption, tuple(columns), tuple(zip(*columns.values(), strict=True)))

    def text(self) -> str:
        """Columns under their headings, the first to the left, the others to the right."""
        lines = [tuple(map(printable, line)) for line in (self.columns, *self.rows)]
        widths = [max(len(line[j]) for line in lines) for j in range(len(self.columns))]
        first, *others = widths
        return "\n".join(
            "  ".join([line[0].ljust(first), *map(str.rjust, line[1:], others)]).rstrip()
            for line in lines
        )


_SPECIAL = str.maketrans(
    {
        **{sign: f"\\{sign}" for sign in "&%$#_{}"},
        "\\": r"\textbackslash{}",
        "~": r"\textasciitilde{}",
        "^": r"\textasciicircum{}",
        "≥": r"$\ge$",
        "±": r"$\pm$",
        "−": "$-$",
        "–": "--",
        "\u00a0": "~",
        "[": "{[}",  # after a line end both are options of it
        "*": "{*}",
    }
)


def latex_text(text: str) -> str:
    """Text with LaTeX's special characters and control characters escaped."""
    return printable(text).translate(_SPECIAL)


def latex_rows(table: Table) -> list[str]:
    """The lines of a tabular with rules of the package ``booktabs``."""
    return [
        rf"\begin{{tabular}}{{{'r' * len(table.columns)}}}",
        r"\toprule",
        rf"{' & '.join(map(latex_text, table.columns))} \\",
        r"\midrule",
        *(rf"{' & '.join(map(latex_text, row))} \\" for row in table.rows),
        r"\bottomrule",
        r"\end{tabular}",
    ]


def latex_table(table: Table) -> str:
    """A table with its caption."""
    caption = rf"\caption{{{latex_text(table.caption)}}}"
    lines = [r"\begin{table}", r"\centering", caption, *latex_rows(table), r"\end{table}"]
    return "\n".join(lines) + "\n"


class Page(NamedTuple):
    """The notebook page of a result; everything is escaped when it is written."""

    title: str
    facts: Sequence[tuple[str, str]] = ()
    tables: Sequence[Table] = ()
    warnings: Sequence[str] = ()
    notes: Sequence[str] = ()

    def html(self) -> str:
        """The page; warnings come first."""
        parts = [title(self.title), *map(warning, self.warnings)]
        parts += [facts(self.facts)] if self.facts else []
        parts += [table(shown.columns, shown.rows, shown.caption) for shown in self.tables]
        return "".join([*parts, *map(note, self.notes)])


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

    def _page(self) -> Page | None:
        """What a notebook shows; None: the text."""
        return None

    def _repr_html_(self) -> str:
        page = self._page()
        return as_html(self) if page is None else page.html()


class Renamed:
    """An earlier name of an attribute of a result: it warns, and is what is now called ``new``."""

    def __init__(self, new: str) -> None:
        self._new, self.__doc__ = new, f"Deprecated: ``{new}``."

    def __set_name__(self, owner: type, name: str) -> None:
        self._old = name

    def __get__(self, result: object, owner: type) -> Any:
        if result is None:
            return self
        told = f"{owner.__name__}.{self._old} is now called {self._new}."
        warn(told, DeprecationWarning, stacklevel=2)
        return getattr(result, self._new)


def as_html(value: object) -> str:
    """The screen of a value for a notebook."""
    # The typeface by name: not every notebook page gives text of columns one of even width.
    return f"<pre style='font-family:monospace'>{_escaped(str(value))}</pre>"


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


def fields_of(source: Any, *names: str) -> dict[str, Any]:
    """Some attributes by name."""
    return {name: getattr(source, name) for name in names}


def json_text(document: dict[str, Any]) -> str:
    """A document of plain values as JSON, a line for each entry.

    Numbers of an entry stand in one line: Python's encoder is ten times slower with indentation.
    """
    entries = (f" {json.dumps(key)}: {_value(value)}" for key, value in document.items())
    return "{\n" + ",\n".join(entries) + "\n}"


def _value(value: Any) -> str:
    text = json.dumps(value, allow_nan=False, ensure_ascii=False)
    # A terminal obeys control characters beyond ASCII, too, and a file cannot hold half a pair.
    return text if text.isprintable() else json.dumps(value, allow_nan=False)


def plain(value: Any) -> Any:
    """Return plain lists, numbers and strings; None for values that are not finite."""
    if isinstance(value, dict):
        return {str(key): plain(entry) for key, entry in value.items()}
    if isinstance(value, (list, tuple)):
        return [plain(entry) for entry in value]
    if isinstance(value, np.ndarray):
        known = value.dtype.kind in "iub" or (value.dtype.kind == "f" and np.isfinite(value).all())
        return value.tolist() if known else plain(value.tolist())
    if isinstance(value, np.generic):
        return plain(value.item())
    if isinstance(value, float) and not math.isfinite(value):
        return None
    return value
