"""Posterior, ensemble or tilted: declared, kept, and of no other kind is anything said."""

import io
import json
import pickle
import re

import numpy as np
import pandas as pd
import pytest

import partita as pt
from figure_checks import texts_of
from made import SHOWN
from page_outline import Outline
from partita._result import Result
from partita.draws import with_fields
from partita.errors import InvalidInputError, NotSupportedError, UnknownNameError
from simulated import FIVE, labels_around

FORBIDDEN = re.compile(
    r"posterior|\bchains?\b|mcmc|monte carlo|r-hat|\bmcse\b|\bess\b|\bprobabilit(y|ies)\b|"
    r"\bdraws?\b|credible ball|credible prob|convergence|converge|effective|burn-in|\bexpected\b|"
    r"sampler",
    re.IGNORECASE,
)
"""Words about posteriors and the samplers of them."""

REFERENCE = "credible balls (with discussion)"
"""In the title of a paper that is cited."""

OF_A_POSTERIOR = re.compile(
    r"credible|posterior probab|\bprobabilit(y|ies)\b|the posterior does", re.I
)
"""Words about what draws that were reweighted are no longer draws of."""

LABELS = labels_around(np.repeat([0, 1, 2], 4), 60)
NAMES = [f"item {i}" for i in range(12)]
DRAWS = pt.Draws(LABELS, chain=np.repeat([0, 1], 30), item_names=NAMES)
RUNS = pt.Draws(LABELS, kind="ensemble")
TILTED = DRAWS.reweighted("entropy", 30)
WORDS = {"ensemble": FORBIDDEN, "tilted": OF_A_POSTERIOR}


def summarized(draws):
    truth = np.repeat([0.0, 4.0, 9.0], 4)
    data = np.column_stack([truth, -truth]) + np.random.default_rng(1).normal(size=(12, 2))
    return pt.summarize(draws, data=data, path=True)


@pytest.fixture(scope="module")
def summary():
    return summarized(RUNS)


@pytest.fixture(scope="module")
def posterior():
    """The same labels, declared as draws of a posterior."""
    return summarized(pt.Draws(LABELS))


@pytest.fixture(scope="module", params=[RUNS, TILTED], ids=list(WORDS))
def made(request):
    """A summary of draws that are of no posterior."""
    return summarized(request.param)


def refuse(text, kind="ensemble"):
    clean = text.replace(REFERENCE, "")
    found = WORDS[kind].search(clean)
    assert found is None, f"…{clean[max(0, found.start() - 80) : found.end() + 80]}…"


def test_the_numbers_are_those_of_the_same_labels(summary, posterior):
    assert np.array_equal(summary.labels, posterior.labels)
    assert summary.estimate.expected_loss == posterior.estimate.expected_loss
    assert summary.estimate.lower_bound == posterior.estimate.lower_bound
    assert summary.ball.radius == posterior.ball.radius
    assert np.array_equal(summary.items.probability, posterior.items.probability)
    in_sample = pt.credible_core(posterior.draws, estimate=posterior, held_out=False, bound=None)
    assert summary.core.size == in_sample.size


def test_every_part(made):
    draws, kind = made.draws, made.draws.kind
    parts = [
        *(draws, made, made.estimate, made.ball, made.items, made.clusters, made.counts),
        *(made.core, made.path, made.curve),
    ]
    if kind == "ensemble":
        parts += [made.sizes_posterior, made.diagnostics, made.profiles, made.comparison]
        parts += [pt.representatives(draws, n=2), pt.representatives(draws), pt.modes(draws)]
        parts += [pt.p_value(draws, made.labels), pt.compare_losses(draws), pt.conformal_set(draws)]
    for part in parts:
        if type(part).__repr__ is Result.__repr__:
            continue  # shows the names of its attributes, which are the same for all kinds
        for text in (str(part), repr(part), re.sub(r"<[^>]+>", " ", part._repr_html_())):
            refuse(text.removeprefix(f"<{type(part).__name__}"), kind)
    for text in (made.sentence, made.details(), made.to_latex(), made.methods):
        refuse(text, kind)


def page_texts(text):
    """What people can read: texts and labels of the page, and the strings its scripts show."""
    page = Outline(text)
    shown = (json.loads(script) for script in page.scripts if script.startswith("{"))
    data, bokeh = sorted(shown, key=lambda tree: "choices" not in tree)
    trees = [data[key] for key in ("choices", "levels", "cores", "together")]
    return [*page.texts, *page.labels, *(s for s in strings([*trees, bokeh]) if " " in s)]


def strings(tree):
    if isinstance(tree, str):
        yield tree
    for each in tree.values() if isinstance(tree, dict) else tree if isinstance(tree, list) else ():
        yield from strings(each)


def test_the_report(made, tmp_path):
    made.to_html(tmp_path / "report.html")
    text = (tmp_path / "report.html").read_text(encoding="utf-8")
    assert '<meta name="generator" content="partita">' in text
    for shown in page_texts(text):
        refuse(shown, made.draws.kind)
    assert ("pt.as_draws(runs, kind=&#34;ensemble&#34;)" in text) == (made.draws.kind == "ensemble")


def test_the_figures(made):
    draws = made.draws
    subjects = {"Summary": made, "ClustersCurve": made.curve, "PricePath": made.path}
    subjects |= {"Modes": pt.modes(draws), "Representatives": pt.representatives(draws)}
    subjects |= {"EstimatesByLoss": pt.compare_losses(draws)}
    for name in sorted({*pt.plots.__all__} - {"traces", "ranks"}):
        if (kind := SHOWN.get(name, "Summary")) in subjects:
            axes = np.ravel(getattr(pt.plots, name)(subjects[kind]))
            for text in texts_of(axes[0].figure):
                refuse(text, draws.kind)


def test_what_makes_no_sense_is_refused_when_asked_for(summary):
    with pytest.raises(NotSupportedError, match="kind='posterior'"):
        pt.diagnose(RUNS)
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
def test_the_command_line(command, tmp_path, monkeypatch, partita):
    monkeypatch.chdir(tmp_path)
    np.savetxt("runs.csv", LABELS, fmt="%d", delimiter=",")
    pt.write_draws(RUNS, "runs.npz")
    np.savetxt("truth.csv", LABELS[0], fmt="%d")
    refuse(partita(*command.split()).output)
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


def test_what_is_not_tilted():
    assert DRAWS.reweighted("entropy", 0.0).kind == "posterior"
    assert pt.Draws(LABELS, kind="ensemble").reweighted("entropy", 2.0).kind == "ensemble"
    assert pt.as_draws(TILTED, kind="posterior").kind == "posterior"  # as the user declares
    with pytest.raises(InvalidInputError, match="'tilted' and of kind 'posterior'"):
        pt.Draws.concat([TILTED, DRAWS])


def test_tilted_draws_are_said_to_be_tilted():
    summary = summarized(TILTED)
    assert f"effectively {TILTED.n_effective:.0f}" in " ".join(str(summary).split())
    assert "no longer those of the posterior" in summary.methods
    assert "no longer" not in pt.summarize(DRAWS, progress=False).methods


FOUR = [[0, 0, 1], [0, 1, 1], [0, 0, 1], [0, 1, 2]]
FOUR_RUNS = pt.Draws(FOUR, item_names=["a", "b", "c"], kind="ensemble")
FOUR_TILTED = pt.Draws(FOUR, item_names=["a", "b", "c"]).reweighted("entropy", 30)


def test_draws_are_of_a_posterior_unless_declared():
    assert pt.Draws(FOUR).kind == "posterior"
    assert FOUR_RUNS.kind == "ensemble"
    assert pt.Draws(FOUR, item_names=["a", "b", "c"]) != FOUR_RUNS
    assert repr(FOUR_RUNS).startswith("<Draws: 4 runs of 3 items")
    assert "draw" not in FOUR_RUNS._repr_html_().lower()
    with pytest.raises(UnknownNameError, match="'posterior', 'ensemble'"):
        pt.Draws(FOUR, kind="bootstrap")


@pytest.mark.parametrize("draws", [FOUR_RUNS, FOUR_TILTED], ids=["ensemble", "tilted"])
def test_what_comes_of_draws_is_of_their_kind(draws):
    derived = [
        *(draws[:2], draws[[0, 3]], draws.drop(1), draws.thin(2), draws.unique()),
        *(draws.select_items(["c", "a"]), draws.reweighted("entropy", 1.0)),
        *(pt.Draws.concat([draws, draws]), pt.as_draws(draws, weights=[1, 2, 3, 4])),
        *(pt.Draws(draws), pt.as_draws(draws), pickle.loads(pickle.dumps(draws))),
    ]
    assert {found.kind for found in derived} == {draws.kind}


def test_a_pickle_of_an_earlier_version_is_of_a_posterior():
    restore, (cls, *fields) = pt.Draws(FOUR).__reduce__()
    assert restore(cls, *fields[:-1]) == pt.Draws(FOUR)


def test_kinds_do_not_mix():
    with pytest.raises(InvalidInputError, match="as_draws\\(part, kind='ensemble'\\)"):
        pt.Draws.concat([FOUR_RUNS, with_fields(FOUR_RUNS, kind="posterior")])


def test_an_ensemble_has_no_chains():
    with pytest.raises(InvalidInputError, match="runs of an ensemble are in no chains"):
        pt.Draws(FOUR, chain=[0, 0, 1, 1], kind="ensemble")
    cube = np.array(FOUR).reshape(2, 2, 3)
    assert pt.as_draws(cube).n_chains == 2
    for source in (cube, np.asfortranarray(cube), pt.as_draws(cube)):
        runs = pt.as_draws(source, kind="ensemble")
        assert (runs.kind, runs.chain) == ("ensemble", None)
        assert np.array_equal(runs.labels, FOUR)


def test_a_file_is_declared_where_it_is_read(tmp_path):
    text = "a,b,c\n0,0,1\n0,1,1\n"
    assert pt.read_draws(io.StringIO(text)).kind == "posterior"
    assert pt.read_draws(io.StringIO(text), kind="ensemble").kind == "ensemble"
    both = pt.read_draws([io.StringIO(text), io.StringIO(text)], kind="ensemble")
    assert (both.kind, both.chain) == ("ensemble", None)
    path = tmp_path / "runs.csv"
    pt.write_draws(FOUR_RUNS, path)
    assert path.read_text().splitlines()[:2] == ['.run,"a","b","c"', "1,0,0,1"]
    assert pt.as_draws(path) == FOUR_RUNS
    assert pt.as_draws(path, kind="posterior").kind == "posterior"
    with pytest.raises(NotSupportedError, match="'npy' cannot hold kind"):
        pt.write_draws(pt.Draws(FOUR, kind="ensemble"), tmp_path / "runs.npy")


def test_a_table_with_a_column_run_is_an_ensemble():
    frame = pd.DataFrame(FOUR, columns=["a", "b", "c"])
    assert pt.as_draws(frame).kind == "posterior"
    assert pt.as_draws(frame.assign(**{".run": range(4)})) == FOUR_RUNS


FIVE_DRAWS = pt.Draws(FIVE)


def test_the_worked_example():
    found = FIVE_DRAWS.reweighted("entropy", 10)
    expected = [0.298866, 0.135124, 0.298866, 0.132020, 0.135124]
    np.testing.assert_allclose(found.weights, expected, atol=5e-7)
    assert found.n_effective == pytest.approx(4.2994, abs=5e-5)
    assert pt.estimate(found, loss="vi").expected_loss == pytest.approx(0.6596391926, abs=1e-9)
    assert np.array_equal(found.labels, FIVE_DRAWS.labels)


def test_one_cluster_counts_as_uneven_and_weights_multiply():
    draws = pt.Draws([[0, 0, 0, 0], [0, 0, 1, 1]], weights=[3, 1])
    found = draws.reweighted("entropy", np.log(6))
    np.testing.assert_allclose(found.weights, [1 / 3, 2 / 3])
    np.testing.assert_allclose(draws.reweighted("entropy", 0).weights, [0.75, 0.25])
    assert FIVE_DRAWS.n_effective == 5
    assert draws.n_effective == pytest.approx(1.6)
