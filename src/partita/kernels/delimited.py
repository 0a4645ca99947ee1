"""Labels from and to delimited text, byte by byte."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from partita.kernels._jit import array_kernel, kernel
from partita.kernels.arrays import Int32s, Ints

SKIP = -1
"""Target of a column that is passed over; targets below it are kept as spans of bytes."""

WHOLE, NOT_WHOLE, TOO_FEW, TOO_MANY, UNCLOSED = 0, 1, 2, 3, 4
"""How parsing ended: everything read, or why it stopped."""

_MOST_DIGITS = 18  # any number of this many digits fits into int64


@kernel
def read_whole(text: NDArray[np.uint8], i: int) -> tuple[int, int, bool]:
    """The whole number that starts at i, the position after it, and whether there is one.

    A decimal point and an exponent may follow (``3.0``, ``3e+00``), as long as
    the value is whole. Codes that only look like numbers are none: those with a leading zero
    (``01``), and an exponent without a point or sign (``1e5``), which no program writes so.
    """
    negative = text[i] == 45
    if negative or text[i] == 43:
        i += 1
    value = 0
    start = i
    while 48 <= text[i] <= 57:
        value = value * 10 + (int(text[i]) - 48)
        i += 1
    digits = i - start
    if digits == 0 or digits > _MOST_DIGITS or (digits > 1 and text[start] == 48):
        return 0, i, False
    if text[i] == 46 or text[i] == 101 or text[i] == 69:
        shift = 0
        point = text[i] == 46
        if point:
            i += 1
            zeros = 0  # zeros that end the fraction need no place in the value
            while 48 <= text[i] <= 57:
                if text[i] == 48:
                    zeros += 1
                else:
                    digits += zeros + 1
                    if digits > _MOST_DIGITS:
                        return 0, i, False
                    for _ in range(zeros + 1):
                        value *= 10
                    value += int(text[i]) - 48
                    shift -= zeros + 1
                    zeros = 0
                i += 1
        if text[i] == 101 or text[i] == 69:
            i += 1
            minus = text[i] == 45
            if minus or text[i] == 43:
                i += 1
            elif not point:
                return 0, i, False
            if not 48 <= text[i] <= 57:
                return 0, i, False
            exponent = 0
            while 48 <= text[i] <= 57:
                exponent = min(exponent * 10 + (int(text[i]) - 48), 10_000)
                i += 1
            shift += -exponent if minus else exponent
        while value != 0 and shift > 0:
            digits += 1
            if digits > _MOST_DIGITS:
                return 0, i, False
            value *= 10
            shift -= 1
        while value != 0 and shift < 0:
            if value % 10 != 0:
                return 0, i, False
            value //= 10
            shift += 1
    return (-value if negative else value), i, True


@kernel
def skip_cell(text: NDArray[np.uint8], i: int, sep: int) -> int:
    """The position after the cell that starts at i, or -1 when its quote is not closed."""
    if text[i] != 34:
        while text[i] != 10 and text[i] != sep:
            if sep == 0 and (text[i] == 32 or text[i] == 9):
                break
            i += 1
        return i
    i += 1
    while True:
        if text[i] == 10:
            return -1
        if text[i] == 34:
            i += 1
            if text[i] != 34:  # a doubled quote stands for one
                return i
        i += 1


@kernel
def parse_rows(
    text: NDArray[np.uint8],
    start: int,
    sep: int,
    target: Ints,
    out: Ints,
    spans: Ints,
    comments: bool,
) -> tuple[int, int, int, int]:
    """Read lines of whole numbers until the text or ``out`` is at its end.

    Parameters: ``text`` must end with a newline. ``sep`` is the byte between
    cells, 0 for runs of blanks. Column c goes to ``out[:, target[c]]``, is
    passed over (``SKIP``), or has its bytes noted in
    ``spans[:, SKIP - 1 - target[c]]`` as (start, stop). Blank lines are passed over, and lines
    that start with # where the table has ``comments``.

    Returns rows read, the position reached, how it ended, and the column where
    it ended; after an error the position is that of the offending cell or line.
    """
    n_columns = target.size
    rows = 0
    i = start
    while i < text.size and rows < out.shape[0]:
        line = i
        while text[i] == 32 or text[i] == 9:
            i += 1
        if text[i] == 10 or (comments and text[i] == 35):
            while text[i] != 10:
                i += 1
            i += 1
            continue
        i = line
        column = 0
        while True:
            while text[i] == 32 or (text[i] == 9 and sep != 9):
                i += 1
            cell = i
            if column == n_columns:
                return rows, cell, TOO_MANY, column
            slot = target[column]
            if slot >= 0:
                # Nearly every label is a few plain digits and a separator: no call for those.
                byte = text[i]
                value = 0
                while 48 <= byte <= 57 and i - cell < _MOST_DIGITS:
                    value = value * 10 + (int(byte) - 48)
                    i += 1
                    byte = text[i]
                if byte == sep and i > cell and (text[cell] != 48 or i == cell + 1):
                    out[rows, slot] = value
                    i += 1
                    column += 1
                    continue
                value, i, whole = read_whole(text, cell)
                if not whole:
                    return rows, cell, NOT_WHOLE, column
                out[rows, slot] = value
            else:
                i = skip_cell(text, i, sep)
                if i < 0:
                    return rows, cell, UNCLOSED, column
                if slot < SKIP:
                    spans[rows, SKIP - 1 - slot, 0] = cell
                    spans[rows, SKIP - 1 - slot, 1] = i
            after = i
            while text[i] == 32 or (text[i] == 9 and sep != 9):
                i += 1
            column += 1
            if text[i] == 10:
                break
            if text[i] == sep:
                i += 1
            elif sep != 0 or i == after:
                return rows, cell, NOT_WHOLE, column - 1
        if column < n_columns:
            return rows, line, TOO_FEW, column
        i += 1
        rows += 1
    return rows, i, WHOLE, 0


@array_kernel
def format_rows(rows: Int32s, sep: int, out: NDArray[np.uint8], ends: Ints) -> int:
    """Write non-negative labels as lines of text; note where each ends, return the bytes used.

    ``out`` needs 11 bytes per label: ten digits and the separator.
    """
    used = 0
    digits = np.empty(10, np.uint8)
    for r in range(rows.shape[0]):
        for c in range(rows.shape[1]):
            value = rows[r, c]
            n = 0
            while True:
                digits[n] = 48 + value % 10
                value //= 10
                n += 1
                if value == 0:
                    break
            while n > 0:
                n -= 1
                out[used] = digits[n]
                used += 1
            out[used] = sep
            used += 1
        out[used - 1] = 10
        ends[r] = used
    return used
