"""Reference implementations of the text kernels, through Python's own string functions."""

import re
from decimal import Decimal

_NUMBER = re.compile(r"[+-]?(0|[1-9]\d*)((\.\d*)?([eE][+-]\d+)?|\.\d*[eE]\d+)")


def read_whole(cell):
    """The whole number a cell spells, or None."""
    if not _NUMBER.fullmatch(cell):
        return None
    exact = Decimal(cell)
    if exact and exact.adjusted() >= 18:
        return None
    if exact != exact.to_integral_value():
        return None
    return int(exact)


def parse_rows(text, sep):
    """Rows of whole numbers in text without quotes, or None where one is not whole or ragged."""
    rows = []
    for line in text.split("\n"):
        line = line.rstrip("\r")
        if not line.strip() or line.lstrip().startswith("#"):
            continue
        cells = line.split(sep) if sep else line.split()
        rows.append([read_whole(cell.strip(" \t")) for cell in cells])
    widths = {len(row) for row in rows}
    if len(widths) > 1 or any(value is None for row in rows for value in row):
        return None
    return rows


def format_rows(rows, sep):
    """Lines of labels."""
    return "".join(sep.join(str(int(v)) for v in row) + "\n" for row in rows)
