"""The command group, options that several commands share, and the Dask cluster of two of them."""

from __future__ import annotations

import os
import re
import shutil
import signal
import sys
import textwrap
import threading
import time
import traceback
import warnings
from ast import literal_eval
from collections.abc import Callable, Iterable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from functools import partial, wraps
from importlib import import_module
from inspect import Parameter, signature
from types import FrameType
from typing import Any, NoReturn, TypeVar, cast

import click

from partita._wording import printable
from partita.errors import ClusterError, PartitaError
from partita.kernels import listeners
from partita.losses import LOSSES

F = TypeVar("F", bound=Callable[..., Any])


def was_given(option: str) -> bool:
    """Whether the user gave this option of the command."""
    source = click.get_current_context().get_parameter_source(option)
    return source is not None and source.name != "DEFAULT"


_WIDE = 80


def terminal_width() -> int:
    """Columns of the terminal, where there is one."""
    return shutil.get_terminal_size((_WIDE, 24)).columns


def say(message: str) -> None:
    """A message for the person who runs the command, on standard error."""
    message = printable(message, keep="\n\t")
    if sys.stderr.isatty():
        message = textwrap.fill(
            message, terminal_width(), break_long_words=False, break_on_hyphens=False
        )
    click.echo(message, err=True)


class LossName(click.Choice):  # type: ignore[type-arg]
    """The name of a loss, with its parameter in brackets where it has one: ``vi(0.7)``."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        """The name as it was given, once it is known to name a loss."""
        if "(" not in str(value):
            return super().convert(value, param, ctx)
        from partita.losses.evaluate import as_loss

        try:
            as_loss(value)
        except PartitaError as problem:
            self.fail(str(problem), param, ctx)
        return value


@dataclass
class Run:
    """State of one run of the command line, beside its command's arguments."""

    debug: bool = False
    command: click.Command | None = None


def _set_debug(ctx: click.Context, _: click.Parameter, value: bool) -> None:
    run = ctx.ensure_object(Run)
    run.debug = run.debug or value


def several(*options: Callable[[F], F]) -> Callable[[F], F]:
    """Several options at once."""

    def add(function: F) -> F:
        for option in reversed(options):  # help lists them in the order written
            function = option(function)
        return function

    return add


_NAMES = {
    **{"rng": "seed", "n_jobs": "jobs", "n_starts": "starts", "missing": "na"},
    "held_out": "held-out/--in-sample",
}
"""Options that are not called as the parameter of the function is."""
_KINDS: dict[str, tuple[str, Any]] = {
    "prob": ("P", click.FloatRange(0, 1, min_open=True)),
    "time_limit": ("S", click.FloatRange(0, min_open=True)),
    "checkpoint_every": ("S", click.FloatRange(0)),
    **dict.fromkeys(("low", "high"), ("A", click.FloatRange(0, 2))),
    **dict.fromkeys(("burn_in", "rng"), ("N", click.IntRange(0))),
    "n_jobs": ("N", int),
    **dict.fromkeys(("max_clusters", "n_clusters"), ("K", click.IntRange(1))),
    "min_size": ("S", click.IntRange(1)),
    **dict.fromkeys(("checkpoint", "resume"), ("FILE", click.Path(dir_okay=False))),
    **dict.fromkeys(("sep", "decimal", "thousands"), ("CHAR", str)),
    **dict.fromkeys(("var_name", "encoding"), ("NAME", str)),
}
"""What stands for a value in help, and what it may be; other whole numbers are at least 1."""


def of(function: Callable[..., Any], **told: str | dict[str, Any]) -> Callable[[F], F]:
    """An option for each of these parameters of a function, by its help.

    The signature has the default, the kind and the choices. What it does not say stands beside
    the help, as click names it.
    """
    parameters = signature(function).parameters
    return several(
        *(
            _option(parameters[name], {"help": about} if isinstance(about, str) else about)
            for name, about in told.items()
        )
    )


def _option(parameter: Parameter, about: dict[str, Any]) -> Callable[[F], F]:
    name, hint = parameter.name, parameter.annotation.removesuffix(" | None")
    option = f"--{_NAMES.get(name, name).replace('_', '-')}"
    facts: dict[str, Any] = {"default": parameter.default}
    if hint == "bool":
        facts["is_flag"] = True
        if hint != parameter.annotation and "/" not in option:
            option = f"{option}/--no-{name}"
    elif hint.startswith("Literal"):
        choices = literal_eval(hint.removeprefix("Literal"))
        facts["type"] = click.Choice((*choices, "none"))
        facts["callback"] = lambda _, __, value: None if value == "none" else value
    elif name in _KINDS or hint == "int":
        facts["metavar"], facts["type"] = _KINDS.get(name, ("N", click.IntRange(1)))
    return click.option(option, name, **{**facts, **about})


def take(function: Callable[..., Any], choices: dict[str, Any]) -> dict[str, Any]:
    """Arguments of a function, less those it must have, taken out of the choices."""
    parameters = signature(function).parameters.items()
    named = [name for name, each in parameters if each.default is not each.empty]
    return {name: choices.pop(name) for name in named if name in choices}


def flag(name: str, help: str, *names: str) -> Callable[[F], F]:
    """An option that is given or not."""
    return click.option(name, *names, is_flag=True, help=help)


def text(
    option: str, metavar: str, help: str, name: str | None = None, **facts: Any
) -> Callable[[F], F]:
    """An option with a value; its parameter has the same name, or that of ``name``."""
    names = [option] if name is None else [option, name]
    return click.option(*names, metavar=metavar, help=help, **facts)


def number(option: str, help: str, least: int = 1, **facts: Any) -> Callable[[F], F]:
    """A whole number of at least ``least``."""
    return text(option, "N", help, type=click.IntRange(least), **facts)


def loss(help: str, known: Iterable[str] = LOSSES, **facts: Any) -> Callable[[F], F]:
    """``--loss``, one of some losses."""
    facts = {"default": "vi", "metavar": None, **facts}
    return text("--loss", help=help, type=LossName(tuple(known), case_sensitive=False), **facts)


def written(name: str, metavar: str, help: str, **facts: Any) -> Callable[[F], F]:
    """A file or directory that is written, or both."""
    return click.option(name, type=click.Path(**facts), metavar=metavar, help=help)


debug = click.option(
    "--debug",
    is_flag=True,
    expose_value=False,
    callback=_set_debug,
    help="Show the traceback of an error.",
)
force = flag("--force", "Replace files that exist; other files are never touched.")
as_json = flag("--json", "Print JSON instead of text.", "as_json")
one_based = flag("--one-based", "Count clusters, and items without names, from 1, as R does.")
weights = text("--weights", "FILE", "Weights of the draws, one per row.")


def seed(what: str) -> dict[str, Any]:
    """What is told of ``rng``."""
    return {"help": f"Seed of the {what}.", "default": 0}


THREADS = "Threads. Default: every core. Results do not depend on it."


_SECONDS = 10
"""How long to wait for a scheduler."""

_BACK = "300 s"
"""How long a worker that died may take to start again: Dask's 15 s are short on a busy machine."""


def cluster(function: F) -> F:
    """``--scheduler ADDRESS`` and ``--workers N``: the command gets ``work``, to be entered."""

    @wraps(function)
    def command(scheduler: str | None, workers: int | None, **given: Any) -> None:
        function(work=_at_work(scheduler, workers), **given)

    return several(
        text(
            "--scheduler",
            "ADDRESS",
            "Work on the Dask cluster with this scheduler, as in tcp://host:8786.",
        ),
        number("--workers", "Work in N processes of this machine, a Dask cluster of its own."),
    )(cast("F", command))


@dataclass
class Work:
    """The client of the cluster asked for, and whether Ctrl-C was pressed.

    Searches and samplers return what they have after it.
    """

    client: Any = None
    interrupted: bool = False


@contextmanager
def _at_work(scheduler: str | None, workers: int | None) -> Iterator[Work]:
    """A cluster that is closed afterwards; after Ctrl-C, which is raised as usual, exit by 130."""
    work = Work()

    def note(number: int, frame: FrameType | None) -> None:
        work.interrupted = True
        signal.default_int_handler(number, frame)

    with ExitStack() as stack:
        if scheduler is not None or workers is not None:
            work.client = _client(stack, scheduler, workers)
        if threading.current_thread() is threading.main_thread():  # others cannot set handlers
            stack.callback(signal.signal, signal.SIGINT, signal.signal(signal.SIGINT, note))
        yield work
    if work.interrupted:
        raise click.exceptions.Exit(INTERRUPTED)


def _client(stack: ExitStack, scheduler: Any, workers: int | None) -> Any:
    if scheduler is not None and workers is not None:
        raise click.UsageError("--workers starts a cluster and --scheduler names one; give one.")
    from partita._imports import require

    asked = "--scheduler" if scheduler is not None else "--workers"
    distributed = require("distributed", extra="dask", purpose=asked)
    require("dask.array", extra="dask", purpose=asked)
    if workers is not None:
        import dask

        stack.enter_context(dask.config.set({"distributed.deploy.lost-worker-timeout": _BACK}))
        scheduler = stack.enter_context(
            distributed.LocalCluster(
                n_workers=workers, threads_per_worker=1, dashboard_address=":0"
            )
        )
    try:
        client = distributed.Client(scheduler, timeout=_SECONDS)
    except (OSError, ValueError, TypeError) as error:
        raise ClusterError(
            f"there is no Dask scheduler at {scheduler} ({type(error).__name__}: {error}). Start "
            "one with: dask scheduler"
        ) from error
    return stack.enter_context(client)


# ------------------------------------------------------------------ the command group


FAILED, INTERRUPTED = 1, 130

COMMANDS = {
    "summarize": "Estimate and credible ball from posterior draws.",
    "fit": "Sample a mixture model for a table of data, then summarise.",
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
    "demo": "fit",
    **dict.fromkeys(("representatives", "core", "path"), "questions"),
    **dict.fromkeys(("convert", "warmup"), "compare"),
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
            self._said = True
            say("partita: compiling for this machine; the first run takes up to a few minutes")


def _say_warning(run: Run, message: Warning | str, *_: Any) -> None:
    """A warning as one sentence for the person at the keyboard."""
    say(f"partita: warning: {_in_options(str(message), run.command)}")


@click.group(
    name="partita",
    cls=LazyGroup,
    context_settings={"help_option_names": ["-h", "--help"], "show_default": True},
    epilog="""\b
Examples:
  $ partita demo galaxies
  $ partita summarize draws.csv
  $ partita fit data.csv --names id --report report.html
  $ partita --version

Help on a command: partita COMMAND --help.""",
)
@click.version_option(package_name="partita", message="%(prog)s %(version)s")
@debug
def cli() -> None:
    """From posterior draws of clusterings to a clustering you can report.

    Results go to standard output, messages and progress to standard error.
    Exit codes: 0 done, 1 failed, 2 wrong usage, 130 interrupted.
    """


def _option_of(argument: str | None, command: click.Command | None) -> click.Option | None:
    """The option of an argument of the library, which has its name."""
    wanted = "force" if argument == "overwrite" else argument
    for option in command.params if command else ():
        if option.name == wanted:
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
    """The message of an error, after the option that it is about."""
    text, argument = _in_options(str(error), command), getattr(error, "argument", None)
    # A message about a path names the file.
    option = None if argument == "path" else _option_of(argument, command)
    if option is None:
        return text
    return f"{max(option.opts, key=len)}: {text.removeprefix(f'{argument}=')}"


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
