"""Numbers as a table prints them."""

from __future__ import annotations

_DIGITS = 3
"""Digits after the point of the paper's tables; trailing zeros are left out there."""


def printed_digits(printed: str) -> int:
    """Digits after the point that a printed number stands for, 0 for a count.

    ``0.77`` stands for 0.770: the paper rounds to three digits and drops zeros
    at the end. More digits than three were printed where they are needed.

    Examples
    --------
    >>> from partita.reproduce.digits import printed_digits
    >>> printed_digits("9"), printed_digits("0.77"), printed_digits("0.0596")
    (0, 3, 4)
    """
    _, point, after = printed.partition(".")
    return max(_DIGITS, len(after)) if point else 0


def as_printed(value: float, printed: str) -> str:
    """A value with as many digits as the printed number beside it.

    Examples
    --------
    >>> from partita.reproduce.digits import as_printed
    >>> as_printed(0.77041, "0.77"), as_printed(9.0, "13")
    ('0.770', '9')
    """
    return f"{value:.{printed_digits(printed)}f}"


def same_digits(value: float, printed: str) -> bool:
    """Whether a value, rounded as the paper rounds, is the printed number.

    Examples
    --------
    >>> from partita.reproduce.digits import same_digits
    >>> same_digits(0.7704, "0.77"), same_digits(0.7706, "0.77")
    (True, False)
    """
    return as_printed(value, printed) == as_printed(float(printed), printed)


def short(value: float | None, digits: int = _DIGITS) -> str:
    """A value for a table: counts without a point, a dash for what does not exist."""
    if value is None or value != value:
        return "–"
    return (
        f"{value:.0f}" if float(value).is_integer() and abs(value) >= 1 else f"{value:.{digits}f}"
    )
