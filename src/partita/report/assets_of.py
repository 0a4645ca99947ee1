"""Style, scripts and template of the page, which are files of their own."""

from __future__ import annotations

from importlib.resources import files


def asset(name: str) -> str:
    """The text of one of them."""
    return (files("partita.report") / "assets" / name).read_text(encoding="utf-8")
