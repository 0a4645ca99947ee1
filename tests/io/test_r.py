"""R's files. There is no R here: they are made with rdata, attributes and all."""

import numpy as np
import pandas as pd
import pytest
import rdata
from rdata.missing import R_INT_NA
from rdata.parser import RObjectType

import partita as pt
from fuzz.plain_readers import read_plainly
from io_r import Atom, Listed, write_rda, write_rds
from partita.errors import FileFormatError, InvalidInputError, InvalidLabelsError

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
    for chain in ([0, 1], [1, 2]):  # and so do chains
        draws, path = pt.Draws(LABELS, chain=chain), tmp_path / f"{chain[0]}.rds"
        pt.write_draws(draws, path)
        assert read_plainly(path).chain.tolist() == [1, 2]
        assert pt.read_draws(path) == draws


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


Z = np.array([[1, 1, 2], [3, 1, 1], [2, 2, 2], [1, 2, 3]])
DRAWS = pt.Draws(Z)
CHAINS = pt.Draws(Z, chain=[1, 1, 2, 2])
COLUMNS = ["z[1]", "z[2]", "z[3]"]
DENSITY = np.random.default_rng(0).random((4, 5))


@pytest.fixture
def read(tmp_path):
    def from_rds(value, **options):
        return pt.read_draws(write_rds(tmp_path / "a.rds", value), **options)

    return from_rds


def test_rstan_extract(read):
    """dimnames with names and no column names: list(iterations = NULL, NULL)."""
    assert read(Atom(Z, {"iterations": None, "": None})) == DRAWS
    assert read(Atom(Z.astype(float), {"iterations": ["1", "2", "3", "4"], "": None})) == DRAWS


def test_bnpmix(read):
    fit = {"density": DENSITY, "data": Atom([0.5, 1.5, 2.5]), "clust": Z, "group_log": Atom([1, 2])}
    assert read(Listed(fit, r_class=["BNPdens"])) == DRAWS
    # The data may be whole numbers too: then only the class tells, or the path does.
    fit["data"] = np.array([[1, 5], [2, 6], [3, 7]])
    assert read(Listed(fit, r_class=["BNPdens"])) == DRAWS
    with pytest.raises(InvalidInputError, match=r"'data', 'clust'.*var_name='data'"):
        read(Listed(fit))
    assert read(Listed(fit), var_name="clust") == DRAWS
    assert read(Listed(fit), var_name="fit$clust") == DRAWS
    with pytest.raises(InvalidInputError, match=r"nothing at .*It holds: density, data"):
        read(Listed(fit), var_name="fit$klust")


def test_fits_in_rdata(tmp_path):
    fit = Listed({"density": DENSITY, "clust": Z}, r_class=["BNPdens"])
    file = write_rda(tmp_path / "a.RData", fit=fit, y=Atom([0.1, 0.2, 0.3]))
    assert pt.read_draws(file) == DRAWS
    assert pt.read_draws(file, var_name="fit$clust") == DRAWS


def test_dirichletprocess_and_antman(read):
    vectors = Listed([Atom(row) for row in Z])
    fit = Listed(
        {"data": Atom([0.1, 0.2, 0.3]), "labelsChain": vectors, "alphaChain": Atom(DENSITY[0, :4])},
        r_class=["list", "dirichletprocess", "gaussian"],
    )
    assert read(fit) == DRAWS
    assert read(vectors) == DRAWS
    antman = Listed({"K": Atom([2, 2, 1, 3]), "CI": vectors}, r_class=["AM_mcmc_output"])
    assert read(antman) == DRAWS
    assert read(Listed({"a": {"b": vectors}})) == DRAWS
    assert read(Listed({"a": {"b": vectors}, "c": Z}), var_name="a$b") == DRAWS


def test_posterior(read):
    cube = np.stack([Z[:2], Z[2:]], axis=1)
    names = {"iteration": ["1", "2"], "chain": ["1", "2"], "variable": COLUMNS}
    assert read(Atom(cube, names, r_class=["draws_array", "draws", "array"])) == CHAINS
    stan = {"iterations": None, "chains": ["chain:1", "chain:2"], "parameters": COLUMNS}
    assert read(Atom(cube, stan)) == CHAINS
    assert read(Atom(cube, [None, None, COLUMNS])) == CHAINS
    with pytest.raises(InvalidInputError, match="dimensions have no names"):
        read(Atom(cube))
    rows = {"draw": list("1234"), "variable": COLUMNS}
    matrix = Atom(Z, rows, r_class=["draws_matrix", "draws"], nchains=np.array([2], np.int32))
    assert read(matrix) == CHAINS
    rvar = Listed([], r_class=["rvar"], draws=Atom(Z, {"": list("1234"), "i": None}))
    rvar.attributes["nchains"] = np.array([2], np.int32)
    assert read(rvar) == CHAINS
    mu = Listed([], r_class=["rvar"], draws=Atom(DENSITY))
    assert read(Listed({"z": rvar, "mu": mu}, r_class=["draws_rvars", "draws"])) == CHAINS
    chains = [
        Listed({name: Atom(part[:, i]) for i, name in enumerate(COLUMNS)})
        for part in (Z[:2], Z[2:])
    ]
    draws_list = Listed({"1": chains[0], "2": chains[1]}, r_class=["draws_list", "draws"])
    found = read(draws_list)
    assert found.labels.tolist() == DRAWS.labels.tolist()
    assert found.chain.tolist() == ["1", "1", "2", "2"]


def test_nimble_and_coda(read):
    parts = {"chain1": Atom(Z[:2], [None, COLUMNS]), "chain2": Atom(Z[2:], [None, COLUMNS])}
    found = read(Listed(parts))
    assert found.labels.tolist() == DRAWS.labels.tolist()
    assert found.chain.tolist() == ["chain1", "chain1", "chain2", "chain2"]
    more = [
        Atom(np.column_stack([DENSITY[:2, 0], p]), [None, ["alpha", *COLUMNS]]) for p in (Z[:2],)
    ]
    assert read(Listed({"samples": Listed(more), "WAIC": Atom([1.5])}), var_name="samples$z") == (
        pt.Draws(Z[:2], chain=[0, 0])
    )


def test_jags_samples(read):
    array = np.stack([Z[:2].T, Z[2:].T], axis=2)  # item, iteration, chain
    assert read(Listed({"z": Atom(array, r_class=["mcarray"])})) == CHAINS


def test_text_bit64_and_factors(read):
    assert read(Atom(np.array([["a", "b"], ["b", "b"]]))) == pt.Draws([[0, 1], [0, 0]])
    big = np.array([[2**60, 2**60 + 1], [5, 5]])
    assert read(Atom(big, r_class=["integer64"])) == pt.Draws([[0, 1], [0, 0]])
    with pytest.raises(InvalidLabelsError, match="missing"):
        read(Atom(np.array([[1, np.iinfo(np.int64).min]]), r_class=["integer64"]))
    factor = Atom(np.array([2, 1], np.int32), r_class=["factor"], levels=np.array(["x", "y"]))
    frame = Listed({"a": factor, "b": factor}, r_class=["data.frame"])
    assert read(frame) == pt.Draws([[0, 0], [0, 0]], item_names=["a", "b"])


def test_mangled_names(read):
    """read.csv() makes z.1. of z[1]."""
    columns = {name: Atom(Z[:, i]) for i, name in enumerate(["z.1.", "z.2.", "z.3."])}
    assert read(Listed(columns, r_class=["data.frame"])) == DRAWS


def test_a_whole_file_is_never_called_damaged(read, tmp_path):
    for value in (
        Listed({"a": Atom([1.5])}),
        Listed([]),
        Atom([1, 2, 3]),
        Listed([Atom([1]), Z[0]]),
    ):
        with pytest.raises((InvalidInputError, InvalidLabelsError)) as caught:
            read(value)
        assert "damaged" not in str(caught.value)
        assert "0 matrices" not in str(caught.value)
    (tmp_path / "b.rds").write_bytes(b"\x1f\x8bxx")
    with pytest.raises(FileFormatError, match="damaged"):
        pt.read_draws(tmp_path / "b.rds")


class S4:
    """An object of class ``stanfit``: its slots are attributes."""

    def __init__(self, **slots):
        self.slots = slots


def _s4(data, converter):
    from rdata.conversion import to_r

    attributes = converter.convert_to_r_attributes({**data.slots, "class": np.array(["stanfit"])})
    return to_r.build_r_object(RObjectType.S4, value=None, is_object=True, attributes=attributes)


@pytest.fixture
def stanfit(monkeypatch):
    from rdata.unparser import _unparser

    import io_r

    monkeypatch.setitem(io_r.CONSTRUCTORS, S4, _s4)
    usual = _unparser.Unparser.unparse_r_object

    def with_s4(self, obj):
        """R writes an S4 object as its flags and its attributes; rdata's writer knows none."""
        if obj.info.type is not RObjectType.S4:
            return usual(self, obj)
        self.unparse_int(_unparser.pack_r_object_info(obj.info))
        return self.unparse_r_object(obj.attributes)

    monkeypatch.setattr(_unparser.Unparser, "unparse_r_object", with_s4)

    def made(warmup):
        chains = []
        for rows in (Z[:2], Z[2:]):
            whole = np.concatenate([np.full((warmup, 3), 9), rows])
            columns = {f"z[{i + 1}]": Atom(whole[:, i].astype(float)) for i in range(3)}
            columns["lp__"] = Atom(np.linspace(-3.0, -2.5, len(whole)))
            chains.append(Listed(columns))
        sim = Listed({"samples": Listed(chains), "warmup2": Atom([warmup, warmup])})
        return S4(model_name=np.array(["mixture"]), sim=sim, mode=Atom([0]))

    return made


@pytest.mark.parametrize("warmup", [0, 3])
def test_a_whole_stanfit(read, stanfit, warmup, tmp_path):
    """saveRDS(fit): draws of the chains in slot sim, less the warm-up that it counts."""
    assert read(stanfit(warmup)) == CHAINS
    assert read(stanfit(warmup), var_name="z") == CHAINS
    file = write_rda(tmp_path / "a.RData", fit=stanfit(warmup), y=Atom([0.1, 0.2, 0.3]))
    assert pt.read_draws(file) == CHAINS
    with pytest.raises(InvalidInputError, match="not among the variables"):
        read(stanfit(warmup), var_name="theta")
