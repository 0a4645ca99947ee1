"""The stretched Hasse diagram."""

import numpy as np
import pytest

import partita as pt
from losses.test_user_defined import Halved
from partita.errors import NotSupportedError
from reference import partitions as slow

PAPER = {
    "vi": {0.0: 1, 0.811: 4, 1.0: 3, 1.5: 6, 2.0: 1},
    "binder": {0.0: 1, 0.375: 4, 0.5: 3, 0.625: 6, 0.75: 1},
}
"""Heights of the paper's figures for four items, and how many partitions stand at each."""


@pytest.mark.parametrize("loss", ["vi", "binder"])
def test_heights_of_four_items_are_the_papers(loss):
    heights = pt.hasse_diagram(4, loss=loss).heights
    values, counts = np.unique(np.round(heights, 3), return_counts=True)
    assert dict(zip(values.tolist(), counts.tolist(), strict=True)) == PAPER[loss]


@pytest.mark.parametrize("n", [1, 2, 3, 4, 5])
def test_edges_are_the_covering_relation(n):
    everything = slow.every_partition(n)
    diagram = pt.hasse_diagram(n)
    nodes = diagram.nodes.tolist()
    assert sorted(nodes) == everything
    drawn = {(lower, upper) for lower, upper in diagram.edges.tolist()}
    assert len(drawn) == len(diagram.edges)
    if n <= 4:
        expected = {
            (i, j)
            for i, a in enumerate(nodes)
            for j, b in enumerate(nodes)
            if slow.is_cover(a, b, everything)
        }
    else:
        expected = {
            (i, nodes.index(c.tolist())) for i, a in enumerate(nodes) for c in pt.lattice.covers(a)
        }
    assert drawn == expected


def test_the_drawing_goes_from_one_cluster_down_to_singletons():
    diagram = pt.hasse_diagram(5, loss="binder")
    assert diagram.positions[0].tolist() == [0.0, 0.0]
    assert diagram.names()[0] == "{1,2,3,4,5}"
    assert diagram.names()[-1] == "{1}{2}{3}{4}{5}"
    x, y = diagram.positions.T
    assert np.array_equal(y, -diagram.heights)
    lower, upper = diagram.edges.T
    assert (y[lower] < y[upper]).all()
    assert len({*zip(x.tolist(), y.tolist(), strict=True)}) == len(diagram.nodes)


@pytest.mark.parametrize(
    "loss",
    [Halved(), pt.Entropy(1.5), pt.Additive(lambda x: x**3, scale=lambda n: n**3)],
    ids=repr,
)
def test_heights_are_the_losss_own(loss):
    diagram = pt.hasse_diagram(4, loss=loss)
    assert diagram.loss is loss
    for row, height in zip(diagram.nodes, diagram.heights.tolist(), strict=True):
        assert height == pt.distance([0] * 4, row, loss)


@pytest.mark.parametrize(
    "loss", ["nid", pt.NID(), pt.VI(a=0.5), "nvi", "id", "one_minus_ari"], ids=repr
)
@pytest.mark.parametrize("n", [3, 4, 8])
def test_a_loss_that_is_not_aligned_is_refused(loss, n):
    with pytest.raises(NotSupportedError, match="'vi' or 'binder'") as caught:
        pt.hasse_diagram(n, loss=loss)
    assert caught.value.argument == "loss"
