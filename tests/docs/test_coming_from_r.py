"""Every number that the page for R users shows as R's is in the ground truth, and ours agrees."""

import re

import pytest

import partita as pt
from doc_pages import DOCS
from reference.ground_truth import load
from simulated import FIVE

PAGE = (DOCS / "coming_from_r.md").read_text(encoding="utf-8")
RECORDS = load()
HALVES, THIRDS, CENTER = [1, 1, 1, 2, 2, 2], [1, 1, 2, 2, 3, 3], [1, 1, 2, 2, 2, 2]
BALL = {"c.star": CENTER, "cls.draw": FIVE, "c.dist": "Binder", "alpha": 0.2}


def numbers_in(value):
    """Every number of a record's value."""
    if isinstance(value, (list, dict)):
        for part in value.values() if isinstance(value, dict) else value:
            yield from numbers_in(part)
    elif isinstance(value, (int, float)):
        yield float(value)


def test_every_long_number_on_the_page_is_one_that_r_printed():
    """The records' own tests say that ours agree."""
    printed = {number for record in RECORDS for number in numbers_in(record["value"])}
    shown = set(re.findall(r"\d\.\d{12,}|\b10\.2\b", PAGE))
    assert len(shown) >= 19
    assert [number for number in shown if float(number) not in printed] == []


def calls_in_tables():
    """The Python of the middle column of the tables, as it stands there."""
    for line in PAGE.splitlines():
        cells = [cell.strip() for cell in line.strip("|").split(" | ")]
        if line.startswith("|") and len(cells) == 3:
            yield from re.findall(r"`((?:1 - )?(?:pt|fit)\.[^`]+)`", cells[1])


CALLS = sorted(set(calls_in_tables()))


@pytest.fixture(scope="module")
def names():
    """What the page calls draws, a matrix, labels, data and a fit."""
    y = pt.datasets.galaxies()[:6]
    est = pt.estimate(FIVE)
    return {
        **{"pt": pt, "draws": FIVE, "psm": pt.similarity(FIVE), "cls": HALVES, "c": CENTER},
        **{"a": HALVES, "b": THIRDS, "x": THIRDS, "n": 4, "estimate": HALVES, "truth": THIRDS},
        **{"loss": "vi", "y": y, "est": est, "ball": pt.credible_ball(FIVE, est)},
        "fit": pt.sample(y, draws=20, burn_in=5, chains=2, rng=0),
    }


@pytest.mark.parametrize("call", CALLS)
def test_every_call_of_the_tables_runs(call, names):
    assert eval(call, names) is not None


def test_ties_differ_as_the_page_says():
    (value,) = (
        record["value"]
        for record in RECORDS
        if record["function"] == "credibleball"
        and all(record["arguments"].get(name) == given for name, given in BALL.items())
    )
    assert value["c.horiz"] == [HALVES]
    assert value["c.lowervert"] == [THIRDS]
    ball = pt.credible_ball(FIVE, CENTER, prob=0.8, loss="binder")
    assert (ball.lower.labels + 1).tolist() == [[3, 2, 2, 1, 1, 1]]
    assert ball.lower.distance == pytest.approx(value["dist.horiz"])
