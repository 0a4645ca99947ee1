"""Every line of code on the pages and in the gallery runs; numbers of R are those of R."""

import importlib.util
import re
import runpy
import warnings
from collections import Counter

import numpy as np
import pytest

import partita as pt
from doc_pages import DOCS, ROOT, blocks_of, page_names, run_page
from reference.finite_mixture import exact_posterior, gibbs, log_weights
from reference.ground_truth import load
from simulated import FIVE
from stand_ins import FILES, STAND_INS


@pytest.mark.parametrize("name", page_names())
def test_code_of(name, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("MPLBACKEND", "Agg")
    for prepare in FILES.get(name, ()):
        prepare(tmp_path)
    assert run_page((DOCS / name).read_text(encoding="utf-8"), name, STAND_INS) == []


def test_the_readme_runs(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    rng = np.random.default_rng(0)
    labels = np.where(rng.random((300, 40)) < 0.1, rng.integers(1, 4, (300, 40)), 1)
    np.savetxt("draws.csv", labels, fmt="%d", delimiter=",")
    assert run_page((ROOT / "README.md").read_text(encoding="utf-8"), "README.md") == []
    assert (tmp_path / "report.html").exists()


def test_the_runner_sees_what_is_wrong():
    page = "```pycon\n>>> 1 + 1\n3\n```\n\n<!-- not run: it lies -->\n```python\n1 / 0\n```\n"
    assert len(list(blocks_of(page))) == 1
    assert "Expected:\n    3" in run_page(page, "lies")[0]
    assert "exit 2" in run_page("```sh\npartita nonsense\n```\n", "lies")[0]
    page = "<!-- needs: there -->\n```python\nx = 1\n```\n\n```pycon\n>>> x\n2\n```\n"
    assert run_page(page, "needs", {"there": lambda: {"x": 2}}) == []
    assert "Got:\n    1" in run_page(page, "needs")[0]


SCRIPTS = sorted(
    script
    for section in (ROOT / "examples").rglob("README.rst")
    for script in section.parent.glob("*.py")
)

spec = importlib.util.spec_from_file_location("gallery_needs", DOCS / "tools" / "gallery_needs.py")
assert spec is not None
assert spec.loader is not None
gallery_needs = importlib.util.module_from_spec(spec)
spec.loader.exec_module(gallery_needs)


@pytest.mark.parametrize("script", SCRIPTS, ids=lambda path: path.stem)
def test_script_runs(script, tmp_path, monkeypatch):
    for library in gallery_needs.needs(script):
        pytest.importorskip(library, reason=f"{library} is not installed")
        warnings.simplefilter("default")  # what the other libraries warn of is theirs
    from matplotlib import pyplot as plt

    monkeypatch.chdir(tmp_path)
    plt.switch_backend("Agg")
    runpy.run_path(str(script), run_name="__main__")
    plt.close("all")


RECIPES = {"howto/pymc.md": "pymc", "howto/numpyro.md": "numpyro", "howto/stan.md": "cmdstanpy"}


def test_labels_drawn_from_log_weights_have_the_posterior_of_the_partition():
    """Five items, two components: all 16 partitions, against integration over the parameters."""
    x = np.array([-2.0, -1.0, 0.0, 1.5, 2.5])
    exact = exact_posterior(x, 2)
    chains = gibbs(x, 2, draws=5_000, burn_in=100, chains=2, seed=0)
    draws = pt.draws_from_memberships(log_weights(chains, x), log=True)
    sampled = Counter(map(tuple, draws.labels.tolist()))
    drawn = Counter(map(tuple, pt.Draws(chains["z"].reshape(-1, 5)).labels.tolist()))
    assert len(exact) == 16
    # Autocorrelation leaves a few thousand of the 10,000 draws; 0.03 is four standard errors.
    for partition, p in exact.items():
        assert sampled[partition] / 10_000 == pytest.approx(p, abs=0.03)
        assert drawn[partition] / 10_000 == pytest.approx(p, abs=0.03)


@pytest.mark.filterwarnings("default")  # what the other libraries warn of is theirs
@pytest.mark.parametrize(("page", "library"), RECIPES.items())
def test_recipe_for_real(page, library, tmp_path, monkeypatch):
    module = pytest.importorskip(library, reason=f"{library} is not installed")
    if library == "cmdstanpy":
        try:
            module.cmdstan_path()
        except ValueError:
            pytest.skip("CmdStan is not installed")
    monkeypatch.chdir(tmp_path)
    for prepare in FILES.get(page, ()):
        prepare(tmp_path)
    text = (DOCS / page).read_text(encoding="utf-8")
    assert run_page(text, page, stand_ins=None) == []


PAGE = (DOCS / "coming_from_r.md").read_text(encoding="utf-8")
RECORDS = load()
HALVES, THIRDS, CENTER = [1, 1, 1, 2, 2, 2], [1, 1, 2, 2, 3, 3], [1, 1, 2, 2, 2, 2]
BALL = {"c.star": CENTER, "cls.draw": FIVE, "c.dist": "Binder", "alpha": 0.2}


def numbers_in(value):
    """Every number of a record's value."""
    if isinstance(value, (list, dict)):
        for part in value.values() if isinstance(value, dict) else value:
            yield from numbers_in(part)
    elif isinstance(value, (int, float)):
        yield float(value)


def test_every_long_number_on_the_page_is_one_that_r_printed():
    """The records' own tests say that ours agree."""
    printed = {number for record in RECORDS for number in numbers_in(record["value"])}
    shown = set(re.findall(r"\d\.\d{12,}|\b10\.2\b", PAGE))
    assert len(shown) >= 19
    assert [number for number in shown if float(number) not in printed] == []


def calls_in_tables():
    """The Python of the middle column of the tables, as it stands there."""
    for line in PAGE.splitlines():
        cells = [cell.strip() for cell in line.strip("|").split(" | ")]
        if line.startswith("|") and len(cells) == 3:
            yield from re.findall(r"`((?:1 - )?(?:pt|fit)\.[^`]+)`", cells[1])


CALLS = sorted(set(calls_in_tables()))


@pytest.fixture(scope="module")
def names():
    """What the page calls draws, a matrix, labels, data and a fit."""
    y = pt.datasets.galaxies()[:6]
    est = pt.estimate(FIVE)
    return {
        **{"pt": pt, "draws": FIVE, "psm": pt.similarity(FIVE), "cls": HALVES, "c": CENTER},
        **{"a": HALVES, "b": THIRDS, "x": THIRDS, "n": 4, "estimate": HALVES, "truth": THIRDS},
        **{"loss": "vi", "y": y, "est": est, "ball": pt.credible_ball(FIVE, est)},
        "fit": pt.sample(y, draws=20, burn_in=5, chains=2, rng=0),
    }


@pytest.mark.parametrize("call", CALLS)
def test_every_call_of_the_tables_runs(call, names):
    assert eval(call, names) is not None


def test_ties_differ_as_the_page_says():
    (value,) = (
        record["value"]
        for record in RECORDS
        if record["function"] == "credibleball"
        and all(record["arguments"].get(name) == given for name, given in BALL.items())
    )
    assert value["c.horiz"] == [HALVES]
    assert value["c.lowervert"] == [THIRDS]
    ball = pt.credible_ball(FIVE, CENTER, prob=0.8, loss="binder")
    assert (ball.lower.labels + 1).tolist() == [[3, 2, 2, 1, 1, 1]]
    assert ball.lower.distance == pytest.approx(value["dist.horiz"])
