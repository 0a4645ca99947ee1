"""Results on standard output and messages on standard error, fitted to the terminal.

Coloured on a terminal that can, plain everywhere else.
"""

from __future__ import annotations

import json
import os
import shutil
import sys
import textwrap
from typing import TYPE_CHECKING, Any

import click

if TYPE_CHECKING:
    from partita.summary.result import Summary

_WIDE = 80

_STYLES: dict[str, dict[str, Any]] = {
    "warning": {"fg": "yellow"},
    "rule": {"dim": True},
    "heading": {"bold": True},
}
"""How kinds of lines look on a coloured terminal."""


def width(*, elsewhere: int = _WIDE) -> int:
    """Columns of the terminal that results go to, at most 100; ``elsewhere`` when it is none."""
    if not sys.stdout.isatty():
        return elsewhere
    return min(100, shutil.get_terminal_size((_WIDE, 24)).columns)


def say(message: str) -> None:
    """A message for the person who runs the command, on standard error."""
    message = escaped(message)
    if sys.stderr.isatty():
        columns = shutil.get_terminal_size((_WIDE, 24)).columns
        message = textwrap.fill(message, columns, break_long_words=False, break_on_hyphens=False)
    click.echo(message, err=True)


def escaped(text: str) -> str:
    """The text with control characters shown as escapes, so that a name cannot steer a terminal."""
    return "".join(c if c in "\n\t" or c.isprintable() else ascii(c)[1:-1] for c in text)


def coloured() -> bool:
    """Whether colours are wanted: a terminal, no NO_COLOR, not a dumb one."""
    return (
        sys.stdout.isatty()
        and not os.environ.get("NO_COLOR")
        and os.environ.get("TERM", "dumb") != "dumb"
    )


def show(text: str) -> None:
    """Print a result."""
    click.echo(escaped(text))


def show_either(text: str, document: dict[str, Any], *, as_json: bool) -> None:
    """Print a result as text, or as JSON."""
    if not as_json:
        show(text)
        return
    from partita.summary.plain import plain

    click.echo(json.dumps(plain(document), indent=1, ensure_ascii=False))


def wrapped(columns: int, *lines: str) -> str:
    """Lines broken where the terminal ends, their continuations indented."""
    return "\n".join(
        part
        for line in lines
        for part in textwrap.wrap(line, columns, subsequent_indent="  ", break_on_hyphens=False)
    )


def show_summary(summary: Summary, *, first: int = 0) -> None:
    """Print a summary, its clusters numbered from ``first`` on.

    On a coloured terminal headings are bold and warnings yellow.
    """
    from partita.summary.text import screen_lines

    colours = coloured()
    for line in screen_lines(summary, width(), first=first):
        lead, rest = escaped(line.text[: line.lead]), escaped(line.text[line.lead :])
        if colours:
            lead = click.style(lead, bold=True, fg="cyan") if lead else ""
            rest = click.style(rest, **_STYLES[line.kind]) if line.kind in _STYLES else rest
        click.echo(lead + rest)
