"""Expected losses: definition, reference, merged draws, similarity, threads, refusals."""

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import partita as pt
from loss_instances import INSTANCES, every_loss
from partita.posterior import Posterior, as_posterior
from reference import losses as slow
from reference.partitions import every_partition
from strategies import same_items

at_price_one = pytest.mark.parametrize("loss", [x for x in INSTANCES if x.price == 1.0], ids=repr)


@pytest.fixture(scope="module")
def posterior() -> pt.Draws:
    """5,000 weighted draws of 30 items with repetitions: several blocks of work."""
    rng = np.random.default_rng(11)
    base = np.repeat(np.arange(5), 6)
    labels = np.where(rng.random((300, 30)) < 0.2, rng.integers(0, 9, (300, 30)), base)
    return pt.Draws(labels[rng.integers(0, 300, 5_000)], weights=rng.random(5_000) + 0.1)


def candidates_of(draws: pt.Draws) -> np.ndarray:
    n = draws.n_items
    return np.vstack([np.zeros(n, int), np.arange(n), draws.labels[:3]])


@pytest.mark.parametrize("loss", [x for x in INSTANCES if x.averages_distances], ids=repr)
def test_expected_loss_is_the_weighted_mean_of_distances(loss, posterior):
    candidates = candidates_of(posterior)
    means = pt.pairwise_distances(candidates, posterior, loss) @ posterior.weights
    assert pt.expected_loss(candidates, posterior, loss) == pytest.approx(means, abs=1e-12)


@at_price_one
@settings(max_examples=25)
@given(rows=same_items(5, most=9), weights=st.tuples(*[st.floats(0.01, 10)] * 4))
def test_expected_loss_equals_the_reference(loss, rows, weights):
    candidate, *draws = rows
    for given_weights in (None, weights):
        ours = pt.expected_loss(candidate, pt.Draws(draws, weights=given_weights), loss)
        assert ours == pytest.approx(
            [slow.expected(loss.name, candidate, draws, given_weights)], abs=1e-11
        )


@at_price_one
def test_surrogates_of_one_draw_are_distances(loss):
    # What makes vi_lb and ompear losses at all: on a single draw they are VI and 1 − ARI.
    for estimate in every_partition(4):
        for truth in every_partition(4):
            assert pt.expected_loss(estimate, [truth], loss) == pytest.approx(
                [pt.distance(estimate, truth, loss)], abs=1e-12
            )


@every_loss
def test_merged_draws_have_the_same_expected_loss(loss, posterior):
    candidates = candidates_of(posterior)
    merged = posterior.unique()
    assert merged.n_draws <= 300 < posterior.n_draws
    assert pt.expected_loss(candidates, merged, loss) == pytest.approx(
        pt.expected_loss(candidates, posterior, loss), abs=1e-12
    )


@pytest.mark.parametrize("loss", [x for x in INSTANCES if x.uses_similarity], ids=repr)
def test_draws_and_their_similarity_agree(loss, posterior):
    labels = posterior.unique().labels
    together = labels[:, :, None] == labels[:, None, :]
    matrix = np.einsum("mij,m->ij", together, posterior.unique().weights)
    np.fill_diagonal(matrix, 1.0)
    candidates = candidates_of(posterior)
    assert pt.expected_loss(candidates, loss=loss, similarity=matrix) == pytest.approx(
        pt.expected_loss(candidates, posterior, loss), abs=1e-12
    )


@pytest.mark.parametrize("loss", [pt.VI(), pt.VI(a=0.5)], ids=repr)
def test_pairwise_distances_in_small_blocks(loss, posterior, monkeypatch):
    some = posterior.thin(37)
    table = pt.pairwise_distances(some, loss=loss)
    across = pt.pairwise_distances(some, some.labels, loss)
    monkeypatch.setattr("partita.losses.evaluate._BLOCK_CELLS", 10 * some.n_draws)
    assert np.array_equal(pt.pairwise_distances(some, loss=loss), table)
    assert across == pytest.approx(table, abs=1e-12)
    if loss.is_metric:
        assert np.array_equal(table, table.T)


@every_loss
def test_several_candidates_at_once(loss, posterior):
    candidates = candidates_of(posterior)
    one_by_one = [pt.expected_loss(row, posterior, loss) for row in candidates]
    together = pt.expected_loss(candidates, posterior, loss)
    assert np.array_equal(together, np.concatenate(one_by_one))


RNG = np.random.default_rng(3)
TRUTH = np.repeat([0, 1, 2], 5)
LABELS = np.where(RNG.random((60, 15)) < 0.1, RNG.integers(0, 3, (60, 15)), TRUTH)


@pytest.fixture(params=[False, True], ids=["unweighted", "weighted"])
def draws(request) -> pt.Draws:
    return pt.Draws(LABELS, weights=RNG.random(60) + 0.1 if request.param else None)


def test_shared_answers_are_those_of_each_function(draws):
    posterior = Posterior(draws)
    assert posterior.distinct == draws.unique()
    assert np.array_equal(posterior.similarity, pt.similarity(draws))
    estimate = RNG.permutation(TRUTH)
    for loss in (pt.VI(), pt.Binder(), pt.VI(a=0.6), pt.OneMinusARI()):
        wanted = pt.pairwise_distances([estimate], draws, loss)[0]
        assert np.array_equal(posterior.distances(loss, estimate), wanted)
        assert posterior.expected(loss, estimate) == pt.expected_loss(estimate, draws, loss)[0]
    for loss in (pt.VILowerBound(), pt.OneMinusPEAR()):
        wanted = pt.expected_loss(estimate, draws, loss)[0]
        assert posterior.expected(loss, estimate) == pytest.approx(wanted, abs=1e-12)
        assert Posterior(draws).expected(loss, estimate) == wanted


def test_a_posterior_stands_for_its_draws(draws):
    posterior = as_posterior(draws)
    assert as_posterior(posterior) is posterior
    assert pt.as_draws(posterior) is draws
    alone, shared = pt.estimate(draws, rng=1), pt.estimate(posterior, rng=1)
    assert np.array_equal(alone.labels, shared.labels)
    assert alone.expected_loss == shared.expected_loss
    assert alone.lower_bound == shared.lower_bound


BY_SIMILARITY = [loss for loss in INSTANCES if loss.uses_similarity]
DRAWS = [[0, 0, 1, 1], [0, 0, 0, 1], [0, 1, 2, 2], [0, 0, 1, 2]]
MATRIX = np.array(slow.similarity(DRAWS), float)


def changed(position, value) -> np.ndarray:
    matrix = MATRIX.copy()
    matrix[position] = value
    return matrix


def given(matrix, loss="vi_lb", labels=DRAWS[0]):
    return pt.expected_loss(labels, loss=loss, similarity=matrix)


CAN = ", ".join(dict.fromkeys(repr(loss.name) for loss in BY_SIMILARITY))


@pytest.mark.parametrize(
    ("ask", "message"),
    [
        *((lambda loss=loss: pt.distance([0], [0], loss), "unknown loss") for loss in ("v", "", 3)),
        (lambda: pt.distance([0, 0, 1, 1], [0, 0, 1]), "b: labels of 3 items, but 4 were expected"),
        (lambda: pt.pairwise_distances(DRAWS, [[0, 0, 1]]), "A has 4 items and B has 3"),
        (lambda: pt.expected_loss([0, 0, 1], DRAWS), "candidates: labels of 3 items, but 4 were"),
        (lambda: given(MATRIX, labels=[0, 0, 1]), "candidates: labels of 3 items, but 4 were"),
        (lambda: pt.expected_loss([[0, 0, 1, 1], [0]], DRAWS), "candidates have rows of different"),
        (lambda: pt.pairwise_distances(np.empty((0, 4), int)), "A have shape"),
        (lambda: pt.distance([], []), "at least one partition and one item"),
        (lambda: pt.distance(DRAWS, DRAWS), "a have shape .*expected one label per item"),
        (lambda: pt.expected_loss(DRAWS[0], DRAWS, similarity=MATRIX), "not both"),
        (lambda: given(None), "one is needed"),
        (lambda: pt.expected_loss(DRAWS[0], MATRIX, "binder"), "similarity="),
        (lambda: given(changed((0, 1), 0.2)), "symmetric with ones on the diagonal"),
        (lambda: given(changed((2, 2), 0.9)), "symmetric with ones on the diagonal"),
        *((lambda x=x: given(changed((0, 1), x)), "between 0 and 1") for x in (np.nan, -0.1, 1.1)),
        (lambda: given(MATRIX[:3]), "not square"),
        (lambda: given(MATRIX[0]), "expected a square matrix"),
        (lambda: given(np.empty((0, 0))), "expected a square matrix"),
        (lambda: given([[1.0, 0.5], [0.5]]), "rows of different lengths"),
        (lambda: given(MATRIX.astype(str)), "expected a square matrix"),
        # Draws given as a similarity matrix.
        (lambda: given(pt.Draws(DRAWS)), "Pass the draws as draws"),
        (lambda: given(DRAWS), "pass them as draws"),
        (lambda: given(DRAWS[:2]), "pass them as draws"),
    ],
)
def test_what_cannot_be_measured_is_refused(ask, message):
    with pytest.raises(pt.PartitaError, match=message) as caught:
        ask()
    assert isinstance(caught.value, ValueError)  # which a caller would catch


@pytest.mark.parametrize("loss", [x for x in INSTANCES if not x.uses_similarity], ids=repr)
def test_losses_that_need_draws(loss):
    with pytest.raises(pt.PartitaError, match=f"Losses that can: {CAN}\\.") as caught:
        given(MATRIX, loss)
    assert isinstance(caught.value, TypeError)
    with pytest.raises(TypeError):  # a matrix is never taken for one by position
        pt.expected_loss(DRAWS[0], None, "binder", MATRIX)


def test_rounded_similarity_is_accepted():
    rounded = MATRIX.astype(np.float32)
    assert pt.expected_loss(DRAWS[0], loss="vi_lb", similarity=rounded) == pytest.approx(
        pt.expected_loss(DRAWS[0], DRAWS, "vi_lb"), abs=1e-6
    )


def test_items_in_another_order_are_not_compared():
    a = pt.Draws([[0, 0, 1]], item_names=["x", "y", "z"])
    b = pt.Draws([[1, 0, 0]], item_names=["z", "x", "y"])
    with pytest.raises(pt.errors.InvalidInputError, match="in another order"):
        pt.pairwise_distances(a, b)
    assert pt.pairwise_distances(a, b.select_items(["x", "y", "z"])) == 0.0
    assert pt.pairwise_distances(a, [[0, 0, 1]]) == 0.0


NAMED = pt.Draws([[0, 0, 1, 1], [0, 0, 0, 1]], chain=[0, 1], item_names=list("abcd"))
IN_ORDER = pd.Series([0, 0, 1, 1], index=list("abcd"))
QUESTIONS = {
    "distance": lambda b: pt.distance(IN_ORDER, b),
    "cross_table": lambda b: pt.cross_table(IN_ORDER, b),
    "explain": lambda b: pt.explain(NAMED[:1], b),
    "meet": lambda b: pt.lattice.meet(IN_ORDER, b),
    "expected_loss": lambda b: pt.expected_loss(b, NAMED),
    "candidates": lambda b: pt.expected_loss(pd.DataFrame([b]), NAMED),
    "arrow": lambda b: pt.expected_loss(pa.Table.from_pandas(pd.DataFrame([b])), NAMED),
    "ball": lambda b: pt.credible_ball(NAMED, b),
    "items": lambda b: pt.item_uncertainty(NAMED, b),
    "clusters": lambda b: pt.cluster_uncertainty(NAMED, b),
    "p_value": lambda b: pt.p_value(NAMED, b),
}


@pytest.mark.parametrize("question", QUESTIONS.values(), ids=QUESTIONS)
def test_one_partition_with_names_in_another_order_is_refused(question):
    """Labels are compared place by place, and would answer for other items."""
    question(IN_ORDER)
    question(IN_ORDER.reset_index(drop=True).rename(str))
    with pytest.raises(pt.errors.InvalidInputError, match="item 1 is 'c', and 'b' was expected"):
        question(IN_ORDER[list("acbd")])
