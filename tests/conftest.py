"""What holds for every test."""

import gc
import signal
import sys

import pytest
from hypothesis import settings

# A kernel compiles in its first example, or runs as plain Python: times say nothing.
settings.register_profile("partita", deadline=None)
settings.load_profile("partita")


@pytest.hookimpl(wrapper=True)
def pytest_collection():
    """What is imported stays to the end; looking for garbage in it took a tenth of all tests."""
    gc.disable()
    try:
        return (yield)
    finally:
        gc.freeze()
        gc.enable()


@pytest.fixture(scope="session", autouse=True)
def _nothing_left_in_the_root(request):
    """A test writes into its own directory: whatever lies in the root may be committed."""

    def there() -> set[str]:
        return {p.name for p in request.config.rootpath.iterdir() if p.name[0] != "."}

    before = there()
    yield
    assert there() <= before


@pytest.fixture(autouse=True)
def _no_figures_left():
    """Figures of one test do not count among those of the next: matplotlib warns of too many."""
    yield
    if (pyplot := sys.modules.get("matplotlib.pyplot")) is not None:
        pyplot.close("all")


@pytest.fixture(scope="module")
def client():
    """The client of a Dask cluster of two worker processes, one for each file of tests."""
    from same_bits import cluster_of

    with cluster_of(2) as client:
        yield client


@pytest.fixture
def as_if_large(monkeypatch):
    """Few labels of a cluster lie in many pieces."""
    from same_bits import cut_small

    cut_small(monkeypatch)


@pytest.fixture
def ctrl_c():
    """SIGINT raises KeyboardInterrupt, also in a process that ignored it before."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


@pytest.fixture
def partita():
    """Run a command in this process and see that it ends as told."""
    from click.testing import CliRunner

    from partita.cli.options import cli

    def run(*arguments, stdin=None, code=0):
        done = CliRunner().invoke(cli, [str(a) for a in arguments], input=stdin)
        assert done.exit_code == code, done.output
        return done

    return run


def pytest_configure() -> None:
    """Ctrl-C is tested: a run in the background of a shell would inherit that it is ignored."""
    if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
        signal.signal(signal.SIGINT, signal.default_int_handler)
