"""Agreement with the R packages to 1e-10, record by record.

Where conventions differ: mcclust, GreedyEPL and BNPmix count Binder's loss in
unordered pairs, N²/2 times ours; mcclust's VI is in bits or nats; the packages'
VI.lb contains the constant term in log Σ_j p_ij, as ours does, so the values
are equal without an offset.
"""

from __future__ import annotations

from collections import Counter

import pytest

import partita as pt
from reference import ground_truth as truth

RECORDS = truth.load()


def name_of(record) -> tuple[str, str]:
    return record["package"], record["function"]


def title(record) -> str:
    return "-".join(name_of(record)).replace(" ", "_")


@pytest.mark.parametrize("record", [r for r in RECORDS if name_of(r) in truth.CHECKS], ids=title)
def test_record(record):
    truth.CHECKS[name_of(record)](record["arguments"], record["value"])


def test_no_record_is_ignored():
    seen = Counter(map(name_of, RECORDS))
    assert seen.keys() == truth.CHECKS.keys() | truth.ELSEWHERE.keys()
    assert not truth.CHECKS.keys() & truth.ELSEWHERE.keys()
    covered = sum(seen[name] for name in truth.CHECKS)
    left = {name: seen[name] for name in truth.ELSEWHERE}
    assert left == {("BNPmix", "PYcalibrate"): 3, ("mcclust", "medv"): 1}
    assert covered == len(RECORDS) - 4 == 317


# ---------------------------------------------------------------- records kept as literals

TEN = [1, 1, 1, 1, 2, 2, 2, 3, 3, 4]
TEN_ESTIMATE = [1, 1, 2, 2, 2, 2, 3, 3, 3, 3]
FIVE_DRAWS = [
    [1, 1, 2, 2, 3, 3],
    [1, 1, 2, 2, 2, 3],
    [1, 1, 1, 2, 2, 2],
    [1, 1, 2, 2, 2, 2],
    [1, 2, 2, 3, 3, 3],
]
CANDIDATES = [
    [1, 1, 2, 2, 3, 3],
    [1, 1, 1, 2, 2, 2],
    [1, 1, 2, 2, 2, 2],
    [1, 1, 1, 1, 1, 1],
    [1, 2, 3, 4, 5, 6],
]


@pytest.mark.parametrize(
    ("loss", "value"),
    [
        (pt.VI(), 1.67548875021635),
        (pt.VI(a=0.5), 1.83774437510817),
        (pt.VI(a=1.7), 1.44833087536779),
        (pt.Binder(), 0.3),
        (pt.ID(), 1.0),
        (pt.NID(), 0.541582913560679),
        (pt.OneMinusARI(), 1 - 0.129032258064516),
    ],
    ids=repr,
)
def test_salso_distances(loss, value):
    assert pt.distance(TEN_ESTIMATE, TEN, loss) == truth.close(value)


@pytest.mark.parametrize(
    ("loss", "values"),
    [
        # BNPmix: its Binder counts unordered pairs, 18 = N²/2 times ours.
        ("binder", [x / 18 for x in (3.4, 3.6, 3.4, 10.2, 4.8)]),
        # BNPmix and mcclust.ext.
        (
            "vi_lb",
            [
                0.779184017121011,
                0.706805042062562,
                0.567916508750744,
                1.22306800478512,
                1.36189449593604,
            ],
        ),
        # mcclust.ext.
        (
            "vi",
            [
                0.833985000288462,
                0.817644167099361,
                0.683007499855769,
                1.28431083376603,
                1.30065166695513,
            ],
        ),
        # mcclust's pear and salso's omARI.approx.
        ("one_minus_pear", [0.578231292517007, 0.517241379310345, 0.46448087431694, 1.0, 1.0]),
    ],
)
def test_expected_losses_of_three_packages(loss, values):
    assert pt.expected_loss(CANDIDATES, FIVE_DRAWS, loss) == truth.close(values)


def test_expected_ari_of_salso():
    values = [0.558922558922559, 0.521944404297346, 0.466429732484778]
    assert pt.expected_loss(CANDIDATES[:3], FIVE_DRAWS, "one_minus_ari") == truth.close(values)
