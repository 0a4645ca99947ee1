"""What a reader can be told about a file."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class ReadOptions:
    """Options of ``read_draws``, as each format's ``read`` receives them."""

    transpose: bool = False
    var_name: str | None = None
    header: bool | None = None
    sep: str | None = None
    strings: bool = False

    def text_only(self) -> list[str]:
        """Names of the options in use that have a meaning for text formats alone."""
        used = {"header": self.header is not None, "sep": self.sep is not None}
        return [name for name, given in {**used, "strings": self.strings}.items() if given]
