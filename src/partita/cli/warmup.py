"""``partita warmup``: compile ahead, so that the first answer comes at once."""

from __future__ import annotations

import time

import click

from partita._warmup import PARTS
from partita.cli.options import debug_option
from partita.cli.show import say


@click.command(
    epilog="""\b
Examples:
  $ partita warmup
  $ partita warmup summarize fit core"""
)
@click.argument("parts", nargs=-1, type=click.Choice(tuple(PARTS)), metavar="[PART]...")
@debug_option
def command(parts: tuple[str, ...]) -> None:
    """Compile PARTS (summarize, losses, fit, core, rivals, path; all by default) for this machine.

    It takes up to a few minutes once; afterwards every run starts at once. What is compiled
    already is only loaded.
    """
    for part in parts or tuple(PARTS):
        start = time.monotonic()
        say(f"compiling {part} …")
        PARTS[part]()
        say(f"  ready after {time.monotonic() - start:.0f} s")
