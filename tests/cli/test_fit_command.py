"""``partita fit``: the library's sampler with the options' model, and everything saved."""

import json

import numpy as np
import pandas as pd
import pytest

import partita as pt
from cli.conftest import NAMES
from partita.io.data_table import as_table
from partita.samplers import compare

SHORT = ("--draws", 100, "--burn-in", 50, "--chains", 2)


@pytest.fixture
def without_report(monkeypatch):
    """A second of drawing, where the report is not the point."""
    monkeypatch.setattr("partita.cli.outputs.write_report", lambda *_: None)


def test_saves_the_draws_of_the_sampler_and_the_summary(place, partita):
    result = partita("fit", "data.csv", "--columns", "x,y", "--names", "id", *SHORT, "--seed", 4)
    out = place / "data-fit"
    table = as_table("data.csv").select([1, 2])
    expected = pt.sample(table, draws=100, burn_in=50, chains=2, rng=4)
    draws = pt.read_draws(out / "draws.npz")
    assert np.array_equal(draws.labels, expected.draws.labels)
    assert draws.item_names == tuple(NAMES)
    fit = pt.Fit.load(out / "fit.npz")
    assert (fit.kernel, fit.prior) == (expected.kernel, expected.prior)
    assert result.stdout.startswith((out / "summary.txt").read_text())
    assert "Profiles" in result.stdout
    assert "</html>" in (out / "report.html").read_text()
    assert json.loads((out / "summary.json").read_text())["item_names"] == NAMES


def test_chains_of_many_rows_are_short_unless_told_otherwise(
    place, partita, without_report, monkeypatch
):
    monkeypatch.setattr("partita.cli.fit._ROW_VISITS", 60 * len(NAMES))
    told = ("fit", "data.csv", "--columns", "x", "--chains", 2, "--out")
    result = partita(*told, "a")
    assert "each chain keeps 40 draws after 20 iterations of burn-in" in result.stderr
    fit = pt.Fit.load(place / "a" / "fit.npz")
    assert (fit.settings.draws, fit.settings.burn_in) == (40, 20)
    result = partita(*told, "b", "--draws", 70)
    assert "each chain keeps" not in result.stderr
    assert pt.Fit.load(place / "b" / "fit.npz").settings.draws == 70


def test_a_run_can_be_resumed_to_the_same_draws(place, partita, without_report):
    model = ("--columns", "x,y", "--burn-in", 10, "--chains", 2, "--bound", "none")
    words = ("fit", "data.csv", *model, "--draws", 20, "--checkpoint", "c")
    partita(*words, "--out", "a")
    partita("fit", "data.csv", *model, "--draws", 40, "--resume", "c", "--out", "b")
    partita("fit", "data.csv", *model, "--draws", 40, "--out", "o")
    assert pt.read_draws("b/draws.npz") == pt.read_draws("o/draws.npz")
    again = partita(*words, "--out", "d", code=1)
    assert "--checkpoint: the checkpoint c exists already" in again.stderr


@pytest.mark.parametrize(("error", "code"), [(MemoryError, 1), (KeyboardInterrupt, 130)])
def test_draws_are_kept_when_the_summary_is_not_made(place, partita, monkeypatch, error, code):
    def fails(*_, **__):
        raise error

    monkeypatch.setattr(pt, "summarize", fails)
    partita("fit", "data.csv", "--columns", "x", *SHORT, "--out", "f", code=code)
    assert sorted(p.name for p in (place / "f").glob("[!.]*")) == ["draws.npz", "fit.npz"]
    assert pt.read_draws("f/draws.npz").n_draws == 200


@pytest.fixture
def fitted(place, partita, without_report):
    """The model of a fit of few draws with these options."""

    def run(options, table="data.csv --columns x,y"):
        short = "--draws 2 --burn-in 1 --chains 1 --bound none --out f --force"
        partita("fit", *table.split(), *options.split(), *short.split())
        return pt.Fit.load("f/fit.npz")

    return run


def test_priors_by_name(fitted):
    four = pt.FiniteMixture.exactly(4, weight=0.5, dynamic=True)
    for options, prior in {
        "--prior dp": pt.DirichletProcess(pt.Gamma(1, 1)),
        "--prior dp --concentration 2.5": pt.DirichletProcess(2.5),
        "--prior py": pt.PitmanYor(pt.Gamma(1, 1), 0.25),
        "--prior py --discount 0 --concentration 2,4": pt.PitmanYor(pt.Gamma(2, 4), 0.0),
        "--prior mfm": pt.FiniteMixture(mean_components=5),
        "--prior mfm --components 3": pt.FiniteMixture.exactly(3),
        "--prior mfm --weight F --dynamic": pt.FiniteMixture(pt.F(6, 3), dynamic=True),
        "--prior mfm --weight 2,1": pt.FiniteMixture(pt.Gamma(2, 1)),
        "--prior mfm --weight 0.5 --components 4 --dynamic": four,
    }.items():
        assert fitted(options).prior == prior, options


def test_kernels_by_name(place, fitted):
    counts = np.random.default_rng(0).poisson(4.0, (50, 2))
    np.savetxt(place / "n.csv", counts, fmt="%d", delimiter=",", header="a,b", comments="")
    np.savetxt(place / "yes.csv", counts > 3, fmt="%d", delimiter=",", header="a,b", comments="")
    normal = pt.NormalInverseGamma.empirical(pd.read_csv("data.csv")[["x", "y"]])
    changed = pt.NormalInverseGamma((1.0, 2.0), normal.precision, normal.shape, 3.0)
    poisson = fitted("--kernel poisson", "n.csv").kernel
    assert np.allclose(poisson.shape / np.array(poisson.rate), counts.mean(axis=0))
    assert fitted("--kernel empirical").kernel == fitted("--kernel normal").kernel == normal
    assert fitted("--kernel empirical --set mean=1,2 --set rate=3").kernel == changed
    assert fitted("--kernel bernoulli --set a=2", "yes.csv").kernel == pt.BetaBernoulli(a=2.0)
    levels = fitted("--kernel categorical", "yes.csv").kernel.levels
    assert levels == ((0, 1), (0, 1))


def test_a_dry_run_says_what_was_understood_and_stops(place, partita):
    (place / "t.csv").write_text(
        ",x,kind,flag,same,day,code\n001,1.5,a,true,7,2021-01-01,1\n1e2,NA,b,false,7,2021-01-09,2\n"
        "2021_05,2.5,a,true,7,2021-02-01,1\ng4,9.5,b,true,7,2021-02-09,2\n"
    )
    result = partita("fit", "t.csv", "--dates", "day", "--categories", "code", "--dry-run")
    lines = [line.split() for line in result.stderr.splitlines()]
    assert lines[0] == ["column", "role", "kernel", "prior", "missing"]
    assert lines[1] == ["name"]
    assert lines[2][:4] == ["same", "left", "out:", "constant"]
    assert lines[3][:3] == ["x", "number", "NormalInverseGamma"]
    assert lines[3][-1] == "1"
    roles = {"kind": "category", "flag": "yes/no", "day": "number", "code": "category"}
    assert dict(line[:2] for line in lines[4:8]) == roles
    assert lines[8][:2] == ["4", "items;"]
    assert not (place / "t-fit").exists()
    run = ("--columns", "x,kind", *SHORT, "--out", "f")
    partita("fit", "t.csv", *run)
    assert pt.read_draws("f/draws.npz").item_names == ("001", "1e2", "2021_05", "g4")


def test_a_screen_has_the_first_profiles_and_says_where_the_others_are(
    place, partita, without_report
):
    rng = np.random.default_rng(0)
    names = [f"column{j}" for j in range(9)]
    table = rng.normal(np.repeat([0.0, 9.0], 15)[:, None], 1.0, (30, 9))
    np.savetxt(place / "t.csv", table, delimiter=",", header=",".join(names), comments="")
    result = partita("fit", "t.csv", "--kernel", "empirical", *SHORT, "--out", "f")
    assert "missing" not in result.stderr.splitlines()[0]  # no cell is
    shown = [line for line in result.stdout.splitlines() if "column" in line and " to " in line]
    assert len(shown) == 12
    n_rows = len((place / "f" / "profiles.csv").read_text().splitlines()) - 1
    assert f"… and {n_rows - 12} more rows, in f/profiles.csv" in result.stdout


def test_tables_of_other_places(place, partita):
    """European numbers with a byte order mark, a spelling of one's own, no header, parquet."""
    (place / "eu.csv").write_bytes("\ufeffx;y\n1,5;2\n-0,25;fehlt\n4,5;3\n".encode())
    words = ("--sep", ";", "--decimal", ",", "--na", "fehlt", "--dry-run")
    result = partita("fit", "eu.csv", *words)
    assert [line.split()[0] for line in result.stderr.splitlines()[1:3]] == ["x", "y"]
    assert result.stderr.splitlines()[2].endswith(" 1")  # a missing cell
    asked = partita("fit", "eu.csv", "--dry-run", code=1)
    assert "--sep ';'" in asked.stderr
    stray = partita("fit", "eu.csv", *words[:4], "--dry-run", code=1)
    assert "'fehlt' in lines 3" in stray.stderr
    assert "--na TEXT" in stray.stderr
    (place / "bare.csv").write_text("1.5,2\n2.5,3\n4,9\n")
    bare = partita("fit", "bare.csv", "--no-header", "--dry-run")
    assert "3 items" in bare.stderr
    pd.DataFrame({"x": [1.5, 2.5, np.nan], "kind": ["a", "b", "a"]}).to_parquet("t.parquet")
    table = partita("fit", "t.parquet", "--dry-run")
    assert "DirichletCategorical" in table.stderr, table.stderr


def test_a_different_text_in_every_row_is_refused_beside_names_too(place, partita):
    (place / "t.csv").write_text("id;price\na;1.234\nb;5.678\nc;9.012\nd;7.000\n")
    options = ("fit", "t.csv", "--sep", ";", "--names", "id", "--decimal", ",", "--dry-run")
    result = partita(*options, code=1)
    assert "--thousands '.'" in result.stderr
    result = partita(*options, "--thousands", ".")
    assert "price   number" in result.stderr


def test_columns_left_out_by_name_and_files_of_another_encoding(place, partita):
    text = "Größe,Datum,Kürzel,x\n1.5,1.2.2021,äa,0.5\n2.5,2.2.2021,öb,0.7\n3.5,3.2.2021,üc,2.5\n"
    (place / "t.csv").write_bytes(text.encode("cp1252"))
    options = ("fit", "t.csv", "--exclude", "Kürzel", "--dates", "Datum", "--dry-run")
    result = partita(*options, code=1)
    assert result.stderr.startswith("partita: --encoding: ")
    undated = ("fit", "t.csv", "--exclude", "Kürzel", "--encoding", "cp1252", "--dry-run")
    assert "--dates COLUMN" in partita(*undated, code=1).stderr
    result = partita(*options, "--encoding", "cp1252")
    assert "Größe   number" in result.stderr
    assert "Datum   number" in result.stderr
    assert "Kürzel  left out: as requested" in result.stderr


def test_kernels_are_compared_and_the_best_is_fitted(place, partita, without_report, monkeypatch):
    full = compare.cross_validate
    monkeypatch.setattr(compare, "cross_validate", lambda m, **o: full(m, **o, draws=20, folds=2))
    options = ("fit", "data.csv", "--columns", "x,y", *SHORT)
    result = partita(*options, "--compare", "normal,wishart", "--out", "c")
    assert "elpd" in result.stderr
    models = pd.read_csv("c/models.csv")
    kinds = {"normal": "NormalInverseGamma", "wishart": "NormalInverseWishart"}
    assert set(models["model"]) == set(kinds)
    assert models["elpd"].is_monotonic_decreasing
    assert pt.Fit.load("c/fit.npz").kernel.kind == kinds[models["model"][0]]
    for wrong in (("normal",), ("normal,x",), ("normal,wishart", "--kernel", "normal")):
        refused = partita(*options, "--compare", *wrong, "--out", "d", code=2)
        assert "--compare" in refused.stderr
    partita(*options, "--compare", "normal,poisson", "--out", "d", code=1)


def test_other_priors_are_asked(place, partita, without_report):
    options = ("--columns", "x,y", "--draws", 400, "--chains", 2, "--concentration", 1)
    result = partita("fit", "data.csv", *options, "--no-sensitivity", "--json", "--out", "n")
    assert json.loads(result.stdout)["sensitivity"] is None
    result = partita("fit", "data.csv", *options, "--sensitivity", "--out", "s")
    assert "Another prior: " in result.stdout
    table = pd.read_csv("s/sensitivity.csv")
    assert "DirichletProcess(1)" in set(table["prior"])
    assert (table["n_surviving"] >= 0).all()
