"""Errors as one paragraph and an exit code; and Ctrl-C."""

from __future__ import annotations

import signal
import threading
import traceback
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from types import FrameType

import click

from partita.cli.options import Run
from partita.cli.show import say
from partita.errors import PartitaError

FAILED, INTERRUPTED = 1, 130

_OPTIONS = {"n_jobs": "jobs", "rng": "seed", "format": "file_format", "overwrite": "force"}
"""Arguments of the library whose option has another name."""


def paragraph(error: BaseException, command: click.Command | None) -> str:
    """What an error says, behind the option of the command that it is about."""
    text = " ".join(str(error).split())
    argument = getattr(error, "argument", None)
    if argument in (None, "path"):  # such a message names the file
        return text
    for option in command.params if command else ():
        if option.name == _OPTIONS.get(argument, argument) and isinstance(option, click.Option):
            return f"{max(option.opts, key=len)}: {text.removeprefix(f'{argument}=')}"
    return text


def report_failure(error: Exception, run: Run) -> int:
    """Say on standard error what went wrong; returns the exit code."""
    if run.debug and not isinstance(error, (click.ClickException, click.Abort)):
        click.echo("".join(traceback.format_exception(error)), err=True, nl=False)
        return FAILED
    if isinstance(error, click.ClickException):
        error.show()
        return error.exit_code
    if isinstance(error, click.Abort):
        reason = str(error.__cause__ or "") or "interrupted; this command did not finish."
        say(f"partita: {reason}")
        return INTERRUPTED
    say(f"partita: {_explained(error, run.command)}")
    return FAILED


def _explained(error: Exception, command: click.Command | None) -> str:
    text = paragraph(error, command)
    if isinstance(error, PartitaError):
        return text
    if isinstance(error, MemoryError):
        return f"out of memory. {text}".rstrip()
    if isinstance(error, OSError) and error.strerror:
        where = f"{error.filename}: " if error.filename else ""
        return f"{where}{error.strerror}."
    return (
        f"unexpected {type(error).__name__}: {text or 'no message'}. This is a fault of partita; "
        "run again with --debug for the traceback and report it."
    )


@dataclass
class Interrupts:
    """Whether Ctrl-C was pressed; searches and samplers return what they have after it."""

    came: bool = False


@contextmanager
def watch_interrupts() -> Iterator[Interrupts]:
    """Note every Ctrl-C in the block, which still raises KeyboardInterrupt."""
    seen = Interrupts()
    if threading.current_thread() is not threading.main_thread():
        yield seen  # handlers can be set in the main thread only
        return

    def note(number: int, frame: FrameType | None) -> None:
        seen.came = True
        signal.default_int_handler(number, frame)

    before = signal.signal(signal.SIGINT, note)
    try:
        yield seen
    finally:
        signal.signal(signal.SIGINT, before)
