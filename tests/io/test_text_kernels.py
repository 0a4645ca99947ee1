"""The text kernels against their reference implementations."""

import re
from decimal import Decimal

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from partita.kernels import delimited as kernels

_numbers = st.one_of(
    st.integers(-(10**18), 10**18).map(str),
    st.integers(0, 300).map(lambda n: f"{n:.18e}"),
    st.integers(-50, 50).map(lambda n: f"{n}.000"),
    st.floats(allow_nan=True, allow_infinity=True).map(repr),
    st.sampled_from(["", "+3", "-0", "1e3", "12e-1", "120e-1", "1.5e1", "1e", "1.", ".5", "NA"]),
    st.text("0123456789.eE+-", max_size=12),
)


def _bytes(text):
    return np.frombuffer(text.encode(), np.uint8)


def _parse(text, sep, n_columns, target=None):
    content = _bytes(text)
    target = np.arange(n_columns) if target is None else np.array(target)
    kept = max(0, -int(target.min()) - 1)
    out = np.zeros((text.count("\n") + 1, int(target.max()) + 1), np.int64)
    spans = np.zeros((out.shape[0], kept, 2), np.int64)
    end = kernels.parse_rows(content, 0, ord(sep) if sep else 0, target, out, spans, True)
    return (*end, out[: end[0]], spans[: end[0]])


@given(_numbers)
@settings(max_examples=400)
def test_read_whole_agrees_with_exact_decimals(cell):
    value, end, whole = kernels.read_whole(_bytes(cell + "\n"), 0)
    expected = exact_read_whole(cell)
    if whole and end == len(cell):
        assert value == expected
    else:
        # 18 digits are read; a few spellings of whole numbers need more on the way.
        assert expected is None or len(cell.strip("+-")) > 18


@given(
    st.lists(st.lists(_numbers, min_size=1, max_size=4), min_size=1, max_size=4),
    st.sampled_from([",", "\t", ";", ""]),
    st.booleans(),
)
@settings(max_examples=300)
def test_parse_rows_agrees_with_splitting(rows, sep, spaced):
    glue = (f" {sep} " if spaced and sep != "\t" else sep) if sep else "  "
    text = "\n".join(["# comment", *(glue.join(row) for row in rows), "", ""])
    expected = exact_parse_rows(text, sep)
    if expected == []:  # nothing but blanks
        return
    width = len(expected[0]) if expected else len(rows[0])
    _, _, status, _, out, _ = _parse(text, sep, width)
    if status == kernels.WHOLE and expected is not None:
        assert out.tolist() == expected
    elif expected is not None:
        assert any(len(cell) > 18 for row in rows for cell in row)
    else:
        assert status != kernels.WHOLE or width != len(out[0])


def test_parse_rows_tells_why_it_stopped():
    assert _parse("1,2\n3\n", ",", 2)[:4] == (1, 4, kernels.TOO_FEW, 1)
    assert _parse("1,2\n3,4,5\n", ",", 2)[:4] == (1, 8, kernels.TOO_MANY, 2)
    assert _parse("1,2\n3,x\n", ",", 2)[:4] == (1, 6, kernels.NOT_WHOLE, 1)
    assert _parse("1,2\n3,\n", ",", 2)[:4] == (1, 6, kernels.NOT_WHOLE, 1)
    assert _parse('"a,2\n', ",", 2, [kernels.SKIP, 0])[:4] == (0, 0, kernels.UNCLOSED, 0)


def test_parse_rows_skips_keeps_and_reorders_columns():
    text = '"a ""b"", c",7,0.5,9\nd,1,nan,2\n'
    rows, _, status, _, out, spans = _parse(text, ",", 4, [-2, 1, kernels.SKIP, 0])
    assert (rows, status) == (2, kernels.WHOLE)
    assert out.tolist() == [[9, 7], [2, 1]]
    assert [text[a:b] for a, b in spans[:, 0].tolist()] == ['"a ""b"", c"', "d"]


@given(st.lists(st.lists(st.integers(0, 2**31 - 1), min_size=3, max_size=3), min_size=1))
@settings(max_examples=50)
def test_format_rows_agrees_with_joining(rows):
    table = np.array(rows, np.int32)
    out = np.empty(11 * table.size, np.uint8)
    ends = np.empty(len(rows), np.int64)
    used = kernels.format_rows(table, ord(","), out, ends)
    text = out[:used].tobytes().decode()
    assert text == "".join(",".join(map(str, row)) + "\n" for row in rows)
    assert [text[end - 1] for end in ends.tolist()] == ["\n"] * len(rows)


_NUMBER = re.compile(r"[+-]?(0|[1-9]\d*)((\.\d*)?([eE][+-]\d+)?|\.\d*[eE]\d+)")


def exact_read_whole(cell):
    """The whole number a cell spells, or None."""
    if not _NUMBER.fullmatch(cell):
        return None
    exact = Decimal(cell)
    if exact and exact.adjusted() >= 18:
        return None
    if exact != exact.to_integral_value():
        return None
    return int(exact)


def exact_parse_rows(text, sep):
    """Rows of whole numbers in text without quotes, or None where one is not whole or ragged."""
    rows = []
    for line in text.split("\n"):
        line = line.rstrip("\r")
        if not line.strip() or line.lstrip().startswith("#"):
            continue
        cells = line.split(sep) if sep else line.split()
        rows.append([exact_read_whole(cell.strip(" \t")) for cell in cells])
    widths = {len(row) for row in rows}
    if len(widths) > 1 or any(value is None for row in rows for value in row):
        return None
    return rows
