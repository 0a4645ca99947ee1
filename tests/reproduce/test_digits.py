"""Numbers as the paper prints them, and the printed numbers themselves."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.optimize import linear_sum_assignment

import partita as pt
from partita.reproduce import paper
from partita.reproduce.digits import as_printed, printed_digits, same_digits, short


@pytest.mark.parametrize(
    ("value", "printed", "same"),
    [
        (0.77041, "0.77", True),
        (0.7706, "0.77", False),  # 0.771 to three digits, though 0.77 to two
        (0.76951, "0.77", True),
        (1.0004, "1.0", True),
        (1.001, "1.0", False),
        (0.05963, "0.0596", True),
        (0.0597, "0.0596", False),
        (9.0, "9", True),
        (10.0, "9", False),
        (9636.0, "9636", True),
    ],
)
def test_same_digits(value, printed, same):
    assert same_digits(value, printed) is same


def test_as_many_digits_as_in_print():
    assert [as_printed(0.5, text) for text in ("0.77", "0.0596", "1.0")] == [
        "0.500",
        "0.5000",
        "0.500",
    ]
    assert as_printed(7.0, "9") == "7"
    assert printed_digits("18") == 0


def test_what_does_not_exist_is_a_dash():
    assert [short(None), short(float("nan")), short(0.12345), short(4.0)] == [
        "–",
        "–",
        "0.123",
        "4",
    ]


ESTIMATES = [key for key in paper.TRUTH_TABLES if key[2] == "estimate"]


@pytest.mark.parametrize(("example", "loss", "part"), ESTIMATES)
def test_misclassified_items_are_those_outside_the_bold_entries(example, loss, part):
    table = np.array(paper.TRUTH_TABLES[example, loss, part])
    rows, columns = linear_sum_assignment(table, maximize=True)
    wrong = table.sum() - table[rows, columns].sum()
    assert wrong == int(paper.ESTIMATES[example][loss]["misclassified"])


def test_cross_tabulations_fit_the_tables():
    sizes = {1: [44, 54, 49, 53], 2: [44, 54, 49, 53]}
    for (example, loss, part), table in paper.TRUTH_TABLES.items():
        counts = np.array(table)
        assert counts.sum() == 200
        assert (counts.sum(axis=0) > 0).all()
        assert counts.sum(axis=1).tolist() == sizes[example]
        if part == "estimate":
            assert counts.shape[1] == int(paper.ESTIMATES[example][loss]["k"])
        else:
            assert counts.shape[1] == int(paper.BOUNDS[example][loss][f"{part}_k"])
    for part, table in paper.GALAXY_TABLES.items():
        assert np.sum(table) == 82
        assert len(table[0]) == int(paper.GALAXY_BOUNDS[f"{part}_k"])
        assert np.sum(table, axis=1).tolist() == [7, 72, 3]


def test_example_1_is_the_first_row_of_both_tables():
    assert paper.SIZES[200] == paper.ESTIMATES[1]
    assert list(paper.SIZES) == [200, 400, 800, 1600]


@pytest.mark.parametrize(("loss", "printed"), paper.LATTICE_HEIGHTS.items())
def test_the_scales_of_the_hasse_diagrams_come_out(loss, printed):
    heights = np.unique(pt.hasse_diagram(4, loss=loss).heights.round(9))
    assert all(same_digits(h, text) for h, text in zip(heights, printed, strict=True))


def test_misclassified_items_and_distance_to_truth_fit_but_in_one_row():
    """A misclassified item among four equal clusters is discordant with about N/2 others."""
    rows = {n: rows["vi"] for n, rows in paper.SIZES.items()}
    apart = {
        n: n * float(row["binder_to_truth"]) - int(row["misclassified"]) for n, row in rows.items()
    }
    assert all(abs(apart[n]) < 3 for n in (200, 400, 800))
    assert apart[1600] == pytest.approx(23)
