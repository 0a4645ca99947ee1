"""The command line, ``partita``. Modules are loaded when one of their commands is called.

``partita --help`` loads click only. A command loads the functions that it calls: its options
follow their signatures.
"""

from __future__ import annotations

import gc


def main() -> None:
    """Run the command line; never returns."""
    # What is loaded stays: to look for garbage in it takes a tenth of a short run.
    gc.set_threshold(100_000)
    from partita.cli.options import cli

    cli.main(prog_name="partita")
