"""What each record of the ground truth says about losses, as a check of this library.

A record is one call of an R package. Records of searches and balls are checked
here for the loss of the labels they report; that our own searches and balls do
as well is the matter of their own tests.

Where conventions differ: mcclust, GreedyEPL and BNPmix count Binder's loss in
unordered pairs, N²/2 times ours; mcclust's VI is in bits or nats; the packages'
VI.lb contains the constant term in log Σ_j p_ij, as ours does, so the values
are equal without an offset.
"""

import json
import math
from functools import cache, partial, reduce
from pathlib import Path

import numpy as np
import pytest

import partita as pt
from reference import losses as reference
from stored import GROUND_TRUTH, MISSING, PAPER_DRAWS

close = partial(pytest.approx, rel=0, abs=1e-10)  # R printed 15 digits of values of order 1


def load() -> list[dict]:
    """Every record, without the note at the top of the file."""
    return [r for r in json.loads(GROUND_TRUTH.read_text()) if "function" in r]


@cache
def stored_draws(name: str) -> pt.Draws:
    """The labels in a file that a record names."""
    path = PAPER_DRAWS / Path(name).name
    if not path.exists():
        pytest.skip(MISSING)
    with np.load(path) as arrays:
        return pt.Draws(arrays["labels"])


def losses(candidates, arguments: dict, loss, *, key: str) -> np.ndarray:
    """Expected losses, from draws and, where the loss permits, from their similarity matrix too."""
    given = arguments[key]
    weights = arguments.get("weights", arguments.get("part.weights"))
    draws = stored_draws(given) if isinstance(given, str) else pt.Draws(given, weights=weights)
    values = pt.expected_loss(candidates, draws, loss)
    if getattr(loss, "uses_similarity", False) and not isinstance(given, str):
        matrix = np.array(reference.similarity(given, weights), float)
        assert pt.expected_loss(candidates, loss=loss, similarity=matrix) == close(values)
    return values


def at_price(loss: type, a: float, value):
    """value(loss at a); at 0 and 2, outside our open interval, by linearity in a."""
    if 0 < a < 2:
        return value(loss(a=a))
    low, high = value(loss(a=0.5)), value(loss(a=1.5))
    return low + (a - 0.5) * (high - low)


SALSO = {"VI": pt.VI, "binder": pt.Binder, "binder.psm": pt.Binder, "VI.lb": pt.VILowerBound}
SALSO |= {"NVI": pt.NVI, "ID": pt.ID, "NID": pt.NID}
SALSO |= {"omARI": pt.OneMinusARI, "omARI.approx": pt.OneMinusPEAR}


def salso_loss(arguments: dict) -> pt.Loss:
    """The loss that a record names, at its price."""
    return SALSO[arguments["loss"]](**{"a": arguments["a"]} if "a" in arguments else {})


def is_trivial(labels) -> bool:
    return len(set(labels)) in (1, len(labels))


def check_salso_distance(arguments, value, function):
    truth, estimate, loss = arguments["truth"], arguments["estimate"], SALSO[function]
    if "a" in arguments:
        ours = at_price(loss, arguments["a"], lambda it: pt.distance(estimate, truth, it))
    else:
        ours = pt.distance(estimate, truth, loss)
    if truth == estimate and is_trivial(truth) and value != 0:
        # R: NaN (0/0), or 1 for 1 − ARI. Equal partitions are at distance 0 by definition.
        assert value is None or (function == "omARI" and value == 1)
        assert ours == 0.0
    else:
        assert ours == close(value)


def check_ari(arguments, value, *, names=("truth", "estimate")):
    truth, estimate = (arguments[name] for name in names)
    assert arguments.get("adjust", True)
    if value is None:  # R: 0/0 for equal trivial partitions, where our loss is 0
        assert truth == estimate
        assert is_trivial(truth)
        value = 1.0
    assert 1 - pt.distance(estimate, truth, "one_minus_ari") == close(value)


def check_rand(arguments, value):
    truth, estimate = arguments["truth"], arguments["estimate"]
    n = len(truth)
    assert 1 - pt.distance(estimate, truth, "binder") * n / (n - 1) == close(value)


def check_vi_dist(arguments, value):
    scale = math.log(2) if arguments.get("base") == "e" else 1.0
    first, second = arguments["cl1"], arguments["cl2"]
    if arguments.get("parts"):
        half = 0.5 * at_price(pt.VI, 2, lambda it: pt.distance(first, second, it))
        assert half == close(value["H(1|2)"])
        half = 0.5 * at_price(pt.VI, 2, lambda it: pt.distance(second, first, it))
        assert half == close(value["H(2|1)"])
        value = value["vi"]
    assert pt.distance(first, second) * scale == close(value)


def check_vi_matrix(arguments, value):
    assert pt.pairwise_distances(arguments["cls1"], arguments["cls2"]) == close(np.array(value))


def check_vi_contribution(arguments, value):
    assert pt.distance(arguments["Z1"], arguments["Z2"]) == close(sum(value))


def check_partition_loss(arguments, value):
    loss = salso_loss(arguments)
    assert losses(arguments["estimate"], arguments, loss, key="truth") == close([value])


def check_expected(arguments, value, *, loss, candidates, key, pairs=False):
    """Our value times N²/2 where the package counts unordered pairs."""
    rows = np.atleast_2d(arguments[candidates])
    scale = rows.shape[1] ** 2 / 2 if pairs else 1.0
    expected = np.atleast_1d(value)
    assert losses(rows, arguments, loss, key=key) * scale == close(expected)


def check_pear(arguments, value):
    ours = 1 - losses(arguments["cls"], arguments, pt.OneMinusPEAR(), key="psm_of_draws")
    assert ours == close([value])


GREEDY_EPL = {"B": pt.Binder(), "VI": pt.VI(), "NVI": pt.NVI(), "NID": pt.NID()}


def check_greedy_epl(arguments, value):
    check_expected(
        arguments,
        value,
        loss=GREEDY_EPL[arguments["loss_type"]],
        candidates="decision_init",
        key="sample_of_partitions",
        pairs=arguments["loss_type"] == "B",
    )


def check_evi_contribution(arguments, value, *, draws):
    ours = losses(arguments["Zhat"], arguments, pt.VI(), key=draws)
    assert ours == close([sum(value)])


def check_wasserstein(arguments, value):
    table = pt.pairwise_distances(arguments["cls.draw"], arguments["part"])
    assert (table.argmin(axis=1) + 1).tolist() == arguments["assign.vi"]
    assert table.min(axis=1).mean() == close(value)


def check_enumerated(arguments, value):
    partitions = np.array(list(pt.lattice.all_partitions(len(arguments["truth"][0]))))
    everywhere = pt.expected_loss(partitions, arguments["truth"], salso_loss(arguments))
    assert value.get("n_nan", 0) == 0
    assert np.isfinite(everywhere).all()
    assert everywhere.min() == close(value["minimum"])
    best = partitions[everywhere < everywhere.min() + 1e-10]
    minimisers = pt.canonical(np.array(value["minimisers"]))
    assert sorted(best.tolist()) == sorted(minimisers.tolist())


def draws_key(arguments) -> str:
    return next(key for key in ("draws", "psm_of_draws", "x", "cls.draw") if key in arguments)


def check_search(arguments, value, *, loss, pairs=False, gain=False):
    labels = np.atleast_2d(value.get("cl", value.get("estimate")))
    reported = value.get("value", value.get("expectedLoss"))
    reported = list(reported.values()) if isinstance(reported, dict) else [reported]
    scale = labels.shape[1] ** 2 / 2 if pairs else 1.0
    ours = losses(labels, arguments, loss, key=draws_key(arguments)) * scale
    assert (1 - ours if gain else ours) == close(reported)
    if "EVI" in value:
        assert losses(labels, arguments, pt.VI(), key=draws_key(arguments)) == close([value["EVI"]])
    if "n_clusters" in value:
        assert pt.n_clusters(labels[0]) == value["n_clusters"]


def check_greedy(arguments, value):
    name = {"Binder": "binder"}.get(arguments["loss"], arguments["loss"])
    check_search(arguments, value, loss=SALSO[name]())


def check_ball(arguments, value):
    loss = {"VI": pt.VI(), "Binder": pt.Binder()}[arguments["c.dist"]]
    for side in ("horiz", "uppervert", "lowervert"):
        reported = value[f"dist.{side}"]
        if f"c.{side}" in value:
            found = pt.pairwise_distances(value[f"c.{side}"], [arguments["c.star"]], loss)
            assert found == close(np.full(found.shape, reported))
        else:
            draws = stored_draws(arguments["cls.draw"])
            found = pt.pairwise_distances([arguments["c.star"]], draws, loss)
            assert np.abs(found - reported).min() == close(0.0)


def check_labels(arguments, value, *, key):
    assert (pt.canonical(arguments[key]) + 1).tolist() == value


def check_same_partition(arguments, value, *, key):
    """The package numbers clusters in another order; the partition is the same."""
    labels = value["cls"] if isinstance(value, dict) else value
    assert np.array_equal(pt.canonical(arguments[key]), pt.canonical(labels))


def check_meet(arguments, value):
    lowest = reduce(pt.lattice.meet, arguments["cls.part"])
    assert (lowest + 1).tolist() == value["cls.m"]
    assert pt.n_clusters(lowest) == value["k.m"]
    assert pt.cluster_sizes(lowest).tolist() == value["sizes"]


def check_similarity(arguments, value):
    assert pt.similarity(arguments["x"]) == close(np.array(value))


def check_similarity_of_meet(arguments, value):
    draws = pt.Draws(arguments["particles"], weights=arguments["part.weights"])
    first = np.unique(arguments["cls.m"], return_index=True)[1]
    assert pt.similarity(draws)[np.ix_(first, first)] == close(np.array(value))


def check_bell(arguments, value):
    # Beyond 2⁵³ R's number is a rounded float; 1e-14 is what its 15 digits carry.
    assert float(pt.lattice.bell_number(arguments["nItems"])) == pytest.approx(value, rel=1e-14)


def check_log_bell(arguments, value):
    assert math.log(pt.lattice.bell_number(arguments["nItems"])) == close(value)


by_psm = {"key": "psm_of_draws"}
CHECKS = {
    ("BNPmix", "BNPmix_BIN"): partial(
        check_expected, loss=pt.Binder(), candidates="C_mat", pairs=True, **by_psm
    ),
    ("BNPmix", "BNPmix_VI_LB"): partial(
        check_expected, loss=pt.VILowerBound(), candidates="C_mat", **by_psm
    ),
    ("GreedyEPL", "CollapseLabels"): partial(check_labels, key="decision"),
    ("GreedyEPL", "MinimiseEPL:EPL_stored_values[1]"): check_greedy_epl,
    ("WASABI", "VI_Rcpp (0-based internally)"): check_vi_matrix,
    ("WASABI", "WD"): check_wasserstein,
    ("WASABI", "cls.meet"): check_meet,
    ("WASABI", "evi.contribution"): partial(check_evi_contribution, draws="Zmat"),
    ("WASABI", "evi.wd.contribution"): partial(check_evi_contribution, draws="particles"),
    ("WASABI", "psm.meet"): check_similarity_of_meet,
    ("WASABI", "relabel_partition"): partial(check_labels, key="c"),
    ("WASABI", "vi.contribution"): check_vi_contribution,
    ("mcclust", "arandi"): partial(check_ari, names=("cl1", "cl2")),
    ("mcclust", "binder"): partial(
        check_expected, loss=pt.Binder(), candidates="cls", pairs=True, **by_psm
    ),
    ("mcclust", "maxpear"): partial(check_search, loss=pt.OneMinusPEAR(), gain=True),
    ("mcclust", "minbinder"): partial(check_search, loss=pt.Binder(), pairs=True),
    ("mcclust", "norm.label"): partial(check_same_partition, key="cl"),
    ("mcclust", "pear"): check_pear,
    ("mcclust", "relabel"): partial(check_same_partition, key="cls"),
    ("mcclust", "vi.dist"): check_vi_dist,
    ("mcclust.ext", "VI"): partial(check_expected, loss=pt.VI(), candidates="cls", key="cls.draw"),
    ("mcclust.ext", "VI.lb"): partial(
        check_expected, loss=pt.VILowerBound(), candidates="cls", **by_psm
    ),
    ("mcclust.ext", "credibleball"): check_ball,
    ("mcclust.ext", "greedy"): check_greedy,
    ("mcclust.ext", "minVI"): partial(check_search, loss=pt.VILowerBound()),
    ("mcclust.ext", "minbinder.ext"): partial(check_search, loss=pt.Binder()),
    ("salso", "ARI"): check_ari,
    ("salso", "RI"): check_rand,
    ("salso", "bell"): check_bell,
    ("salso", "lbell"): check_log_bell,
    ("salso", "minimum over enumerate.partitions"): check_enumerated,
    ("salso", "partition.loss"): check_partition_loss,
    ("salso", "psm"): check_similarity,
}
CHECKS |= {
    ("salso", name): partial(check_salso_distance, function=name)
    for name in ("VI", "binder", "NVI", "ID", "NID", "omARI")
}


CHECKS["salso", "salso"] = lambda arguments, value: check_search(
    arguments, value, loss=salso_loss(arguments)
)

ELSEWHERE = {
    ("BNPmix", "PYcalibrate"): "a prior's parameter from its expected number of clusters",
    ("mcclust", "medv"): "labels from a cut of the similarity matrix; it reports no loss",
}
"""Functions of the file that say nothing about a loss or a partition's arithmetic."""
