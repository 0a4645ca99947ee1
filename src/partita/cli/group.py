"""The command ``partita`` itself: finds its commands by name, and ends every run with a code."""

from __future__ import annotations

import os
import sys
import warnings
from importlib import import_module
from typing import Any, NoReturn

import click

from partita.cli.failures import INTERRUPTED, report_failure
from partita.cli.options import Run, debug_option
from partita.cli.show import say

COMMANDS = {
    "summarize": "Estimate and credible ball from posterior draws.",
    "fit": "Sample a mixture model for a table of data, then summarize.",
    "demo": "The whole way on data of the paper, into a directory.",
    "rivals": "Several representative clusterings, with masses and a proof.",
    "core": "The largest set of items whose grouping holds.",
    "path": "Every clustering that is optimal at some price of splitting.",
    "compare": "Distance, cross table and meet of two clusterings.",
    "convert": "Draws from one file format into another.",
    "warmup": "Compile for this machine ahead of the first run.",
    "completion": "Print the script that completes commands in a shell.",
}
"""Command to the line that describes it; each is a module of this package with a ``command``."""


class LazyGroup(click.Group):
    """A group that imports the module of a command when that command is called."""

    def list_commands(self, ctx: click.Context) -> list[str]:  # noqa: ARG002
        """All names, in the order of a newcomer's interest."""
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, name: str) -> click.Command | None:
        """The command of that name."""
        if name not in COMMANDS:
            return None
        command: click.Command = import_module(f"partita.cli.{name}").command
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
        run = Run()
        try:
            with warnings.catch_warnings():
                warnings.showwarning = _say_warning  # type: ignore[assignment]
                code = super().main(*args, **{**options, "standalone_mode": False, "obj": run})
            sys.stdout.flush()
        except BrokenPipeError:  # the reader has seen enough, as in `partita … | head`
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
            code = 1
        except Exception as error:
            code = report_failure(error, run)
        except KeyboardInterrupt:
            code = INTERRUPTED
        sys.exit(code if isinstance(code, int) else 0)


def _say_warning(message: Warning | str, *_: Any) -> None:
    """A warning as one sentence for the person at the keyboard."""
    say(f"partita: warning: {' '.join(str(message).split())}")


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

Each command explains itself: partita COMMAND --help.""",
)
@click.version_option(package_name="partita", message="%(prog)s %(version)s")
@debug_option
def cli() -> None:
    """From posterior draws of clusterings to a clustering you can report.

    Results go to standard output, messages and progress to standard error.
    Exit codes: 0 done, 1 failed, 2 wrong usage, 130 interrupted.
    """
