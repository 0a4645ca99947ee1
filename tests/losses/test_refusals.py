"""What distances and expected losses refuse, each with an error that says what to do."""

from __future__ import annotations

from contextlib import contextmanager

import numpy as np
import pytest

import partita as pt
from loss_instances import INSTANCES
from reference import losses as slow

BY_SIMILARITY = [loss for loss in INSTANCES if loss.uses_similarity]
DRAWS = [[0, 0, 1, 1], [0, 0, 0, 1], [0, 1, 2, 2], [0, 0, 1, 2]]
MATRIX = np.array(slow.similarity(DRAWS), float)


@contextmanager
def refuse(match: str, kind: type[Exception] = ValueError):
    """Expect an error of partita's own that also is the built-in a caller would catch."""
    with pytest.raises(pt.PartitaError, match=match) as caught:
        yield
    assert isinstance(caught.value, kind)


@pytest.mark.parametrize("loss", ["v", "", 3, ["vi"]])
def test_unknown_loss(loss):
    with refuse("unknown loss"):
        pt.distance([0], [0], loss)


def test_wrong_lengths():
    with refuse("b have 3 items, but 4 were expected"):
        pt.distance([0, 0, 1, 1], [0, 0, 1])
    with refuse("A has 4 items and B has 3"):
        pt.pairwise_distances(DRAWS, [[0, 0, 1]])
    with refuse("candidates have 3 items, but 4 were expected"):
        pt.expected_loss([0, 0, 1], DRAWS)
    with refuse("candidates have 3 items, but 4 were expected"):
        pt.expected_loss([0, 0, 1], loss="binder", similarity=MATRIX)


def test_ragged_and_empty_rows():
    with refuse("candidates have rows of different lengths"):
        pt.expected_loss([[0, 0, 1, 1], [0]], DRAWS)
    with refuse("A have shape"):
        pt.pairwise_distances(np.empty((0, 4), int))
    with refuse("at least one partition and one item"):
        pt.distance([], [])
    with refuse("a have shape .*expected one label per item"):
        pt.distance(DRAWS, DRAWS)


def test_draws_or_similarity_but_not_both():
    with refuse("not both"):
        pt.expected_loss(DRAWS[0], DRAWS, "binder", similarity=MATRIX)
    with refuse("one is needed"):
        pt.expected_loss(DRAWS[0], loss="binder")
    with pytest.raises(TypeError):  # a matrix is never taken for one by position
        pt.expected_loss(DRAWS[0], None, "binder", MATRIX)


@pytest.mark.parametrize("loss", [x for x in INSTANCES if not x.uses_similarity], ids=repr)
def test_losses_that_need_draws(loss):
    can = ", ".join(dict.fromkeys(repr(loss.name) for loss in BY_SIMILARITY))
    with refuse(f"needs the draws. Losses that can: {can}\\.", TypeError):
        pt.expected_loss(DRAWS[0], loss=loss, similarity=MATRIX)


def changed(position, value) -> np.ndarray:
    matrix = MATRIX.copy()
    matrix[position] = value
    return matrix


@pytest.mark.parametrize(
    ("matrix", "match"),
    [
        (changed((0, 1), 0.2), "symmetric with ones on the diagonal"),
        (changed((2, 2), 0.9), "symmetric with ones on the diagonal"),
        (changed((0, 1), np.nan), "between 0 and 1"),
        (changed((0, 1), -0.1), "between 0 and 1"),
        (changed((0, 1), 1.1), "between 0 and 1"),
        (MATRIX[:3], "not square"),
        (MATRIX[0], "expected a square matrix"),
        (np.empty((0, 0)), "expected a square matrix"),
        ([[1.0, 0.5], [0.5]], "rows of different lengths"),
        (MATRIX.astype(str), "expected a square matrix"),
        # Draws given as a similarity matrix.
        (pt.Draws(DRAWS), "Pass the draws as draws"),
        (DRAWS, "pass them as draws"),
        (DRAWS[:2], "pass them as draws"),
    ],
)
def test_bad_similarity(matrix, match):
    for loss in BY_SIMILARITY:
        with refuse(match):
            pt.expected_loss(DRAWS[0], loss=loss, similarity=matrix)


def test_similarity_given_as_draws():
    with refuse("similarity="):
        pt.expected_loss(DRAWS[0], MATRIX, "binder")


def test_rounded_similarity_is_accepted():
    rounded = MATRIX.astype(np.float32)
    assert pt.expected_loss(DRAWS[0], loss="vi_lb", similarity=rounded) == pytest.approx(
        pt.expected_loss(DRAWS[0], DRAWS, "vi_lb"), abs=1e-6
    )
