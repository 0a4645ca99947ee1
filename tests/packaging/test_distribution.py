"""What is released: complete, without what is not ours to give, and working on its own."""

import os
import re
import shutil
import subprocess
import sys
import tarfile
import tomllib
import venv
import zipfile
from pathlib import Path

import pytest

import partita as pt

ROOT = Path(__file__).resolve().parents[2]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
CORE = {re.split(r"[<>=!;\[ ]", text)[0] for text in PROJECT["dependencies"]}


def run(*command, **options):
    done = subprocess.run(
        [str(word) for word in command], capture_output=True, text=True, check=False, **options
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done


@pytest.fixture(scope="session")
def built(tmp_path_factory):
    """The source distribution and the wheel, built without a network."""
    pytest.importorskip("build", reason="needs build: pip install build")
    pytest.importorskip("hatchling", reason="needs hatchling: pip install hatchling")
    out = tmp_path_factory.mktemp("dist")
    run(sys.executable, "-m", "build", "--no-isolation", "--outdir", out, ROOT)
    (sdist,), (wheel,) = out.glob("*.tar.gz"), out.glob("*.whl")
    return sdist, wheel


def test_the_wheel_holds_the_package_alone(built):
    _, wheel = built
    with zipfile.ZipFile(wheel) as archive:
        names = archive.namelist()
    assert f"partita-{PROJECT['version']}" in wheel.name
    assert "partita/__init__.py" in names
    assert "partita/py.typed" in names
    assert {name.split("/")[0] for name in names} <= {
        "partita",
        f"partita-{PROJECT['version']}.dist-info",
    }


def test_the_source_distribution_leaves_out_what_is_under_the_gpl(built):
    sdist, _ = built
    with tarfile.open(sdist) as archive:
        names = archive.getnames()
    top = f"partita-{PROJECT['version']}"
    assert not [name for name in names if "paper/draws/" in name or name.endswith("galaxy.npz")]
    for name in ("tests/data/README.md", "tests/data/ground_truth.json", "CITATION.cff", "LICENSE"):
        assert f"{top}/{name}" in names


def test_the_description_is_accepted(built):
    pytest.importorskip("twine", reason="needs twine: pip install twine")
    run(sys.executable, "-m", "twine", "check", "--strict", *built)


def test_the_citation_names_this_version():
    text = (ROOT / "CITATION.cff").read_text(encoding="utf-8")
    assert PROJECT["version"] == pt.__version__
    assert f"version: {pt.__version__}\n" in text
    assert f"## {PROJECT['version']}\n" in (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")


@pytest.fixture(scope="session")
def alone(built, tmp_path_factory):
    """An environment with the wheel and what it depends on, linked in one by one: no download."""
    place = tmp_path_factory.mktemp("alone") / "env"
    venv.create(place, with_pip=False, symlinks=os.name != "nt")
    scripts = place / ("Scripts" if os.name == "nt" else "bin")
    python = scripts / ("python.exe" if os.name == "nt" else "python")
    where = "import sysconfig; print(sysconfig.get_paths()['purelib'])"
    site = Path(run(python, "-c", where).stdout.strip())
    for package in sorted(_closure(CORE)):
        for source in _files_of(package):
            if not (site / source.name).exists():
                _link(source, site / source.name)
    pip = (sys.executable, "-m", "pip", "--python", python, "--disable-pip-version-check")
    run(*pip, "install", "--quiet", "--no-deps", "--no-index", built[1])
    _lend_kernels(site / "partita")
    return scripts


def _link(source, target):
    if os.name != "nt":
        target.symlink_to(source, target_is_directory=source.is_dir())
    elif source.is_dir():
        shutil.copytree(source, target)
    else:
        shutil.copy2(source, target)


def _lend_kernels(package):
    """What this checkout has compiled: compiling it anew takes minutes and shows nothing more.

    Numba takes a kernel from its cache if the source is the same, of which older versions look
    at the time.
    """
    for source in Path(pt.__file__).parent.rglob("*.py"):
        target = package / source.relative_to(Path(pt.__file__).parent)
        assert target.read_bytes() == source.read_bytes()
        shutil.copystat(source, target)
        for kernel in (source.parent / "__pycache__").glob(f"{source.stem}.*.nb[ic]"):
            (target.parent / "__pycache__").mkdir(exist_ok=True)
            shutil.copy2(kernel, target.parent / "__pycache__")


def _closure(names):
    """The distributions needed, followed through their own requirements."""
    from importlib.metadata import PackageNotFoundError, requires

    found, waiting = set(), list(names)
    while waiting:
        name = waiting.pop().lower().replace("_", "-")
        if name in found:
            continue
        try:
            needed = requires(name) or []
        except PackageNotFoundError:
            continue
        found.add(name)
        waiting += [re.split(r"[<>=!;\[ (~]", text)[0] for text in needed if "extra" not in text]
    return found


def _files_of(name):
    from importlib.metadata import distribution

    files = distribution(name).files or []
    tops = {Path(str(f)).parts[0] for f in files if not str(f).startswith("..")}
    base = Path(str(distribution(name).locate_file("")))
    return [base / top for top in tops if (base / top).exists() and top != "__pycache__"]


SCRIPT = """
import sys
from pathlib import Path
import numpy as np, partita as pt
draws = pt.as_draws(np.random.default_rng(0).integers(0, 2, (60, 6)))
est = pt.estimate(draws)
ball = pt.credible_ball(draws, est)
assert ball.contains(est.labels), "the centre is in its ball"
pt.write_draws(draws, "d.csv")
extras = ("matplotlib", "bokeh", "pandas", "pyarrow", "rdata", "xarray", "sklearn", "dask")
there = [name for name in extras if name in sys.modules]
assert not there, there

FORMATS = {"parquet": "parquet", "nc": "arviz", "zarr": "arviz", "rds": "r", "RData": "r"}
wanting = {
    "a mixture": ("sklearn", lambda: pt.sklearn.BayesianMixture),
    "a table": ("pandas", lambda: pt.n_clusters_posterior(draws).to_frame()),
    "a tree": ("arviz", lambda: pt.arviz.to_dataset(pt.summarize(draws))),
}
for name in pt.plots.__all__:
    wanting[name] = "plot", lambda draw=getattr(pt.plots, name): draw([[0, 0, 1]])
for suffix, extra in FORMATS.items():
    old, new = Path(f"old.{suffix}"), f"new.{suffix}"
    old.mkdir() if suffix == "zarr" else old.write_text("what another wrote")
    wanting[f"writing {suffix}"] = extra, lambda new=new: pt.write_draws(draws, new)
    wanting[f"reading {suffix}"] = extra, lambda old=old: pt.read_draws(old)
for what, (extra, call) in wanting.items():
    try:
        call()
    except pt.errors.MissingDependencyError as error:
        assert f'pip install "partita[{extra}]"' in str(error), (what, str(error))
    else:
        raise AssertionError(what)
assert not list(Path().glob("*new.*")), "nothing is half written"
print(pt.__file__)
"""


def test_it_works_alone(alone, tmp_path):
    """Estimate, ball, summary and the whole demo; whatever needs more names what to install."""
    env = {k: v for k, v in os.environ.items() if not k.startswith(("PYTHON", "COV_", "NUMBA_"))}
    done = run(alone / "python", "-c", SCRIPT, cwd=tmp_path, env=env)
    assert str(alone.parent) in done.stdout
    done = run(alone / "partita", "summarize", "d.csv", cwd=tmp_path, env=env)
    assert "Estimate" in done.stdout
    done = run(alone / "partita", "demo", cwd=tmp_path, env=env)
    assert "no report: " in done.stderr
    assert 'pip install "partita[report]"' in done.stderr
    assert 'pip install "partita[plot]"' in done.stderr
    assert not any(line.startswith("drawing") for line in done.stderr.splitlines())
    assert "Figures for a paper" not in done.stderr
    out = tmp_path / "partita-demo"
    assert not (out / "figures").exists()
    assert pt.read_draws(out / "draws.npz").n_items == 82
    assert done.stdout == (out / "summary.txt").read_text(encoding="utf-8")
