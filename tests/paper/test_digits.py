"""The paper's digits: how they are compared, and that all of them come out."""

from itertools import permutations

import numpy as np
import pytest
from examples.paper import digits, draws, own_draws, printed
from examples.paper.__main__ import main
from examples.paper.own_draws import Plan, sections, simulated
from hypothesis import given, settings
from hypothesis import strategies as st

import partita as pt
from stored import PAPER_DRAWS, needs_paper_draws


@needs_paper_draws
def test_every_digit_comes_out(capsys):
    assert main([]) == 0
    lines = capsys.readouterr().out.splitlines()
    # 7 columns of two estimates in two tables, 6 bounds of two balls, 2 numbers of the text, and
    # 8 cross tabulations of 4 rows; of the galaxies 8, 6, 3, and 3 cross tabulations of 3 rows.
    assert sum(line.startswith("ok  ") for line in lines) == 28 + 12 + 2 + 32 + 8 + 6 + 3 + 9
    assert "k horizontal: 11 and 8, tied at the same distance (paper: 11)" in "\n".join(lines)
    assert lines[-1] == "100 of 100 agree with the paper"


@needs_paper_draws
def test_altered_numbers_and_other_draws_differ(monkeypatch):
    altered = {**printed.GALAXY_ESTIMATES["vi"], "expected_vi": "0.938"}
    monkeypatch.setitem(printed.GALAXY_ESTIMATES, "vi", altered)
    monkeypatch.setitem(printed.GALAXY_TABLES, "upper", ((7, 0), (31, 41), (3, 0)))
    galaxy = digits.read_example(PAPER_DRAWS / "galaxy.npz")
    wrong = [str(check) for check in digits.check_galaxies(galaxy) if not check.same]
    assert wrong[0] == "DIFFERS  Table 4, galaxies, VI estimate, E[VI]: 0.939 (paper: 0.938)"
    assert any("row 2: 30 42 (paper: 31 41)" in line for line in wrong)
    assert len(wrong) == 4


def test_without_the_draws_it_is_said_where_they_are_looked_for(monkeypatch, tmp_path, capsys):
    monkeypatch.setattr(draws, "__file__", str(tmp_path / "a" / "b" / "c" / "d.py"))
    monkeypatch.setenv(draws.VARIABLE, str(tmp_path))
    assert main([]) == 0
    assert "set PARTITA_PAPER_DRAWS" in capsys.readouterr().out
    for name in ("example1", "galaxy"):
        (tmp_path / f"{name}.npz").touch()
    assert draws.find_draws() == tmp_path


@pytest.mark.parametrize(
    ("value", "text", "same"),
    [
        (0.77041, "0.77", True),
        (0.7706, "0.77", False),  # 0.771 to three digits, though 0.77 to two
        (1.0004, "1.0", True),
        (1.001, "1.0", False),
        (0.05963, "0.0596", True),
        (0.0597, "0.0596", False),
        (9.0, "9", True),
        (10.0, "9", False),
    ],
)
def test_same_digits(value, text, same):
    assert digits.same_digits(value, text) is same


labelings = st.lists(st.tuples(st.integers(0, 3), st.integers(0, 3)), min_size=1, max_size=12).map(
    lambda pairs: tuple(np.array(column) for column in zip(*pairs, strict=True))
)


@settings(max_examples=50)
@given(labelings)
def test_misclassified_is_the_best_over_all_matchings(pair):
    truth, labels = pair
    names = [*range(4), -1, -2, -3, -4]  # labels beyond the true ones match nothing
    best = max(
        sum(t == order[label] for t, label in zip(truth, labels, strict=True))
        for order in permutations(names, 4)
    )
    assert digits.misclassified(truth, labels) == len(truth) - best


def test_tables_are_compared_up_to_order():
    table = np.array([[3, 0, 1], [0, 4, 2]])
    assert digits.same_up_to_order(table[::-1][:, [2, 0, 1]], table)
    assert not digits.same_up_to_order([[3, 0, 1], [0, 2, 4]], table)
    truth, labels = np.array([2, 2, 0, 1, 1, 1]), np.array([0, 0, 0, 1, 1, 0])
    assert digits.truth_table(truth, labels).tolist() == [[1, 0], [1, 2], [2, 0]]


@pytest.mark.parametrize(("loss", "texts"), printed.LATTICE_HEIGHTS.items())
def test_the_scales_of_the_hasse_diagrams_come_out(loss, texts):
    heights = np.unique(pt.hasse_diagram(4, loss=loss).heights.round(9))
    assert all(digits.same_digits(h, text) for h, text in zip(heights, texts, strict=True))


def test_tables_and_figures_on_draws_of_our_own(monkeypatch, tmp_path):
    few = {"OFFSETS": (3.0,), "SIZES": (20, 10, 5, 5), "UNBALANCED_LOSSES": ("binder", "vi")}
    for name, value in few.items():
        monkeypatch.setattr(own_draws, name, value)
    monkeypatch.setattr(
        own_draws, "simulated", lambda example, _, *rest: simulated(example, 40, *rest)
    )
    text = "\n".join(sections(Plan(10, 10, 2, 2, 1, 1, 0), tmp_path))
    for texts in (*printed.ESTIMATES[2].values(), printed.BOUNDS[2]["vi"], printed.GALAXY_BOUNDS):
        assert all(f"| {number} |" in text for number in texts.values())
    assert text.count(", ours: ") == text.count(", paper: ") == 19
    assert sorted(int(path.stem[-2:]) for path in tmp_path.glob("*.svg")) == list(range(2, 12))
