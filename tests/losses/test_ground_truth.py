"""Agreement with the R packages to 1e-10, record by record.

Where conventions differ: mcclust, GreedyEPL and BNPmix count Binder's loss in
unordered pairs, N²/2 times ours; mcclust's VI is in bits or nats; the packages'
VI.lb contains the constant term in log Σ_j p_ij, as ours does, so the values
are equal without an offset.
"""

from collections import Counter

import pytest

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
