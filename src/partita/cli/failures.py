"""Errors in the words of the command line: one paragraph, and an exit code."""

from __future__ import annotations

import traceback

import click

from partita.cli.show import say

FAILED, INTERRUPTED = 1, 130

_FLAGS = {
    "overwrite": "--force",
    "transpose": "--transpose",
    "strings": "--strings",
    "header": "--header",
}
_VALUES = {
    "format": "--format",
    "sep": "--sep",
    "var_name": "--var-name",
    "weights": "--weights",
    "loss": "--loss",
    "method": "--method",
    "prob": "--prob",
    "bound": "--bound",
    "time_limit": "--time-limit",
    "max_clusters": "--max-clusters",
    "n_clusters": "--n-clusters",
    "min_size": "--min-size",
    "low": "--low",
    "high": "--high",
    "n_jobs": "--jobs",
    "rng": "--seed",
    "draws": "--draws",
    "burn_in": "--burn-in",
    "thin": "--thin",
    "chains": "--chains",
    "checkpoint": "--checkpoint",
    "resume": "--resume",
    "concentration": "--concentration",
    "discount": "--discount",
    "mean_components": "--mean-components",
    "weight": "--weight",
}
"""Arguments of the library and the options that stand for them."""


def in_options(message: str) -> str:
    """A message of the library with its arguments named as options: ``prob=2`` is ``--prob 2``."""
    for meaning in ("singletons", "cluster"):
        message = message.replace(f"noise=(-1, {meaning!r})", f"--noise -1:{meaning}")
    return " ".join(_word_in_options(word) for word in message.split(" "))


def _word_in_options(word: str) -> str:
    """A word that begins with an argument, as the option that stands for it."""
    bare = word.lstrip("(")
    name, equals, value = bare.partition("=")
    before = word[: len(word) - len(bare)]
    if name == "similarity" and value.startswith("..."):  # one command takes it
        return f"{before}partita summarize --similarity FILE{value[3:]}"
    if not equals or (name not in _FLAGS and name not in _VALUES):
        return word
    if name in _FLAGS:
        turned_off = value.startswith("False")
        flag = _FLAGS[name].replace("--", "--no-") if turned_off else _FLAGS[name]
        return before + flag + value.removeprefix("False").removeprefix("True").removeprefix("...")
    if value.startswith("..."):
        return before + _VALUES[name] + value[3:]
    return f"{before}{_VALUES[name]} {value}".rstrip()


def report_failure(error: Exception, *, debug: bool) -> int:
    """Say on standard error what went wrong; returns the exit code."""
    if debug and not isinstance(error, (click.ClickException, click.Abort)):
        click.echo("".join(traceback.format_exception(error)), err=True, nl=False)
        return FAILED
    if isinstance(error, click.ClickException):
        error.show()
        return error.exit_code
    if isinstance(error, click.Abort):
        reason = str(error.__cause__ or "") or "interrupted; this command did not finish."
        say(f"partita: {in_options(reason)}")
        return INTERRUPTED
    say(f"partita: {_paragraph(error)}")
    return FAILED


def _paragraph(error: Exception) -> str:
    from partita.errors import PartitaError

    text = " ".join(str(error).split())
    if isinstance(error, PartitaError):
        return in_options(text)
    if isinstance(error, MemoryError):
        return f"out of memory. {text}".rstrip()
    if isinstance(error, OSError) and error.strerror:
        where = f"{error.filename}: " if error.filename else ""
        return f"{where}{error.strerror}."
    return (
        f"unexpected {type(error).__name__}: {text or 'no message'}. This is a fault of partita; "
        "run again with --debug for the traceback and report it."
    )
