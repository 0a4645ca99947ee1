"""Every number that the page for R users shows as R's is in the ground truth, and ours agrees."""

from __future__ import annotations

import re

import pytest

import partita as pt
from doc_pages import DOCS
from reference.ground_truth import load
from simulated import FIVE

PAGE = (DOCS / "coming_from_r.md").read_text(encoding="utf-8")
RECORDS = load()
ONE, ALONE, HALVES = [1] * 6, [1, 2, 3, 4, 5, 6], [1, 1, 1, 2, 2, 2]
THIRDS, CENTER = [1, 1, 2, 2, 3, 3], [1, 1, 2, 2, 2, 2]
PAIR = {"truth": THIRDS, "estimate": HALVES}
EXAMPLE, GALAXY = "paper/draws/example1.npz", "paper/draws/galaxy.npz"
OF_GALAXIES = {"cls.draw": GALAXY, "c.dist": "VI"}
BALL = {"c.star": CENTER, "cls.draw": FIVE, "c.dist": "Binder", "alpha": 0.2}

SHOWN = [
    ("mcclust", "binder", {"cls": ONE, "psm_of_draws": FIVE}, None, "10.2"),
    (
        "GreedyEPL",
        "MinimiseEPL:EPL_stored_values[1]",
        {"sample_of_partitions": FIVE, "decision_init": ONE, "loss_type": "B"},
        None,
        "10.2",
    ),
    ("BNPmix", "BNPmix_BIN", {"psm_of_draws": FIVE}, 3, "10.2"),
    (
        "salso",
        "partition.loss",
        {"truth": FIVE, "estimate": ONE, "loss": "binder"},
        None,
        "0.566666666666667",
    ),
    ("mcclust", "vi.dist", {"cl1": THIRDS, "cl2": HALVES, "base": 2}, None, "1.25162916738782"),
    ("mcclust", "vi.dist", {"cl1": THIRDS, "cl2": HALVES, "base": "e"}, None, "0.867563228481461"),
    ("mcclust", "vi.dist", {"cl1": THIRDS, "parts": True}, "H(1|2)", "0.918295834054489"),
    ("mcclust", "vi.dist", {"cl1": THIRDS, "parts": True}, "H(2|1)", "0.333333333333333"),
    ("salso", "VI", {**PAIR, "a": 0.5}, None, "1.5441104177484"),
    ("salso", "VI", {**PAIR, "a": 1.7}, None, "0.842155416883013"),
    ("salso", "binder", {**PAIR, "a": 1.7}, None, "0.161111111111111"),
    (
        "salso",
        "partition.loss",
        {"truth": FIVE, "estimate": ALONE, "loss": "VI.lb"},
        None,
        "1.36189449593604",
    ),
    ("mcclust.ext", "VI", {"cls": ALONE, "cls.draw": FIVE}, None, "1.30065166695513"),
    ("mcclust.ext", "minVI", {"draws": EXAMPLE, "method": "avg"}, "EVI", "0.772442944131485"),
    ("mcclust.ext", "minVI", {"draws": EXAMPLE, "method": "draws"}, "EVI", "0.778586665190308"),
    ("salso", "salso", {"x": EXAMPLE, "loss": "VI"}, "expectedLoss", "0.770411533321517"),
    ("mcclust.ext", "credibleball", BALL, "dist.horiz", "0.277777777777778"),
    ("mcclust.ext", "credibleball", BALL, "dist.lowervert", "0.222222222222222"),
    ("mcclust.ext", "credibleball", BALL, "n_in_ball", "4"),
    ("mcclust.ext", "credibleball", OF_GALAXIES, "dist.horiz", "1.83217251267294"),
    ("mcclust.ext", "credibleball", OF_GALAXIES, "dist.uppervert", "1.36359249328726"),
    ("mcclust.ext", "credibleball", OF_GALAXIES, "dist.lowervert", "1.66932487515048"),
]
"""Package, function, arguments, which part of the value, and the number on the page."""

OPTIONS = {"parts", "weights", "a"}
"""Arguments that change what is computed; a record has one only where the page says so."""


def record(package: str, function: str, arguments: dict) -> dict:
    """The one record whose arguments include the given ones."""
    found = [
        r
        for r in RECORDS
        if (r["package"], r["function"]) == (package, function)
        and all(r["arguments"].get(name) == value for name, value in arguments.items())
        and not any(option in r["arguments"] for option in OPTIONS - set(arguments))
    ]
    assert len(found) == 1, (package, function, len(found))
    return found[0]


@pytest.mark.parametrize(("package", "function", "arguments", "part", "printed"), SHOWN)
def test_the_number_on_the_page_is_the_one_r_printed(package, function, arguments, part, printed):
    assert printed in PAGE
    value = record(package, function, arguments)["value"]
    value = value if part is None else value[part]
    assert float(value) == float(printed)


def test_no_other_long_number_stands_on_the_page():
    """A number of twelve digits or more is R's, and R's numbers are in the list above."""
    long = set(re.findall(r"\d\.\d{12,}", PAGE))
    assert long == {p for *_, p in SHOWN if len(p) > 12}


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
    value = record("mcclust.ext", "credibleball", BALL)["value"]
    assert value["c.horiz"] == [HALVES]
    assert value["c.lowervert"] == [THIRDS]
    ball = pt.credible_ball(FIVE, CENTER, prob=0.8, loss="binder")
    assert (ball.lower.labels + 1).tolist() == [[3, 2, 2, 1, 1, 1]]
    assert ball.lower.distance == pytest.approx(value["dist.horiz"])
