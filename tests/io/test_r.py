"""R's files. There is no R here: they are made with rdata, attributes and all."""

import numpy as np
import pandas as pd
import pytest
import rdata
from rdata.missing import R_INT_NA
from rdata.parser import RObjectType

import partita as pt
from io_r import Atom, write_rda, write_rds
from partita.errors import InvalidInputError, InvalidLabelsError

LABELS = np.array([[1, 1, 2], [3, 1, 1]], np.int32)
EXPECTED = pt.Draws(LABELS)


def named(values, rows=None, columns=None, r_class=None):
    return Atom(values, [rows, columns], r_class and [r_class])


@pytest.fixture
def rds(tmp_path):
    return lambda value: write_rds(tmp_path / "a.rds", value)


@pytest.fixture
def rdata_file(tmp_path):
    return lambda **objects: write_rda(tmp_path / "a.RData", **objects)


@pytest.mark.parametrize("values", [LABELS, LABELS.astype(float), LABELS == 1])
def test_matrices(rds, values):
    assert pt.read_draws(rds(values)) == pt.Draws(values)
    assert pt.read_draws(rds(values.T.copy()), transpose=True) == pt.Draws(values)


@pytest.mark.parametrize("rows", [None, ["x", "y"]])
@pytest.mark.parametrize("columns", [None, ["a", "b", "c"]])
def test_names_of_rows_and_columns(rds, rows, columns):
    file = rds(named(LABELS, rows, columns))
    assert pt.read_draws(file) == pt.Draws(LABELS, item_names=columns)
    file = rds(named(LABELS.T.copy(), columns, rows))
    assert pt.read_draws(file, transpose=True) == pt.Draws(LABELS, item_names=columns)


def test_matrices_of_samplers(rds):
    columns = ["alpha", "z[1]", "z[2]", "z[3]"]
    values = np.column_stack([[0.5, 0.7], LABELS])
    for r_class in (None, "mcmc"):
        file = rds(named(values, columns=columns, r_class=r_class))
        assert pt.read_draws(file) == EXPECTED
        assert pt.read_draws(file, var_name="z") == EXPECTED
    chains = rds([named(values, columns=columns, r_class="mcmc") for _ in range(2)])
    assert pt.read_draws(chains) == pt.as_draws(np.array([LABELS, LABELS]))


@pytest.mark.parametrize("r_class", ["Date", "POSIXct", "difftime"])
def test_dates_and_durations_are_no_labels(rds, r_class):
    with pytest.raises(pt.errors.InvalidLabelsError, match=r"dtype (datetime|timedelta)64"):
        pt.read_draws(rds(named(LABELS.astype(float), r_class=r_class)))


def test_data_frames(rds):
    frame = pd.DataFrame(LABELS, columns=["a", "b", "c"])
    expected = pt.Draws(LABELS, item_names="abc")
    assert pt.read_draws(rds(frame)) == expected
    frame.insert(0, ".chain", [1, 2])
    assert pt.read_draws(rds(frame)) == pt.as_draws(expected, chain=[1, 2])
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
    table = named(LABELS, columns=["z[1]", "z[2]", "z[3]"])
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
        pt.read_draws(rds(named(holes, columns=["a", "b", "c"])))
    holes = LABELS.astype(float)
    holes[0, 1] = np.nan
    with pytest.raises(InvalidLabelsError, match=r"NaN at draw 0, item 1|masked"):
        pt.read_draws(rds(holes))


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
