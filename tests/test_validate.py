"""What comes before the work: numbers of NumPy, versions, memory, paths."""

from importlib.metadata import PackageNotFoundError

import numpy as np
import pytest

import partita as pt
from other_processes import run_python
from partita import _imports
from partita.errors import InvalidInputError, PartitaError

DRAWS = pt.Draws([[0, 0, 1, 1], [0, 0, 1, 1], [0, 0, 0, 1]] * 3, chain=np.repeat([0, 1, 2], 3))


def test_numbers_of_numpy_are_whole_numbers_everywhere():
    for use in (
        lambda: pt.similarity(DRAWS, n_jobs=np.int64(2)),
        lambda: pt.estimate(DRAWS, n_jobs=np.int8(-1), max_clusters=np.uint8(3)),
        lambda: pt.lattice.random_partition(np.int32(4), rng=np.int64(1)),
    ):
        assert use() is not None


def test_errors_survive_pickling_with_their_argument():
    import pickle

    error = PartitaError("what came", argument="prob")
    again = pickle.loads(pickle.dumps(error))
    assert (str(again), again.argument) == ("what came", "prob")


# --------------------------------------------------------- sources without installed metadata


def test_a_summary_from_a_path_of_sources(monkeypatch):
    def nothing_is_installed(name):
        raise PackageNotFoundError(name)

    monkeypatch.setattr("importlib.metadata.version", nothing_is_installed)
    versions = pt.summarize(DRAWS).versions
    assert versions["partita"] == pt.__version__
    assert versions["numpy"] == np.__version__
    assert set(versions) == {"python", "partita", "numpy", "scipy", "numba"}
    assert _imports.version_of("a-library-nobody-has") == "unknown"


# ------------------------------------------------------------------------------ memory


def test_large_results_are_refused_before_they_are_made(monkeypatch):
    from partita import _resources
    from partita.errors import MemoryLimitError

    draws = pt.Draws(np.tile(np.arange(40), (3, 1)))
    asked = {
        "matrix of 3 × 3 distances": lambda: pt.pairwise_distances(draws),
        "comparing 40 items with 40 clusters": lambda: pt.item_uncertainty(draws, np.arange(40)),
        "similarity matrix of 40 items": lambda: pt.similarity(draws),
        "cross table of 40 × 40 clusters": lambda: pt.cross_table(draws[0], draws[0]),
    }
    for use in asked.values():
        assert use() is not None
    monkeypatch.setattr(_resources, "LITTLE", 0)
    monkeypatch.setattr(_resources, "available_memory", lambda: 16)
    for what, use in asked.items():
        with pytest.raises(MemoryLimitError, match=what):
            use()


def test_the_shells_limit_counts():
    """``ulimit -v`` is seen, in a process of its own."""
    code = (
        "import resource; from partita._resources import available_memory as free\n"
        "before = free(); resource.setrlimit(resource.RLIMIT_AS, (2 << 30, 2 << 30))\n"
        "assert free() < 2 << 30 <= (before or 3 << 30), (before, free())"
    )
    run_python("-c", code)


@pytest.mark.parametrize("wrong", [5.5, b"x.csv"])
def test_what_is_no_path_is_said_to_be_none(wrong):
    draws = pt.Draws([[0, 0, 1], [0, 1, 1]])
    for call in (
        lambda: pt.read_draws(wrong),
        lambda: pt.write_draws(draws, wrong),
        lambda: pt.Summary.load(wrong),
        lambda: pt.Fit.load(wrong),
    ):
        with pytest.raises(InvalidInputError, match="expected a path: text or a pathlib"):
            call()
