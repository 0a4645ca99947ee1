"""Names of items, columns, levels, groups and files steer no terminal, page, table or figure."""

import csv
import io
import json
import xml.etree.ElementTree as ET
from unicodedata import category

import numpy as np
import pandas as pd
import pytest
from click.testing import CliRunner
from matplotlib import pyplot as plt

import partita as pt
from fuzz.plain_readers import is_number
from made import SHOWN
from page_outline import Outline
from partita._result import Table, latex_rows
from partita.cli.options import cli
from partita.representative.runs import compare_runs

TERMINAL = "\x1b[31mred\x07\x1b]0;title\x07"
HOSTILE = (
    *(TERMINAL, "\x9b31m", "\u202eevil\u200b", "line\nend\r\x0b", "\ud800"),
    *("<script>hacked()</script>", "<img src=x onerror='hacked()'>", "-->"),
    *(r"\input{/etc/passwd}", r"$\frac{$", "[3em]", "*"),
)
FORMULAS = ("=cmd|' /C calc'!A0", "+1", "-x", "@SUM(A1)")
TRUTH = np.repeat([0, 1, 2], 4)
RNG = np.random.default_rng(0)
LABELS = np.where(RNG.random((120, 12)) < 0.15, RNG.integers(0, 3, (120, 12)), TRUTH)
DRAWS = pt.Draws(LABELS, chain=np.repeat([0, 1], 60), item_names=HOSTILE)
ENSEMBLE = pt.Draws(LABELS[:20], item_names=HOSTILE, kind="ensemble")
FEATURES = pt.FeatureDraws((RNG.random((60, 12, 3)) < 0.4).astype(int), item_names=HOSTILE)
DATA = pd.DataFrame(
    {
        TERMINAL + r"$\frac{$": TRUTH * 4 + RNG.normal(size=12),
        r"<script>hacked()</script>\input{x}": RNG.normal(size=12),
    }
)
MIXED = DATA.assign(**{r"$\alpha{$" + TERMINAL: np.array([TERMINAL, "<script>", "$x{$"])[TRUTH]})


@pytest.fixture(scope="module")
def results():
    run = {"draws": 30, "burn_in": 10, "chains": 2, "rng": 0, "progress": False}
    fit, mixed = pt.sample(DATA, **run), pt.sample(MIXED, **run)
    found = {"draws": DRAWS, "features": FEATURES, "fit": fit, "fit of categories": mixed}
    estimate = found["estimate"] = pt.estimate(DRAWS)
    found |= {
        "summary": pt.summarize(DRAWS, data=DATA, path=True),
        "summary of a fit": pt.summarize(mixed),
        "summary of an ensemble": pt.summarize(ENSEMBLE),
        "summary of features": pt.summarize(FEATURES, path=True),
        "ball": pt.credible_ball(DRAWS, estimate),
        "items": pt.item_uncertainty(DRAWS, estimate),
        "clusters": pt.cluster_uncertainty(DRAWS, estimate),
        "core": pt.credible_core(DRAWS, prob=0.3, held_out=False),
        "profiles": pt.profiles(DRAWS, estimate, data=MIXED),
        "diagnostics": pt.diagnose(mixed),
        "representatives": pt.representatives(DRAWS),
        "modes": pt.modes(DRAWS),
        "path": pt.price_path(DRAWS),
        "curve": pt.clusters_curve(DRAWS, k=[2, 3]),
        "losses": pt.compare_losses(DRAWS),
        "priors": pt.prior_sensitivity(fit),
        "explained": pt.explain(estimate, DRAWS[0]),
        "models": pt.compare({TERMINAL: fit, r"$\frac{$": fit}, folds=2, draws=5),
        "runs": compare_runs(ENSEMBLE, [TERMINAL, r"$\frac{$"] * 10, TRUTH, pt.VI()),
        "diagram": pt.hasse_diagram(3),
    }
    for name in ("summary", "summary of a fit", "summary of features"):
        parts = {part: getattr(found[name], part, None) for part in ("items", "diagnostics")}
        found |= {f"{part} in {name}": value for part, value in parts.items() if value is not None}
    return found


def obeyed(text):
    """Characters that a terminal may obey, or that turn text around."""
    return [c for c in text if c not in "\n\t" and not c.isprintable() and category(c) != "Zs"]


def test_text_of_results_does_not_steer_a_terminal(results):
    for name, result in results.items():
        texts = [str(result), repr(result)]
        texts += [result.details()] if hasattr(result, "details") else []
        texts += [result.to_json()] if hasattr(result, "to_json") else []
        assert [obeyed(text) for text in texts] == [[]] * len(texts), name


def test_json_gives_the_names_back(results):
    for name in ("summary", "summary of features"):
        assert json.loads(results[name].to_json())["item_names"] == list(HOSTILE)


def test_notebooks_show_names_as_text(results):
    shown = {name: value for name, value in results.items() if hasattr(value, "_repr_html_")}
    assert len(shown) > 20
    for name, result in shown.items():
        page = result._repr_html_()
        outline = Outline(page)
        assert not {"script", "iframe", "input"} & set(outline.tags), name
        assert outline.tags.count("img") == page.count("data:image/png"), name
        assert outline.events == [], name
        assert obeyed(page) == [], name


def test_latex_is_text(results):
    tables = {n: r.to_latex() for n, r in results.items() if hasattr(r, "to_latex")}
    assert len(tables) >= 5
    for name, table in tables.items():
        assert r"\input" not in table, name
        assert obeyed(table) == [], name


def test_text_in_latex_cannot_act():
    """No command, no formula, no comment, and nothing that a line end would take as its option."""
    names = [name for name in HOSTILE if name != "\ud800"]
    lines = latex_rows(Table("", ("a", "b"), tuple((name, "x") for name in names)))
    for line in lines[4:-2]:
        cell = line.removesuffix(r" & x \\")
        for sign in ("textbackslash", "textasciitilde", "textasciicircum"):
            cell = cell.replace(rf"\{sign}{{}}", "")
        for sign in "&%$#_{}":
            cell = cell.replace(rf"\{sign}", "")
        assert not set(cell) & set("\\&%$#_~^\n"), line
        assert cell[:1] not in ("[", "*"), line


@pytest.mark.parametrize(
    "name", ["summary", "summary of a fit", "summary of an ensemble", "summary of features"]
)
def test_reports_show_names_as_text(results, name, tmp_path):
    results[name].to_html(tmp_path / "report.html")
    outline = Outline((tmp_path / "report.html").read_text(encoding="utf-8"))
    assert outline.events == []
    assert outline.tags.count("img") == 0
    assert outline.tags.count("script") == (0 if "features" in name else 4)


@pytest.mark.parametrize("figure", pt.plots.__all__)
def test_figures_show_names_as_text(results, figure):
    """As SVG that is well formed, without a formula that cannot be set; pyplot has the figure."""
    kind = SHOWN.get(figure, "Summary")
    sources = [next(result for result in results.values() if type(result).__name__ == kind)]
    of_fits = ("ranks", "traces", "replicates")
    sources += [results["fit"], results["fit of categories"]] if figure in of_fits else []
    marks = {"marks": {TERMINAL: TRUTH, r"$\frac{$": TRUTH[::-1]}}
    for source in sources:
        given = marks if figure == "posterior_map" else {}
        given = {"data": DATA} if figure == "representatives" else given
        axes = np.ravel(getattr(pt.plots, figure)(source, **given))
        assert plt.gcf() is axes[0].figure
        assert len(plt.get_fignums()) == 1
        plt.close()
        stream = io.BytesIO()
        axes[0].figure.savefig(stream, format="svg")
        drawing = ET.fromstring(stream.getvalue())
        assert not [e for e in drawing.iter() if e.tag.endswith(("script", "image/svg"))]


@pytest.fixture
def files(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    names = [*HOSTILE[:3], *HOSTILE[5:10], *FORMULAS]
    pd.DataFrame(LABELS, columns=names).to_csv("draws.csv", index=False)
    plain = [*HOSTILE[5:], *FORMULAS, "z"]
    data = DATA.rename(columns=dict(zip(DATA, FORMULAS, strict=False)))
    data.insert(0, "id", plain)
    data["group"] = np.array(["=a()", "+b", "@c"])[TRUTH]
    data.to_csv("data.csv", index=False)
    pd.DataFrame({"item": names, "cluster": TRUTH}).to_csv("labels.csv", index=False)
    long = [
        (m, k, names[i])
        for m, matrix in enumerate(FEATURES.shown([FEATURES.point(m) for m in range(60)]))
        for i, k in zip(*matrix.nonzero(), strict=True)
    ]
    pd.DataFrame(long, columns=["draw", "feature", "item"]).to_csv("features.csv", index=False)
    return tmp_path


COMMANDS = (
    "summarize draws.csv --header --out out --similarity csv --path",
    "summarize draws.csv --header --json",
    "summarize draws.csv --header --kind ensemble --out out",
    "summarize features.csv --features --out out",
    "summarize features.csv --features --json",
    "fit data.csv --names id --draws 20 --burn-in 5 --chains 2 --out out --sensitivity",
    "core draws.csv --header --prob 0.3 --in-sample --out table.csv",
    "core draws.csv --header --json",
    "path draws.csv --header --out table.csv",
    "path draws.csv --header --json",
    "representatives draws.csv --header --n 2 --out table.csv",
    "representatives draws.csv --header --n 2 --json",
    "compare labels.csv labels.csv --out table.csv",
    "compare draws.csv --against labels.csv --header --json",
    "summarize \x1b[31mmissing\x07.csv",
    "fit \x1b[31mmissing\x07.csv",
    "convert draws.csv \x1b[31mout\x07.unknown",
)


@pytest.mark.parametrize("command", COMMANDS)
def test_commands_print_and_write_names_as_text(files, command):
    done = CliRunner().invoke(cli, command.split(), env={"COLUMNS": "80"})
    assert done.exit_code in ((1, 2) if "\x1b" in command else (0,)), done.output
    assert obeyed(done.stdout) == []
    assert obeyed(done.stderr) == []
    written = [*files.glob("out/*.csv"), *files.glob("table.csv")]
    assert bool(written) == ("--out" in command)
    for file in written:
        with file.open(encoding="utf-8", newline="") as stream:
            cells = [cell for row in csv.reader(stream) for cell in row]
        odd = [c for c in cells if c and c[0] in "=+-@\t\r"]
        assert all(is_number(c) and c[0] != "+" for c in odd), file


def test_a_name_that_no_file_would_hold_is_refused_before_the_sampling(files):
    table = pd.DataFrame({"id": [TERMINAL, *"bcdefghijkl"], "x": DATA.iloc[:, 0]})
    table.to_csv("data.csv", index=False)
    done = CliRunner().invoke(cli, ["fit", "data.csv", "--names", "id", "--checkpoint", "run.npz"])
    assert done.exit_code == 1
    assert "control characters" in done.stderr
    assert not (files / "run.npz").exists()
