"""The command ``partita``: its subcommands by name, exit codes, errors, Ctrl-C."""

from __future__ import annotations

import os
import re
import signal
import sys
import threading
import time
import traceback
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from importlib import import_module
from types import FrameType
from typing import Any, NoReturn

import click

from partita.cli.options import Run, debug_option
from partita.errors import PartitaError
from partita.kernels import listeners

FAILED, INTERRUPTED = 1, 130

COMMANDS = {
    "summarize": "Estimate and credible ball from posterior draws.",
    "fit": "Sample a mixture model for a table of data, then summarize.",
    "demo": "The whole analysis on data of the paper, into a directory.",
    "representatives": "Several representative clusterings, with their masses.",
    "core": "A large set of items that are grouped identically.",
    "path": "Every clustering that is optimal at some price of splitting.",
    "compare": "Distance, cross table and meet of two clusterings.",
    "convert": "Convert draws from one file format to another.",
    "warmup": "Compile for this machine ahead of the first run.",
}
"""Command to the line that describes it."""
RENAMED = {"rivals": "representatives"}
"""Earlier names of commands, which still work."""
MODULES = {
    **dict.fromkeys(("representatives", "core", "path"), "questions"),
    **{"demo": "fit", "convert": "tools", "warmup": "tools"},
}
"""The module of a command, where it has another name than the command."""


class LazyGroup(click.Group):
    """A group that imports the module of a command when that command is called."""

    def list_commands(self, ctx: click.Context) -> list[str]:  # noqa: ARG002
        """All names, in the order of the table."""
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, name: str) -> click.Command | None:
        """The command of that name."""
        if name in RENAMED:
            click.echo(f"partita {name} is now partita {RENAMED[name]}", err=True)
            name = RENAMED[name]
        if name not in COMMANDS:
            return None
        module = import_module(f"partita.cli.{MODULES.get(name, name)}")
        command: click.Command = getattr(module, name)
        command.short_help = COMMANDS[name]
        ctx.ensure_object(Run).command = command
        return command

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:  # noqa: ARG002
        """The list of commands, from the table: no command is loaded for it."""
        with formatter.section("Commands"):
            formatter.write_dl(list(COMMANDS.items()))

    def main(self, *args: Any, **options: Any) -> NoReturn:
        """Run and exit: 0 done, 1 failed, 2 wrong usage, 130 interrupted."""
        for name in ("stdout", "stderr"):
            if getattr(sys, name) is None:  # closed by whoever started us, as in `>&-`
                setattr(sys, name, open(os.devnull, "w", encoding="utf-8"))  # noqa: SIM115
        for stream in (sys.stdout, sys.stderr):
            if hasattr(stream, "reconfigure"):  # a terminal without Unicode gets ? for ≥
                stream.reconfigure(errors="replace")
        run, compiling = Run(), _Compiling()
        listeners.append(compiling.say)
        try:
            with warnings.catch_warnings():
                warnings.showwarning = partial(_say_warning, run)
                code = super().main(*args, **{**options, "standalone_mode": False, "obj": run})
            sys.stdout.flush()
        except BrokenPipeError:  # the reader has seen enough, as in `partita … | head`
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
            code = 1
        except Exception as error:
            code = report_failure(error, run)
        except KeyboardInterrupt:
            code = INTERRUPTED
        finally:
            listeners.remove(compiling.say)
        sys.exit(code if isinstance(code, int) else 0)


class _Compiling:
    """Says once that kernels are being compiled, where no line on a terminal does."""

    def __init__(self) -> None:
        self._since = 0.0
        self._said = sys.stderr.isatty()

    def say(self) -> None:
        """One kernel takes a moment; what lasts is a first run."""
        now = time.monotonic()
        self._since = self._since or now
        if not self._said and now - self._since > 1.0:
            from partita.cli.outputs import say

            self._said = True
            say("partita: compiling for this machine; the first run takes up to a few minutes")


def _say_warning(run: Run, message: Warning | str, *_: Any) -> None:
    """A warning as one sentence for the person at the keyboard."""
    from partita.cli.outputs import say

    say(f"partita: warning: {_in_options(str(message), run.command)}")


@click.group(
    name="partita",
    cls=LazyGroup,
    context_settings={"help_option_names": ["-h", "--help"]},
    epilog="""\b
Examples:
  $ partita demo galaxies
  $ partita summarize draws.csv
  $ partita fit data.csv --names id --report report.html
  $ partita --version

Help on a command: partita COMMAND --help.""",
)
@click.version_option(package_name="partita", message="%(prog)s %(version)s")
@debug_option
def cli() -> None:
    """From posterior draws of clusterings to a clustering you can report.

    Results go to standard output, messages and progress to standard error.
    Exit codes: 0 done, 1 failed, 2 wrong usage, 130 interrupted.
    """


_OPTIONS = {"n_jobs": "jobs", "rng": "seed", "format": "file_format", "overwrite": "force"}
"""Arguments of the library whose option has another name."""


def _option_of(argument: str | None, command: click.Command | None) -> click.Option | None:
    for option in command.params if command else ():
        if option.name == _OPTIONS.get(argument or "", argument):
            return option if isinstance(option, click.Option) else None
    return None


def _in_options(text: str, command: click.Command | None) -> str:
    """One line, in which ``transpose=True`` is the option of the command, ``--transpose``."""

    def named(given: re.Match[str]) -> str:
        option, value = _option_of(given[1], command), given[2]
        if option is None or (value == "False" and not option.secondary_opts):
            return given[0]
        if value in ("True", "False"):
            return max(option.opts if value == "True" else option.secondary_opts, key=len)
        return f"{max(option.opts, key=len)} {value}"

    # From advice on only: a file that is called header=True keeps its name.
    before, advice, after = re.split(r"(\b[Pp]ass |$)", " ".join(text.split()), maxsplit=1)
    return before + advice + re.sub(r"(\w+)=(True|False|…|'[^']*')", named, after)


def paragraph(error: BaseException, command: click.Command | None) -> str:
    """What an error says, behind the option of the command that it is about."""
    text, argument = _in_options(str(error), command), getattr(error, "argument", None)
    # A message about a path names the file.
    option = None if argument == "path" else _option_of(argument, command)
    if option is None:
        return text
    return f"{max(option.opts, key=len)}: {text.removeprefix(f'{argument}=')}"


def report_failure(error: Exception, run: Run) -> int:
    """Say on standard error what went wrong; returns the exit code."""
    from partita.cli.outputs import say

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
