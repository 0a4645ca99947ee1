"""Small pieces of HTML for notebooks: everything is escaped, colours follow the reader's theme."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from html import escape

_LEFT = "text-align:left;vertical-align:top"
_WARNING = "border-left:4px solid #b3261e;padding:2px 10px;margin:4px 0"
_NOTE = "opacity:.75;margin:4px 0"


def title(text: str) -> str:
    """The heading of a result."""
    return f"<div style='font-weight:600;margin:4px 0'>{escape(text)}</div>"


def facts(pairs: Iterable[tuple[str, str]]) -> str:
    """Names and what is said of each, as a table of two columns."""
    rows = "".join(
        f"<tr><th style='{_LEFT}'>{escape(name)}</th><td style='{_LEFT}'>{escape(text)}</td></tr>"
        for name, text in pairs
    )
    return f"<table>{rows}</table>"


def table(headings: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """A table with headings; the first column names its rows."""
    head = "".join(f"<th>{escape(heading)}</th>" for heading in headings)
    body = ""
    for first, *others in rows:
        cells = "".join(f"<td>{escape(cell)}</td>" for cell in others)
        body += f"<tr><th>{escape(first)}</th>{cells}</tr>"
    return f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"


def warning(text: str) -> str:
    """Something to heed."""
    return f"<div style='{_WARNING}'><b>Warning.</b> {escape(text)}</div>"


def note(text: str) -> str:
    """Something to know."""
    return f"<div style='{_NOTE}'>{escape(text)}</div>"
