"""Results on standard output and messages on standard error, fitted to the terminal.

Coloured on a terminal that can, plain everywhere else.
"""

from __future__ import annotations

import os
import re
import shutil
import sys
import textwrap

import click

_WIDE = 80


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
    """Print a result; on a coloured terminal headings are bold and warnings yellow."""
    text = escaped(text)
    if not coloured():
        click.echo(text)
        return
    warning = False
    for line in text.splitlines():
        warning = line.startswith("  ! ") or (warning and line.startswith("    "))
        if warning:
            click.secho(line, fg="yellow")
        elif set(line) == {"="}:
            click.secho(line, dim=True)
        elif lead := re.match(r"[A-Z0-9][\w.%\- ]*:", line):
            click.echo(click.style(lead.group(), bold=True, fg="cyan") + line[lead.end() :])
        elif re.match(r" *(Cluster |Estimates )", line):
            click.secho(line, bold=True)
        else:
            click.echo(line)
