"""``partita completion``: what a shell needs to complete commands and options."""

from __future__ import annotations

import click

from partita.cli.options import debug_option


@click.command(
    epilog="""\b
Examples:
  $ partita completion bash
  $ partita completion zsh
  $ partita completion fish

\b
To switch it on:
  bash:  echo 'eval "$(partita completion bash)"' >> ~/.bashrc
  zsh:   echo 'eval "$(partita completion zsh)"' >> ~/.zshrc
  fish:  partita completion fish > ~/.config/fish/completions/partita.fish"""
)
@click.argument("shell", type=click.Choice(("bash", "zsh", "fish")))
@debug_option
def command(shell: str) -> None:
    """Print the script that completes commands, options and file names in SHELL."""
    from click.shell_completion import get_completion_class

    from partita.cli.group import cli

    found = get_completion_class(shell)
    if found is None:
        raise click.UsageError(f"this version of click knows no completion for {shell}.")
    click.echo(found(cli, {}, "partita", "_PARTITA_COMPLETE").source())
