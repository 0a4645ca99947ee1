"""Both sides of every size threshold: few items are done as many are, and the answers agree.

Every whole number from 8 on that a module names is in one of four lists.
``CROSSED`` runs a small case as it is, checks that the case reads the constant at
all, sets it so that the other way is taken, and compares; each case also checks
its own answer, against all partitions where it can. ``REFUSED`` are limits on
what is read. ``ELSEWHERE`` names the test that crosses a constant, and
``NO_THRESHOLD`` has the numbers that decide nothing of the kind, by reason.
"""

from __future__ import annotations

import ast
import dataclasses
import importlib
from functools import cache, partial
from itertools import chain
from pathlib import Path

import numpy as np
import pytest
from numba.core.errors import TypingError

import partita as pt
import threshold_cases as case
from partita.credible.comparison import compare
from partita.rivals import bound as rival_bound
from partita.search.lower_bounds import bound as search_bound
from partita.search.methods.polish import single_moves
from search.posteriors import random_posterior
from search_tasks import make_task
from threshold_lists import ELSEWHERE, NO_THRESHOLD

TESTS = Path(__file__).parent
SOURCE = Path(pt.__file__).parent

CROSSED = {
    "credible.core._QUICK_CELLS": (0, case.quick),
    "credible.core._QUICK_WORK": (0.0, case.quick),
    "credible.core_bound._BYTES": (0, case.core),
    "credible.core_bound._COLOURED": (0, case.coloured),
    "credible.core_bound._READ": (0.0, case.coloured),
    "credible.core_search._WORK": (0.0, case.core),
    "credible.core_search._BATCH": (1, case.core),
    "diagnostics.drift.MATCHED_ITEMS": (4, case.drifts),
    "io.r_files._BLOCK": (7, partial(case.read, ".rds")),
    "losses.explain._BLOCK_LABELS": (7, case.explained),
    "partitions.arrays._WIDEST": (2, case.numbered),
    "partitions.pieces._MOST_LABELS": (14, case.similarity),
    "partitions.similarity._BLOCK_ROWS": (2, case.similarity),
    "plots.similarity_map._TABLE_CELLS": (1, case.heat_map),
    "plots.thumbnail._MOST_LABELS": (0, case.pictured),
    "report.figures.MOST_BRACKETS": (0, case.framed),
    "report.wording.EXPLAINED_ITEMS": (0, case.worded),
    "rivals.quantise._SAMPLE_LABELS": (0, case.rivals_of_many),
    "rivals.quantise._MOST_DRAWS": (8, case.representatives),
    "rivals.quantise._FEWEST_DRAWS": (8, case.rivals_of_wide),
    "rivals.quantise._POLISHED_LABELS": (0, case.rivals_of_sample),
    "rivals.quantise._CHEAP_LABELS": (0, case.representatives),
    "rivals.quantise._SWAPPED": (1, case.representatives),
    "rivals.quantise._KICKED": (1, case.representatives),
    "samplers.finite_mixture._CELLS": (1, case.log_prior),
    "samplers.initial._FEW": (0, case.started),
    "samplers.predictive._DRAWS": (3, case.density),
    "search.cluster_moves._DISSOLVED_CELLS": (0, case.searched),
    "search.problem.MERGED_CLUSTERS": (1, case.searched),
    "search.cluster_moves._MOVED_CLUSTERS": (1, case.searched),
    "search.cluster_moves._FORCED_LOOKS": (0, case.doubted),
    "search.clusters_curve.MOST_DRAWS": (6, case.short_curve),
    "search.complete._STARTS": (1, case.completed),
    "search.complete._COMPARED": (2, case.completed),
    "search.constraints.ENUMERATED_ITEMS": (0, case.ruled),
    "search.constraints.FREE": (1, case.walked),
    "search.descent._DOUBTFUL": (1, case.searched),
    "search.descent._TRADED": (1, case.doubted),
    "search.looks.GROUP_CELLS": (1, case.passed),
    "search.looks.LEAST_BYTES": (0, case.passed),
    "search.looks.MOST_BYTES": (1, case.passed),
    "search.looks.TILE": (2, case.passed),
    "search.lower_bounds.compositions._FOUND": (1, case.bounded),
    "search.lower_bounds.matching._GROUPS": (1, case.matched),
    "search.lower_bounds.matching._GROUP_LABELS": (1, case.matched),
    "search.lower_bounds.pairs._TRIANGLES_A_ROUND": (1, case.triangles),
    "search.lower_bounds.pairs._MOST_TRIANGLES_SEEN": (1, case.triangles),
    "search.methods.enumerate_all.PIECES": (1, partial(case.searched, method="enumerate")),
    "search.methods.evaluation.LINKED_ITEMS": (0, case.evaluated),
    "search.methods.hasse.TABLE_CELLS": (0, partial(case.searched, method="hasse")),
    "search.methods.linkage.MOST_LINKED": (0, case.walked_path),
    "search.methods.many_labels.MANY_ITEMS": (0, case.searched),
    "search.methods.many_labels.SOME_ITEMS": (5, case.passed),
    "search.methods.many_labels.STRATA": (2, case.sampled),
    "search.methods.polish.PIECES": (1, case.polished),
    "search.methods.polish.PIECES_CELLS": (0, case.polished),
    "search.methods.registry.ENUMERATED_ITEMS": (0, case.tried),
    "search.methods.registry.MORE_ITEMS": (0, partial(case.searched, method="auto")),
    "search.methods.registry.FEW_DRAWS": (0, case.tried_of_few),
    "search.methods.shake.KICKED": (0, case.disputed),
    "search.methods.shake.TRADES": (0, case.disputed),
    "search.methods.starts.LINKED_ITEMS": (4, case.searched),
    "search.methods.starts.JUDGES": (3, case.searched),
    "search.methods.starts.JUDGED_LABELS": (0.0, case.searched),
    "search.methods.starts.SINGLETON_CELLS": (0.0, case.searched),
    "search.methods.starts.FALL_CELLS_FROM_APART": (0.0, case.disputed),
    "search.methods.sweep.SAMPLE_LABELS": (0, case.many),
    "search.methods.sweep.MOST_DRAWS": (8, case.searched),
    "search.methods.sweep.FEWEST_DRAWS": (8, case.wide),
    "search.methods.sweep.LITTLE_WORK": (0.0, case.searched),
    "search.methods.sweep.MUCH_WORK": (0.0, case.searched),
    "search.methods.sweep.SMALL": (0, case.doubted),
    "search.methods.sweep.TINY": (0, case.doubted),
    "search.methods.sweep.LARGE": (0, case.searched),
    "search.methods.sweep.LOOK": (0, case.searched),
    "search.methods.sweep.ROUNDS": (1, case.searched),
    "search.methods.walks.FALL_CELLS": (0.0, case.disputed),
    "search.methods.walks.IDLE": (0, case.disputed),
    "search.methods.walks.WANDER_CELLS": (0.0, case.disputed),
    "search.problem.MATRIX_ITEMS": (0, partial(case.searched, pt.Binder())),
    "search.ruled_walk._PARTNERS": (1, case.walked),
    "search.walker._CELLS_PER_CALL": (1.0, case.searched),
    "summary.how_many.CHEAP_ITEMS": (0, case.unasked),
}

REFUSED = {
    "io.r_objects._MOST_DEPTH": (-1, partial(case.read, ".rds")),
    "io.source._LONGEST_LINE": (3, case.read_in_blocks),
    "io.zarr_stores._MOST_BYTES": (1, partial(case.read, ".zarr")),
}

NUMBER = (ast.Constant, ast.BinOp, ast.operator, ast.Tuple, ast.Load)


def constants():
    """Whole numbers from 8 on that modules name, as ``room.module.NAME``."""
    for path in sorted(SOURCE.rglob("*.py")):
        module = ".".join(path.relative_to(SOURCE).with_suffix("").parts)
        for statement in ast.parse(path.read_text(encoding="utf-8")).body:
            if not isinstance(statement, ast.Assign):
                continue
            target, value = statement.targets[0], statement.value
            if not all(isinstance(node, NUMBER) for node in ast.walk(value)):
                continue
            values = eval(compile(ast.Expression(value), str(path), "eval"))
            several = isinstance(target, ast.Tuple)
            names = target.elts if several else [target]
            for name, number in zip(names, values if several else [values], strict=True):
                if type(number) in (int, float) and number >= 8 and number == np.floor(number):
                    yield f"{module}.{name.id}"


def test_every_constant_is_in_one_list():
    listed = [*CROSSED, *REFUSED, *ELSEWHERE, *chain.from_iterable(NO_THRESHOLD.values())]
    assert sorted(listed) == sorted(constants())


@pytest.mark.parametrize("place", sorted(set(ELSEWHERE.values())))
def test_what_is_tested_elsewhere_is_there(place):
    name, test = place.split("::")
    tree = ast.parse((TESTS / name).read_text(encoding="utf-8"))
    assert test in [node.name for node in tree.body if isinstance(node, ast.FunctionDef)]


@cache
def as_it_is(run):
    return run()


@pytest.mark.parametrize("name", CROSSED)
def test_both_sides(name, monkeypatch):
    value, run = CROSSED[name]
    module, constant = name.rsplit(".", 1)
    usual = as_it_is(run)
    place = importlib.import_module(f"partita.{module}")
    with monkeypatch.context() as patch:
        patch.setattr(place, constant, object())  # no number: whoever reads it fails
        with pytest.raises((TypeError, TypingError, pt.PartitaError)):
            run()
    monkeypatch.setattr(place, constant, value)
    other = run()
    if isinstance(usual, str):
        assert usual == other
    elif usual is not None and other is not None:
        assert np.allclose(usual, other, rtol=0, atol=case.ALMOST)


@pytest.mark.parametrize("name", REFUSED)
def test_more_is_refused(name, monkeypatch):
    value, run = REFUSED[name]
    run()
    monkeypatch.setattr(f"partita.{name}", value)
    with pytest.raises(pt.PartitaError):
        run()


@pytest.mark.parametrize("field", [f.name for f in dataclasses.fields(search_bound.Effort)])
def test_bounds_hold_for_every_effort(field, monkeypatch):
    less = {field: 2 if field == "block" else 1}
    efforts = {"fast": dataclasses.replace(search_bound.EFFORTS["fast"], **less)}
    monkeypatch.setattr(search_bound, "EFFORTS", efforts)
    if field in ("matrix_items", "programme_work"):
        case.triangles()
    else:
        case.bounded()


@pytest.mark.parametrize("field", ["operations", "largest", "groups", "passes"])
def test_bounds_of_rivals_hold_for_every_grouping(field, monkeypatch):
    usual = rival_bound.EFFORTS["fast"]
    less = dataclasses.replace(usual.grouping, **{field: 2 if field == "largest" else 1})
    efforts = {"fast": dataclasses.replace(usual, grouping=less)}
    monkeypatch.setattr(rival_bound, "EFFORTS", efforts)
    case.representatives()


@pytest.mark.parametrize("field", ["grouped", "stratum"])
def test_bounds_of_rivals_hold_for_every_effort(field, monkeypatch):
    less = dataclasses.replace(rival_bound.EFFORTS["fast"], **{field: 4})
    monkeypatch.setattr(rival_bound, "EFFORTS", {"fast": less})
    case.representatives()


def test_comparison_in_batches(monkeypatch):
    """More draws, items and clusters than a batch, a tile and its counts hold, and few sums."""
    rng = np.random.default_rng(0)
    draws = pt.Draws(rng.integers(0, 200, (40, 300)))
    estimate = pt.canonical(rng.integers(0, 200, 300))
    whole = compare(estimate, draws, n_jobs=1)
    monkeypatch.setattr("partita.credible.comparison._SUM_BYTES", 16 * 202 * 77)
    parts = compare(estimate, draws, n_jobs=1)
    for field in dataclasses.fields(whole):
        one, other = getattr(whole, field.name), getattr(parts, field.name)
        np.testing.assert_array_equal(one, other, err_msg=field.name)
    single = [compare(estimate, draws[m : m + 1], n_jobs=1) for m in range(40)]
    for name in ("placed", "companions", "information", "alone", "unchanged", "similar"):
        wanted = np.mean([getattr(one, name) for one in single], axis=0)
        np.testing.assert_allclose(getattr(whole, name), wanted, rtol=0, atol=1e-12, err_msg=name)
    alone = (draws.labels[:, :, None] == draws.labels[:, None, :]).sum(axis=2) == 1
    np.testing.assert_allclose(whole.alone, alone.mean(axis=0), rtol=0, atol=1e-12)


@pytest.mark.parametrize("k", [5, 9])
@pytest.mark.parametrize("most", [1 << 22, 0])
def test_single_moves_in_batches(most, k, monkeypatch):
    """More draws than are looked at together where there are many clusters, or one by one."""
    monkeypatch.setattr("partita.kernels.search.single_moves.MOST_CELLS", most)
    draws = random_posterior(60, 25, 0, weighted=True)
    labels = pt.canonical(np.arange(60) % k)
    (found,) = single_moves(make_task(draws), labels, [pt.VI()])
    for item, slot in ((0, k), (7, 0), (59, 3)):
        moved = labels.copy()
        moved[item] = slot
        after = pt.expected_loss(moved, draws)[0]
        assert found[item, slot] == pytest.approx(after, abs=1e-12)


def test_cores_of_many_clusters():
    """More clusters than a growing core has room for at first."""
    rows = np.tile(np.arange(25), (4, 1))
    rows[0, 24] = 0
    found = pt.credible_core(rows, prob=1.0)
    assert found.size == 24
    assert found.probability == 1.0
