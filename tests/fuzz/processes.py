"""Runs that are killed, interrupted or find the disk full, in forked copies of this process.

POSIX only: a fork has every kernel compiled and costs milliseconds.
"""

import contextlib
import os
import signal
import sys
import time
import traceback
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

import partita as pt
from partita.errors import PartitaError

from .harness import CRASH, FOREIGN, LOST, REFUSED, RIGHT, WRONG, Verdict

RNG = np.random.default_rng(3)
DATA = np.r_[RNG.normal(0.0, 1.0, 60), RNG.normal(6.0, 1.0, 60)]
RUN = {"draws": 600, "burn_in": 100, "chains": 2, "rng": 5, "n_jobs": 1, "progress": False}
TRUTH = np.repeat([0, 1, 2, 3], 15)
LABELS = np.where(RNG.random((150, 60)) < 0.25, RNG.integers(0, 5, (150, 60)), TRUTH)
DRAWS = pt.Draws(LABELS, chain=np.repeat([1, 2], 75))
ENDINGS = {0: RIGHT, 3: REFUSED, 4: FOREIGN, 5: WRONG}
"""What the exit of a copy says."""


def forked(work: Callable[[], int], note: Path, stop: Callable[[int], None] | None = None) -> int:
    """The exit code of ``work`` in a copy of this process; −n where signal n ended it."""
    sys.stdout.flush()
    signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})  # until the copy expects it
    child = os.fork()
    if child == 0:
        code = 4
        sys.dont_write_bytecode = True
        signal.signal(signal.SIGINT, signal.default_int_handler)  # ignored in the background
        with open(os.devnull, "w") as quiet:
            os.dup2(quiet.fileno(), 1)
            os.dup2(quiet.fileno(), 2)
        try:
            signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGINT})
            code = work()
        except (KeyboardInterrupt, PartitaError):
            code = 3
        except BaseException:
            with contextlib.suppress(OSError):
                note.write_text(traceback.format_exc()[-600:])
        finally:
            os._exit(code)
    signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGINT})
    if stop is not None:
        stop(child)
    _, status = os.waitpid(child, 0)
    return os.waitstatus_to_exitcode(status)


def ended(code: int, note: Path, detail: str) -> Verdict:
    """The verdict of an exit code."""
    said = note.read_text() if note.exists() else ""
    outcome = ENDINGS.get(code, CRASH)
    return Verdict(outcome, f"{detail}: {said}" if outcome in (FOREIGN, WRONG, CRASH) else detail)


@cache
def whole_run() -> tuple[pt.Fit, float]:
    """The run that nothing stopped, and how long it took once compiled."""
    pt.sample(DATA, **(RUN | {"draws": 2, "burn_in": 1}))
    start = time.perf_counter()
    fit = pt.sample(DATA, **RUN)
    return fit, time.perf_counter() - start


def same(a: pt.Fit, b: pt.Fit) -> bool:
    """Bit by bit."""
    return a.draws == b.draws and all(np.array_equal(a.trace[n], b.trace[n]) for n in a.trace)


def kill(number: int, place: Path) -> Verdict:
    """A checkpointed run is killed at some moment and then resumed."""
    whole, seconds = whole_run()
    rng = np.random.default_rng([3, number])
    path, note = place / f"run{number}.npz", place / "note"
    delay = float(rng.uniform(0.0, 1.3 * seconds))

    def stop(child: int) -> None:
        time.sleep(delay)
        os.kill(child, signal.SIGKILL)

    def work() -> int:
        pt.sample(DATA, **RUN, checkpoint=path, checkpoint_every=0.001)
        return 0

    forked(work, note, stop)
    if not path.exists():
        return Verdict(RIGHT, "killed before the first writing")
    try:
        resumed = pt.sample(DATA, **RUN, resume=path, checkpoint=path)
    except Exception as error:
        return Verdict(LOST, f"{type(error).__name__}: {error}")
    left = [p.name for p in place.iterdir() if f"run{number}-" in p.name]
    if left:
        return Verdict(WRONG, f"left behind: {left}")
    return Verdict(RIGHT if same(resumed, whole) else WRONG, f"killed after {delay:.3f} s")


def _estimated() -> int:
    found = pt.estimate(DRAWS, n_jobs=1, n_starts=24)
    again = pt.expected_loss(found.labels, DRAWS, found.loss, n_jobs=1)[0]
    return 0 if again == found.expected_loss else 5


def _summarised() -> int:
    found = pt.summarize(DRAWS, n_jobs=1)
    return 0 if found.ball.contains(found.estimate.labels) else 5


def _asked(question: Callable[..., Any]) -> Callable[[], int]:
    """A question whose answer must print, whatever of it there is."""

    def work() -> int:
        return 0 if str(question(DRAWS, n_jobs=1)) else 5

    return work


QUESTIONS = {
    "estimate": _estimated,
    "summarize": _summarised,
    **{
        name: _asked(getattr(pt, name))
        for name in ("price_path", "credible_core", "representatives", "clusters_curve")
    },
}


def interrupt(number: int, place: Path) -> Verdict:
    """Ctrl-C at some moment: what is there is returned and true, or nothing is."""
    whole, seconds = whole_run()
    rng = np.random.default_rng([4, number])
    note = place / "note"
    note.unlink(missing_ok=True)
    path = place / f"interrupted{number}.npz"
    kind = ("sample", "write", *QUESTIONS)[number % (2 + len(QUESTIONS))]

    def sampled() -> int:
        fit = pt.sample(DATA, **RUN, checkpoint=path, checkpoint_every=0.001)
        kept = fit.trace["n_clusters"].shape[1]
        expected = whole.trace["n_clusters"][:, :kept]
        return 0 if np.array_equal(fit.trace["n_clusters"], expected) else 5

    def written() -> int:
        for _ in range(50):
            pt.write_draws(DRAWS, path, overwrite=True)
        return 0

    work = {**QUESTIONS, "sample": sampled, "write": written}
    if kind == "write":
        pt.write_draws(DRAWS, path)
    delay = float(rng.uniform(0.0, 1.3 * (seconds if kind == "sample" else _lasts(kind))))

    def stop(child: int) -> None:
        time.sleep(delay)
        with contextlib.suppress(ProcessLookupError):
            os.kill(child, signal.SIGINT)

    verdict = ended(forked(work[kind], note, stop), note, f"{kind} after {delay:.3f} s")
    if kind == "write" and pt.read_draws(path) != DRAWS:
        return Verdict(LOST, "the file that was there")
    if kind == "sample" and path.exists() and not same(pt.sample(DATA, **RUN, resume=path), whole):
        return Verdict(WRONG, "resumed to another result")
    path.unlink(missing_ok=True)
    return verdict


@cache
def _lasts(kind: str) -> float:
    if kind == "write":
        return 0.1
    QUESTIONS[kind]()
    start = time.perf_counter()
    QUESTIONS[kind]()
    return time.perf_counter() - start


WRITERS = ("csv", "tsv", "csv.gz", "npy", "npz", "parquet", "nc", "zarr", "rds", "RData")
RESULTS = ("summary", "fit", "html", "checkpoint", "frame")
LIMITS = (0, 10, 1_000, 4_096, 9_000)


@cache
def _results(place: Path) -> tuple[pt.Summary, pt.Fit]:
    """What is written; once without a limit, so that everything is imported and compiled."""
    summary = pt.summarize(DRAWS, n_jobs=1)
    summary.to_html(place / "once.html", overwrite=True)
    return summary, whole_run()[0]


def full_disk(number: int, place: Path) -> Verdict:
    """Files may grow to so many bytes: an error of ours, and the file that was there is kept."""
    kinds = (*WRITERS, *RESULTS)
    kind, limit = kinds[number % len(kinds)], LIMITS[number // len(kinds) % len(LIMITS)]
    exists = bool(number // (len(kinds) * len(LIMITS)) % 2)
    folder = place / f"disk{number}"
    folder.mkdir()
    suffix = kind if kind in WRITERS else {"html": "html", "frame": "csv"}.get(kind, "npz")
    path, note = folder / f"result.{suffix}", place / "note"
    note.unlink(missing_ok=True)
    write = _writer(kind, path)
    if exists and kind != "checkpoint":
        write()
    before = _content(folder)

    def limited() -> int:
        import resource

        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
        resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limit))
        return write() or 0

    code = forked(limited, note)
    after = _content(folder)
    verdict = ended(code, note, f"{kind} of at most {limit} bytes")
    if verdict.outcome == REFUSED and after != before:
        return Verdict(LOST, f"{verdict.detail}: {sorted(before)} to {sorted(after)}")
    return verdict


def _content(folder: Path) -> dict[str, bytes]:
    return {
        p.relative_to(folder).as_posix(): p.read_bytes() for p in folder.rglob("*") if p.is_file()
    }


def _writer(kind: str, path: Path) -> Callable[[], int | None]:
    summary, fit = _results(path.parents[1])
    plain = pt.Draws(LABELS) if kind == "npy" else DRAWS
    own: dict[str, Callable[[], int | None]] = {
        "summary": lambda: summary.save(path, overwrite=True),
        "fit": lambda: fit.save(path, overwrite=True),
        "html": lambda: summary.to_html(path, overwrite=True),
        "frame": lambda: _table(path),
        "checkpoint": lambda: _kept(path),
    }
    return own.get(kind, lambda: pt.write_draws(plain, path, overwrite=True))


def _table(path: Path) -> None:
    from partita._files import write_text

    write_text(path, "item,cluster\n" + "a,1\n" * 3_000, overwrite=True)


def _kept(path: Path) -> int:
    """The draws come back though their checkpoint cannot be written any more."""
    short = RUN | {"draws": 60, "burn_in": 10}
    fit = pt.sample(DATA, **short, checkpoint=path, checkpoint_every=0.001)
    return 0 if fit.draws.n_draws == 120 else 5
