"""R's files. There is no R here: they are made with rdata, attributes and all."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
import rdata
from rdata.conversion import to_r
from rdata.missing import R_INT_NA
from rdata.parser import RObjectType

import partita as pt
from partita.errors import InvalidInputError, InvalidLabelsError

LABELS = np.array([[1, 1, 2], [3, 1, 1]], np.int32)
EXPECTED = pt.Draws(LABELS)


class RMatrix:
    """A matrix with the attributes R would give it."""

    def __init__(self, values, rows=None, columns=None, r_class=None):
        self.values, self.rows, self.columns, self.r_class = values, rows, columns, r_class


def _matrix(data, converter):
    attributes = {"dim": np.array(data.values.shape, np.int32)}
    if data.rows is not None or data.columns is not None:
        names = [None if n is None else np.array(n) for n in (data.rows, data.columns)]
        attributes["dimnames"] = names
    if data.r_class:
        attributes["class"] = data.r_class
    return to_r.build_r_object(
        RObjectType.REAL if data.values.dtype.kind == "f" else RObjectType.INT,
        value=data.values.ravel(order="F"),
        is_object=data.r_class is not None,
        attributes=converter.convert_to_r_attributes(attributes),
    )


CONSTRUCTORS = {**to_r.DEFAULT_CLASS_MAP, RMatrix: _matrix}


@pytest.fixture
def rds(tmp_path):
    def write(value):
        rdata.write_rds(tmp_path / "a.rds", value, constructor_dict=CONSTRUCTORS)
        return tmp_path / "a.rds"

    return write


@pytest.fixture
def rdata_file(tmp_path):
    def write(**objects):
        rdata.write_rda(tmp_path / "a.RData", objects, constructor_dict=CONSTRUCTORS)
        return tmp_path / "a.RData"

    return write


@pytest.mark.parametrize("values", [LABELS, LABELS.astype(float), LABELS == 1])
def test_matrices(rds, values):
    assert pt.read_draws(rds(values)) == pt.Draws(values)
    assert pt.read_draws(rds(values.T.copy()), transpose=True) == pt.Draws(values)


@pytest.mark.parametrize("rows", [None, ["x", "y"]])
@pytest.mark.parametrize("columns", [None, ["a", "b", "c"]])
def test_names_of_rows_and_columns(rds, rows, columns):
    file = rds(RMatrix(LABELS, rows, columns))
    assert pt.read_draws(file) == pt.Draws(LABELS, item_names=columns)
    file = rds(RMatrix(LABELS.T.copy(), columns, rows))
    assert pt.read_draws(file, transpose=True) == pt.Draws(LABELS, item_names=columns)


def test_matrices_of_samplers(rds):
    columns = ["alpha", "z[1]", "z[2]", "z[3]"]
    values = np.column_stack([[0.5, 0.7], LABELS])
    for r_class in (None, "mcmc"):
        file = rds(RMatrix(values, columns=columns, r_class=r_class))
        assert pt.read_draws(file) == EXPECTED
        assert pt.read_draws(file, var_name="z") == EXPECTED
    chains = rds([RMatrix(values, columns=columns, r_class="mcmc") for _ in range(2)])
    assert pt.read_draws(chains) == pt.as_draws(np.array([LABELS, LABELS]))


def test_data_frames(rds):
    frame = pd.DataFrame(LABELS, columns=["a", "b", "c"])
    named = pt.Draws(LABELS, item_names="abc")
    assert pt.read_draws(rds(frame)) == named
    frame.insert(0, ".chain", [1, 2])
    assert pt.read_draws(rds(frame)) == pt.as_draws(named, chain=[1, 2])
    factors = pd.DataFrame({"a": pd.Categorical(["u", "v"]), "b": pd.Categorical(["u", "u"])})
    assert pt.read_draws(rds(factors)).labels.tolist() == [[0, 0], [0, 1]]


def test_several_objects(rdata_file):
    assert pt.read_draws(rdata_file(x=LABELS)) == EXPECTED
    assert pt.read_draws(rdata_file(n=3, x=LABELS)) == EXPECTED
    file = rdata_file(x=LABELS, y=LABELS[:1])
    assert pt.read_draws(file, var_name="y").n_draws == 1
    with pytest.raises(InvalidInputError, match=r"several objects.*'x', 'y'.*var_name='x'"):
        pt.read_draws(file)
    with pytest.raises(InvalidInputError, match=r"nothing recognisable as draws.*It holds: n"):
        pt.read_draws(rdata_file(n=3))
    table = RMatrix(LABELS, columns=["z[1]", "z[2]", "z[3]"])
    assert pt.read_draws(rdata_file(samples=table), var_name="z") == EXPECTED


def test_labels_for_r_count_from_one(tmp_path):
    pt.write_draws(EXPECTED, tmp_path / "a.rds")
    assert rdata.read_rds(tmp_path / "a.rds").tolist() == [[1, 1, 2], [1, 2, 2]]
    pt.write_draws(EXPECTED, tmp_path / "a.RData")
    assert list(rdata.read_rda(tmp_path / "a.RData")) == ["draws"]
    pt.write_draws(pt.Draws(LABELS, item_names="abc"), tmp_path / "b.rds")
    assert rdata.read_rds(tmp_path / "b.rds").coords["dim_1"].values.tolist() == ["a", "b", "c"]


# ------------------------------------------------------------------------- bad input


def test_missing_labels(rds):
    holes = LABELS.copy()
    holes[1, 2] = R_INT_NA
    with pytest.raises(InvalidLabelsError, match=r"\[1, 2\] is masked \(missing\)"):
        pt.read_draws(rds(holes))
    with pytest.raises(InvalidLabelsError, match="row 1, column 'c' is missing"):
        pt.read_draws(rds(RMatrix(holes, columns=["a", "b", "c"])))
    holes = LABELS.astype(float)
    holes[0, 1] = np.nan
    with pytest.raises(InvalidLabelsError, match=r"NaN at draw 0, item 1|masked"):
        pt.read_draws(rds(holes))


def test_no_matrix(rds):
    with pytest.raises(InvalidLabelsError, match=r"shape \(3,\); expected a matrix"):
        pt.read_draws(rds(LABELS[0]))
    with pytest.raises(InvalidInputError, match="dimensions have no names"):
        pt.read_draws(rds(LABELS[None]))
    with pytest.raises(InvalidLabelsError, match="nothing recognisable as draws"):
        pt.read_draws(rds([LABELS[0], np.array([1])]))
    with pytest.raises(InvalidInputError, match="columns have no names"):
        pt.read_draws(rds(LABELS), var_name="z")


def test_chain_ids_beyond_r(tmp_path):
    with pytest.raises(InvalidInputError, match="R's integers"):
        pt.write_draws(pt.Draws([[0]], chain=[2**40]), tmp_path / "a.rds")


def test_the_chains_of_a_matrix_for_r_count_from_one(tmp_path):
    draws = pt.Draws([[0, 0, 1], [0, 1, 1]], chain=[0, 1])
    pt.write_draws(draws, tmp_path / "d.rds")
    found = rdata.parser.parse_file(tmp_path / "d.rds").object
    attributes, node = {}, found.attributes
    while node is not None and node.info.type is RObjectType.LIST:
        tag = node.tag if node.tag.info.type is not RObjectType.REF else node.tag.referenced_object
        attributes[tag.value.value.decode()] = node.value[0].value
        node = node.value[1]
    assert attributes["chain"].tolist() == [1, 2]
    assert pt.read_draws(tmp_path / "d.rds") == draws
    later = pt.Draws([[0, 0, 1], [0, 1, 1]], chain=[1, 2])
    pt.write_draws(later, tmp_path / "e.rds")
    assert pt.read_draws(tmp_path / "e.rds") == later


def test_a_matrix_with_names_of_rows_alone_may_be_transposed(tmp_path):
    from io_r import Atom, write_rds

    labels = np.random.default_rng(0).integers(1, 4, (12, 5))
    names = [f"gene{i}" for i in range(12)]
    path = write_rds(tmp_path / "t.rds", Atom(labels, dimnames=[names, None]))
    with pytest.warns(UserWarning, match=r"named 'gene0', 'gene1', .*transpose=True"):
        pt.read_draws(path)
    assert pt.read_draws(path, transpose=True).item_names == tuple(names)
