"""Errors in the words of the command line, one paragraph and an exit code; and Ctrl-C."""

from __future__ import annotations

import signal
import threading
import traceback
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from types import FrameType

import click

from partita.cli.show import say
from partita.errors import PartitaError, Worded

FAILED, INTERRUPTED = 1, 130

_FLAGS = ("overwrite", "transpose", "strings", "header")
_VALUES = (
    *("format", "sep", "var_name", "weights", "loss", "method", "prob", "bound", "time_limit"),
    *("max_clusters", "n_clusters", "min_size", "low", "high", "n_jobs", "rng", "draws"),
    *("burn_in", "thin", "chains", "checkpoint", "resume", "concentration", "discount"),
    *("mean_components", "weight", "noise"),
)
"""Arguments of the library that options stand for."""
_RENAMED = {"overwrite": "force", "n_jobs": "jobs", "rng": "seed"}
"""Those whose option has another name."""
_SPELT = {repr((-1, meaning)): f"-1:{meaning}" for meaning in ("singletons", "cluster")}
"""Values that are written in another way, those of ``noise``."""


def in_options(said: BaseException | str) -> str:
    """A message of the library with its arguments named as options: ``prob=2`` is ``--prob 2``."""
    text = said.worded(_option) if isinstance(said, Worded) else str(said)
    return " ".join(text.split())


def _option(name: str, value: str) -> str:
    """An argument and its value as the option that stands for it."""
    if name == "similarity" and value == "...":  # one command takes it
        return "partita summarize --similarity FILE"
    option = "--" + _RENAMED.get(name, name).replace("_", "-")
    if name in _FLAGS:
        return option.replace("--", "--no-") if value == "False" else option
    if name not in _VALUES:
        return f"{name}={value}"
    return option if value == "..." else f"{option} {_SPELT.get(value, value)}"


def report_failure(error: Exception, *, debug: bool) -> int:
    """Say on standard error what went wrong; returns the exit code."""
    if debug and not isinstance(error, (click.ClickException, click.Abort)):
        click.echo("".join(traceback.format_exception(error)), err=True, nl=False)
        return FAILED
    if isinstance(error, click.ClickException):
        error.show()
        return error.exit_code
    if isinstance(error, click.Abort):
        reason = in_options(error.__cause__ or "") or "interrupted; this command did not finish."
        say(f"partita: {reason}")
        return INTERRUPTED
    say(f"partita: {_paragraph(error)}")
    return FAILED


def _paragraph(error: Exception) -> str:
    text = in_options(error)
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
