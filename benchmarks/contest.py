"""The contest: does the default search find the minimum on every kind of posterior?

``python -m benchmarks.contest`` (``make contest``) runs a fixed 200 cases of all families in a few
minutes and fails if more than 2 in 1,000 end above 0.1% of the best known value, or any above 1%.
``python -m benchmarks.contest 0 1200`` runs a range: 0 to 1,199 are point estimates on twelve kinds
of posteriors, 1,200 to 2,399 on ordered items and crossing modes, 2,400 on are representatives.
Case i is the same on every machine. The lowest values ever seen are kept in
``contest_references.json`` and only get lower; a case that is not in it, or any with ``--long``, is
also searched by long runs of several methods.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import sys
import time
import warnings
from collections import defaultdict
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import cycle
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

import partita as pt
from benchmarks.posteriors import KINDS, ORDERED_KINDS
from partita.losses.base import Loss
from partita.search import local_search
from partita.search.local_search import LocalSearch, Patience
from partita.search.multistart import Starts
from partita.search.problem import problem_from_draws, problem_from_similarity

REFERENCES = Path(__file__).with_name("contest_references.json")
"""The lowest loss seen for each case, with a digest of its draws."""

MISS, BAD_MISS = 1e-3, 1e-2
"""A loss this far above the best known, relative to it, is a miss; a bad one."""

MISSES_PER_CASE = 0.002
"""Misses that the contest allows."""

SEVERAL = "representatives"
"""Row of the searches for several partitions."""

SEVERAL_MISSES = 0.1
"""Share of them that may miss. Known gap: cases 2404 and 2419 end 0.14% and 0.2% above."""

ORDERED, REPRESENTATIVES = 1_200, 2_400
"""First cases of the second and of the third family."""

GATE = [*range(100), *range(ORDERED, ORDERED + 80), *range(REPRESENTATIVES, REPRESENTATIVES + 20)]
"""The cases of ``make contest``."""

Rng = np.random.Generator
Labels = NDArray[np.int32]


@dataclass(frozen=True)
class Case:
    """One posterior and one loss; with ``n``, the search for that many representatives."""

    number: int
    kind: str
    loss: Loss
    draws: pt.Draws
    n: int | None = None

    def value(self, seed: int | None = None, **options: object) -> tuple[float, Labels]:
        """What partita finds: the expected loss, or the mean distance to the nearest."""
        common = {"loss": self.loss, "rng": seed, "progress": False, "bound": None, **options}
        if self.n is None:
            found = pt.estimate(self.draws, **common)
            return found.expected_loss, found.labels
        several = pt.representatives(self.draws, n=self.n, **common)
        return several.distance, several.labels


def case(number: int) -> Case:
    """Case of that number: kinds take turns, the rest is drawn."""
    rng = np.random.default_rng([number, 20_260])
    kinds = KINDS if number < ORDERED else ORDERED_KINDS
    make, n = kinds[number % len(kinds)], None
    most_items = 300 if number < REPRESENTATIVES else 100
    n_items = round(float(np.exp(rng.uniform(np.log(20), np.log(most_items)))))
    few, many = (60, 301) if number < ORDERED else (25, 201)
    m = int(rng.integers(few, many))
    price = float(rng.choice([0.5, 0.75, 1.0, 1.25, 1.5]))
    losses: tuple[Loss, ...] = (
        pt.VI(price),
        pt.VI(price),
        pt.VI(price),
        pt.Binder(price),
        pt.VILowerBound(),
        pt.OneMinusARI(),
        pt.OneMinusPEAR(),
        pt.NVI(),
        pt.ID(),
        pt.NID(),
    )
    loss = losses[int(rng.integers(len(losses)))]
    if number >= REPRESENTATIVES:
        every = (*KINDS, *ORDERED_KINDS)
        make, n = every[number % len(every)], (2, 3, 5)[number % 3]
        loss = (pt.VI(), pt.Binder())[number % 2]
    labels = make(n_items, m, rng)
    weights = rng.gamma(0.5, size=len(labels)) + 1e-6 if rng.random() < 0.2 else None
    return Case(number, make.__name__, loss, pt.Draws(labels, weights=weights), n)


def digest(draws: pt.Draws) -> str:
    """A few characters that change when a case's draws do: our own sampler makes some of them."""
    labels = np.ascontiguousarray(draws.labels.astype(np.int32))
    mass = np.ascontiguousarray(draws.probabilities)
    return hashlib.sha256(labels.tobytes() + mass.tobytes()).hexdigest()[:12]


def long_runs(this: Case, seconds: float, found: Labels) -> float:
    """The lowest value of long runs: seeds, linkages, draws, and repeated perturbations."""
    if this.n is not None:
        began, values = time.process_time(), []
        for seed in range(1, 100):
            values.append(this.value(seed)[0])
            if time.process_time() - began > seconds:
                break
        return min(values)
    draws, loss = this.draws, this.loss
    rng = np.random.default_rng([this.number, 1])
    options = {"loss": loss, "bound": None, "progress": False}
    ends = [pt.estimate(draws, method=m, **options).labels for m in ("average", "complete")]
    ends += [pt.estimate(draws, method="draws", **options).labels, found]
    ends += [pt.estimate(draws, rng=seed, **options).labels for seed in (1, 2)]
    n = draws.n_items
    ends += [np.zeros(n, np.int32), np.arange(n, dtype=np.int32)]
    ends += _perturbed(this, ends, time.process_time() + seconds, rng)
    return float(pt.expected_loss(np.stack(ends), draws, loss=loss).min())


def _perturbed(this: Case, elite: list[Labels], until: float, rng: Rng) -> list[Labels]:
    """Search again and again from random partitions and from perturbed good ones."""
    problem = problem_from_draws(this.draws.unique(), this.loss)
    if this.loss.uses_similarity:
        problem = problem_from_similarity(pt.similarity(this.draws), this.loss)
    pool = []
    for labels in elite:
        search = LocalSearch(problem, pt.canonical(labels), rng)
        search.descend(8)
        pool.append((search.loss, search.labels))
    for way in cycle(range(4)):
        if time.process_time() > until:
            break
        pool = sorted(pool, key=lambda p: p[0])[:6]
        begin = _disturbed(pool[min(int(rng.geometric(0.4)) - 1, len(pool) - 1)][1], rng)
        search = LocalSearch(problem, begin, rng)
        search.sweep()
        if way == 0:
            search.iterate(Patience(30))
        elif way == 1:
            search.tabu_search(30, 1e5)
        elif way == 2:
            search.tabu_search(100, 1e5)
        search.descend(8)
        if all(not np.array_equal(search.labels, labels) for _, labels in pool):
            pool.append((search.loss, search.labels))
    return [labels for _, labels in pool]


def _disturbed(labels: Labels, rng: Rng) -> Labels:
    """Another partition: items or clusters moved at random, or one made of nothing."""
    n, k = labels.size, int(labels.max()) + 1
    out = labels.astype(np.int64)
    way = int(rng.integers(0, 5))
    if way == 0:
        out = rng.integers(0, rng.integers(1, max(2, min(n, 3 * k + 1)) + 1), n)
    elif way == 1:
        some = rng.random(n) < rng.uniform(0.02, 0.4)
        out[some] = rng.integers(0, k + 1, int(some.sum()))
    elif way == 2:
        some = rng.random(n) < rng.uniform(0.02, 0.3)
        out[some] = k + np.arange(int(some.sum()))
    elif way == 3:
        for _ in range(int(rng.integers(1, 4))):
            out[out == rng.integers(0, k)] = rng.integers(0, k)
    else:
        for _ in range(int(rng.integers(1, 4))):
            cluster = out == rng.integers(0, k)
            out[cluster] = np.where(
                rng.random(int(cluster.sum())) < 0.5, out.max() + 1, out[cluster]
            )
    return pt.canonical(out)


def _off(owner: object, name: str, value: object = None) -> Callable[[], None]:
    return lambda: setattr(owner, name, lambda *_, **__: value)


def _without_perturbation(name: str) -> Callable[[], None]:
    return lambda: local_search.PERTURBATIONS.remove(getattr(local_search, name))


ABLATIONS: dict[str, Callable[[], None]] = {
    "merge": _off(LocalSearch, "merge"),
    "split": _off(LocalSearch, "split"),
    "ejection": _off(LocalSearch, "eject"),
    "swap": _off(LocalSearch, "swap"),
    "tabu search": _off(LocalSearch, "tabu_search"),
    "restarts": _off(LocalSearch, "iterate", 0),
    "move_items": _without_perturbation("move_items"),
    "merge_and_halve": _without_perturbation("merge_and_halve"),
    "draw_cluster": _without_perturbation("draw_cluster"),
    "move_nearest": _without_perturbation("move_nearest"),
    "average linkage": _off(Starts, "_cut"),
    "draw": _off(Starts, "_draw"),
    "allocation": _off(Starts, "_allocation"),
    "neighbouring minimisers": _off(Starts, "_neighbour"),
    "singletons": _off(Starts, "_singletons"),
}
"""Parts of the search that ``--without`` switches off, to see what each buys."""


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.contest", description=__doc__)
    parser.add_argument("first", type=int, nargs="?")
    parser.add_argument("stop", type=int, nargs="?")
    parser.add_argument("--seconds", type=float, default=1.0, help="of perturbed search a case")
    parser.add_argument("--without", choices=ABLATIONS, help="switch one part of the search off")
    parser.add_argument("--long", action="store_true", help="long runs for known cases too")
    options = parser.parse_args()
    if options.without is not None:
        ABLATIONS[options.without]()
    numbers: Sequence[int] = GATE
    if options.first is not None:
        numbers = range(options.first, options.stop or options.first + 1)
    rows = run(numbers, options.seconds, long=options.long)
    _table(rows)
    excess = np.array([e for part in rows.values() for e, _ in part])
    allowed = int(MISSES_PER_CASE * excess.size)
    several = np.array([e for e, _ in rows.get(SEVERAL, ())])
    points = np.array([e for kind, part in rows.items() if kind != SEVERAL for e, _ in part])
    lost = (points > MISS).sum() > allowed or (several > MISS).sum() > SEVERAL_MISSES * several.size
    if lost or (excess > BAD_MISS).any():
        sys.exit(
            f"the contest is lost: at most {allowed} estimates and {SEVERAL_MISSES:.0%} of the "
            f"representatives above {MISS:.1%}, none above {BAD_MISS:.0%}"
        )


def run(
    numbers: Sequence[int], seconds: float, *, long: bool = False
) -> dict[str, list[tuple[float, float]]]:
    """Excess over the best known value and processor time of each case, by kind."""
    warnings.simplefilter("ignore")  # k-means with an empty cluster
    known = {}
    if REFERENCES.exists():
        known = json.loads(REFERENCES.read_text(encoding="utf-8"))
    rows = defaultdict(list)
    for number in numbers:
        this = case(number)
        began = time.process_time()
        value, labels = this.value()
        spent = time.process_time() - began
        mark = digest(this.draws)
        seen, best = known.get(str(number), (None, np.inf))
        is_known = seen == mark
        best = min(best if is_known else np.inf, value)
        if long or not is_known:
            best = min(best, long_runs(this, seconds, labels))
        known[str(number)] = (mark, best)
        excess = (value - best) / best if best > 1e-12 else 0.0
        kind = this.kind if this.n is None else SEVERAL
        rows[kind].append((excess, spent))
        if excess > MISS:
            what = repr(this.loss) if this.n is None else f"{this.n} representatives, {this.loss!r}"
            print(
                f"case {number}: {this.kind}, {this.draws.n_items} items × {this.draws.n_draws}, "
                f"{what}: {value:.6f} (k={int(labels.max()) + 1}) against {best:.6f}, "
                f"{100 * excess:.2f}% too high",
                flush=True,
            )
        if number % 20 == 0 or number == numbers[-1]:
            REFERENCES.write_text(json.dumps(known, indent=0), encoding="utf-8")
    return rows


def _table(rows: dict[str, list[tuple[float, float]]]) -> None:
    print(f"\n{'kind':15}{'cases':>7}{'> 0.1%':>8}{'> 1%':>7}{'largest':>10}{'seconds':>9}")
    rows = {**rows, "all": [row for part in rows.values() for row in part]}
    for kind, part in rows.items():
        excess = np.array([e for e, _ in part])
        seconds = np.mean([s for _, s in part])
        print(
            f"{kind:15}{len(part):7}{(excess > MISS).sum():8}{(excess > BAD_MISS).sum():7}"
            f"{100 * excess.max():9.2f}%{seconds:9.3f}"
        )


if __name__ == "__main__":
    main()
