"""What commands share that ask one question of draws: options, reading, writing, printing."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import wraps
from typing import Any

import click

from partita.cli.options import (
    all_of,
    bound_option,
    debug_option,
    force_option,
    jobs_option,
    json_option,
    one_based_option,
    read_options,
    seed_option,
    time_limit_option,
    weights_option,
)
from partita.cli.outputs import check_file, show_either, write_table_to


@dataclass(frozen=True)
class Answer:
    """What a command found, in its three forms.

    Attributes
    ----------
    text : str
    plain : dict
        For ``--json``; arrays may stand in it.
    header, rows
        For the table of ``--out``.
    """

    text: str
    plain: dict[str, Any]
    header: Sequence[str]
    rows: Iterable[Sequence[Any]]


def question(
    *, bound: str, stopped: str, out: str
) -> Callable[[Callable[..., Answer]], Callable[..., None]]:
    """Make a function of draws a command: it gets the shared options, and its answer is shown.

    The function takes the draws and, by name, ``bound`` (None for "none"),
    ``time_limit``, ``rng``, ``n_jobs``, ``one_based`` (for the table) and the options of its own.

    Parameters
    ----------
    bound : str
        What is to be proven, for the help.
    stopped : str
        What is taken when time is up.
    out : str
        What ``--out`` writes.
    """

    def asked(function: Callable[..., Answer]) -> Callable[..., None]:
        own: list[click.Parameter] = getattr(function, "__click_params__", [])

        @wraps(function)
        def command(
            sources: tuple[str, ...],
            bound: str,
            time_limit: float | None,
            weights: str | None,
            out: str | None,
            as_json: bool,
            force: bool,
            one_based: bool,
            seed: int,
            jobs: int | None,
            **choices: Any,
        ) -> None:
            from partita.cli.reading import read_draws_of, refuse_two_readers_of_stdin

            check_file(out, force=force, inputs=(*sources, weights))
            refuse_two_readers_of_stdin(*sources, weights)
            wishes = {str(option.name): choices.pop(str(option.name)) for option in own}
            answer = function(
                read_draws_of(sources, weights=weights, **choices),
                bound=None if bound == "none" else bound,
                time_limit=time_limit,
                rng=seed,
                n_jobs=jobs,
                one_based=one_based,
                **wishes,
            )
            if out is not None:
                write_table_to(out, answer.header, answer.rows, force=force)
            show_either(answer.text, answer.plain, as_json=as_json)

        command.__click_params__ = []  # type: ignore[attr-defined]
        all_of(
            command,
            bound_option(f"How hard to prove {bound}."),
            time_limit_option(f"Seconds for the search; then {stopped} is taken."),
            weights_option,
            click.option("--out", type=click.Path(), metavar="FILE", help=f"Write {out}."),
            one_based_option,
            json_option,
            force_option,
            read_options,
            seed_option("search"),
            jobs_option,
            debug_option,
        )
        command.__click_params__ += own  # type: ignore[attr-defined]
        return click.argument("sources", nargs=-1, required=True, metavar="DRAWS...")(command)

    return asked
