"""Of runs of algorithms, and of tilted draws, nothing is said that holds for a posterior alone."""

import json
import re
from html import unescape

import numpy as np
import pytest
from click.testing import CliRunner

import partita as pt
from made import SHOWN
from partita._result import Result
from partita.cli.options import cli
from partita.errors import InvalidInputError, NotSupportedError
from simulated import labels_around

FORBIDDEN = re.compile(
    r"posterior|\bchains?\b|mcmc|monte carlo|r-hat|\bmcse\b|\bess\b|\bprobabilit(y|ies)\b|"
    r"\bdraws?\b|credible ball|credible prob|convergence|converge|effective|burn-in|\bexpected\b|"
    r"sampler",
    re.IGNORECASE,
)
"""Words about posteriors and the samplers of them."""

REFERENCE = "credible balls (with discussion)"
"""In the title of a paper that is cited."""


LABELS = labels_around(np.repeat([0, 1, 2], 4), 60)


def data():
    truth = np.repeat([0.0, 4.0, 9.0], 4)
    return np.column_stack([truth, -truth]) + np.random.default_rng(1).normal(size=(12, 2))


@pytest.fixture(scope="module")
def runs():
    return pt.Draws(LABELS, kind="ensemble")


@pytest.fixture(scope="module")
def summary(runs):
    return pt.summarize(runs, data=data(), path=True)


@pytest.fixture(scope="module")
def posterior():
    """The same labels, declared as draws of a posterior."""
    return pt.summarize(pt.Draws(LABELS), data=data(), path=True)


def refuse(text, forbidden=FORBIDDEN):
    clean = text.replace(REFERENCE, "")
    found = forbidden.search(clean)
    assert found is None, f"…{clean[max(0, found.start() - 80) : found.end() + 80]}…"


def test_the_screen_and_the_sentence(summary):
    assert summary.to_dict()["kind"] == "ensemble"
    refuse(summary.sentence)
    assert summary.sentence.startswith("95% of the runs lie within ")
    assert str(summary).startswith("Estimate from 60 runs of 12 items: 3 clusters")
    refuse(summary.details())


def test_the_numbers_are_those_of_the_same_labels(summary, posterior):
    assert np.array_equal(summary.labels, posterior.labels)
    assert summary.estimate.expected_loss == posterior.estimate.expected_loss
    assert summary.estimate.lower_bound == posterior.estimate.lower_bound
    assert summary.ball.radius == posterior.ball.radius
    assert np.array_equal(summary.items.probability, posterior.items.probability)
    in_sample = pt.credible_core(posterior.draws, estimate=posterior, held_out=False, bound=None)
    assert summary.core.size == in_sample.size


@pytest.mark.parametrize("form", [str, repr, lambda part: part._repr_html_()])
def test_every_part(summary, runs, form):
    parts = [
        *(runs, summary, summary.estimate, summary.ball, summary.items, summary.clusters),
        *(summary.counts, summary.sizes_posterior, summary.diagnostics, summary.profiles),
        *(summary.core, summary.path, summary.curve, summary.comparison),
        *(pt.representatives(runs, n=2), pt.representatives(runs), pt.modes(runs)),
        *(pt.p_value(runs, summary.labels), pt.compare_losses(runs)),
        pt.conformal_set(runs),
    ]
    for part in parts:
        if getattr(type(part), "__repr__", None) is Result.__repr__:
            continue  # shows the names of its attributes, which are the same for both kinds
        text = form(part).removeprefix(f"<{type(part).__name__}")
        refuse(text if form in (str, repr) else re.sub(r"<[^>]+>", " ", text))


def test_for_a_paper(summary, posterior):
    refuse(summary.to_latex())
    refuse(summary.methods)
    assert "60 runs" in summary.methods
    assert "Vehtari" not in summary.methods
    assert "posterior" in posterior.methods
    assert "Vehtari" in posterior.methods


def page_texts(text):
    """What people can read: texts and labels of the page, and the strings its scripts show."""
    data = json.loads(re.search(r'id="report-data">(.*?)</script>', text, re.DOTALL)[1])
    bokeh = json.loads(re.search(r'id="report-document">(.*?)</script>', text, re.DOTALL)[1])
    body = re.sub(r"<(script|style)\b.*?</\1>", " ", text, flags=re.DOTALL)
    attributes = re.findall(r'(?:aria-label|placeholder|title)="([^"]*)"', body)
    shown = [unescape(re.sub(r"<[^>]+>", " ", body)), *map(unescape, attributes)]
    for key in ("choices", "levels", "cores", "together"):
        shown += [s for s in strings(data[key]) if " " in s]
    return shown + [s for s in strings(bokeh) if " " in s]


def strings(tree):
    if isinstance(tree, str):
        yield tree
    for each in tree.values() if isinstance(tree, dict) else tree if isinstance(tree, list) else ():
        yield from strings(each)


def test_the_report(summary, tmp_path):
    pytest.importorskip("bokeh")
    summary.to_html(tmp_path / "report.html")
    text = (tmp_path / "report.html").read_text(encoding="utf-8")
    assert '<meta name="generator" content="partita">' in text
    for shown in page_texts(text):
        refuse(shown)
    assert "pt.as_draws(runs, kind=&#34;ensemble&#34;)" in text


def texts_of_figures(draws, summary):
    """What every figure of these draws and their summary says."""
    pytest.importorskip("matplotlib")
    from figure_checks import texts_of

    subjects = {"Summary": summary, "ClustersCurve": summary.curve, "PricePath": summary.path}
    subjects |= {"Modes": pt.modes(draws), "Representatives": pt.representatives(draws)}
    subjects |= {"EstimatesByLoss": pt.compare_losses(draws)}
    for name in sorted({*pt.plots.__all__} - {"traces", "ranks"}):
        if (kind := SHOWN.get(name, "Summary")) in subjects:
            axes = np.ravel(getattr(pt.plots, name)(subjects[kind]))
            yield from texts_of(axes[0].figure)


def test_the_figures(summary, runs):
    for text in texts_of_figures(runs, summary):
        refuse(text)


def test_what_makes_no_sense_is_refused_when_asked_for(summary, runs):
    with pytest.raises(NotSupportedError, match="kind='posterior'"):
        pt.diagnose(runs)
    with pytest.raises(NotSupportedError, match="no order and no chains"):
        pt.plots.traces(summary)
    assert summary.diagnostics.names == ()
    assert summary.diagnostics.ok
    assert np.isnan(summary.ball.radius_mcse)


@pytest.mark.parametrize(
    "command",
    [
        "summarize runs.csv --kind ensemble --report r.html --out results --figures png",
        "summarize runs.npz --path",
        "core runs.npz",
        "representatives runs.npz --modes",
        "path runs.npz",
        "compare runs.npz --against truth.csv",
    ],
)
def test_the_command_line(command, runs, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    np.savetxt("runs.csv", LABELS, fmt="%d", delimiter=",")
    pt.write_draws(runs, "runs.npz")
    np.savetxt("truth.csv", LABELS[0], fmt="%d")
    done = CliRunner().invoke(cli, command.split())
    assert done.exit_code == 0, done.output
    refuse(done.output)
    if "--out" in command:
        refuse((tmp_path / "results" / "summary.txt").read_text())
        figures = {path.stem for path in (tmp_path / "results" / "figures").iterdir()}
        assert "ensemble_map" in figures
        assert figures.isdisjoint({"traces", "posterior_map"})


def test_scikit_learn_calls_clusterers_an_ensemble():
    sklearn = pytest.importorskip("partita.sklearn")
    x = LABELS.T
    assert sklearn.PartitionConsensus().fit(x).summary_.draws.kind == "ensemble"
    found = sklearn.PartitionConsensus(kind="posterior").fit(x)
    assert found.summary_.draws.kind == "posterior"
    assert sklearn.PartitionConsensus.from_draws(LABELS).summary_.draws.kind == "posterior"


def test_anndata_calls_columns_of_obs_an_ensemble():
    anndata = pytest.importorskip("anndata")
    cells = anndata.AnnData(np.zeros((12, 1), np.float32))
    for number, row in enumerate(LABELS[:8]):
        cells.obs[f"leiden_{number}"] = row.astype(str)
    pt.anndata.summarize(cells, draws="leiden_*")
    kept = cells.uns["partita"]
    assert kept["params"]["kind"] == "ensemble"
    assert "diagnostics" not in kept
    refuse(kept["sentence"])
    pt.anndata.summarize(cells, draws="leiden_*", kind="posterior")
    assert cells.uns["partita"]["params"]["kind"] == "posterior"
    assert "rhat" in cells.uns["partita"]["diagnostics"]


def test_the_sentence_gives_the_share_inside_the_ball():
    # Half of the runs are asked for, and all but one of eight are at the same distance.
    found = pt.summarize(pt.Draws([[0, 0, 1, 1]] * 7 + [[0, 1, 2, 3]], kind="ensemble"), prob=0.5)
    assert found.ball.coverage == 0.875
    assert found.sentence.startswith("87.5% of the runs ")


# ----------------------------------------------------------------------- draws that were reweighted


DRAWS = pt.Draws(LABELS, chain=np.repeat([0, 1], 30), item_names=[f"item {i}" for i in range(12)])
TILTED = DRAWS.reweighted("entropy", 30)

OF_A_POSTERIOR = re.compile(
    r"credible|posterior probab|\bprobabilit(y|ies)\b|the posterior does", re.I
)


def test_what_is_not_tilted():
    assert DRAWS.reweighted("entropy", 0.0).kind == "posterior"
    assert pt.Draws(LABELS, kind="ensemble").reweighted("entropy", 2.0).kind == "ensemble"
    assert pt.as_draws(TILTED, kind="posterior").kind == "posterior"  # as the user declares
    with pytest.raises(InvalidInputError, match="'tilted' and of kind 'posterior'"):
        pt.Draws.concat([TILTED, DRAWS])


def test_every_sentence_changes():
    summary = pt.summarize(TILTED, path=True, progress=False)
    assert summary.sentence.startswith("Draws with 9")
    assert "% of the tilted weight lie within" in summary.sentence
    head = f"tilted (not the posterior; effectively {TILTED.n_effective:.0f})"
    assert head in " ".join(str(summary).split())
    parts = (summary, summary.estimate, summary.ball, summary.core, summary.items)
    for part in (*parts, summary.clusters, summary.counts, summary.curve, summary.path):
        for text in (str(part), part._repr_html_()):
            refuse(re.sub(r"<[^>]+>", " ", text.removeprefix("<CredibleBall")), OF_A_POSTERIOR)
    refuse(summary.details(), OF_A_POSTERIOR)
    refuse(summary.to_latex(), OF_A_POSTERIOR)
    refuse(summary.methods, OF_A_POSTERIOR)
    assert "no longer those of the posterior" in summary.methods
    assert "no longer" not in pt.summarize(DRAWS, progress=False).methods


def test_the_report_and_the_figures(tmp_path):
    pytest.importorskip("bokeh")
    summary = pt.summarize(TILTED, data=data(), path=True, progress=False)
    summary.to_html(tmp_path / "r.html")
    page = (tmp_path / "r.html").read_text(encoding="utf-8")
    for text in (*page_texts(page), *texts_of_figures(TILTED, summary)):
        refuse(text, OF_A_POSTERIOR)
