"""The contest: does the default estimate find the minimum on every kind of posterior?

``python -m benchmarks.contest 0 100`` runs cases 0 to 99, prints every miss
and one row for each kind. Case i is the same on every machine. The default
call is compared with the best of many long runs of several methods. The lowest
losses ever seen are kept in a file (``contest_references.json``) and only get
lower: a case that is in it needs no long runs, so that a second run is quick
and stricter. ``--anew`` makes the long runs all the same.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import time
import warnings
from collections import defaultdict
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

import partita as pt
from benchmarks.posteriors import KINDS
from partita.losses.base import Loss
from partita.search.descent import Walker
from partita.search.problem import problem_from_draws, problem_from_similarity

REFERENCES = Path(__file__).with_name("contest_references.json")
"""The lowest loss seen for each case, with a digest of its draws."""

MISS = 1e-3
"""A loss this far above the best known, relative to it, is a miss."""

Rng = np.random.Generator
Labels = NDArray[np.int32]


@dataclass(frozen=True)
class Case:
    """One posterior and one loss."""

    number: int
    kind: str
    loss: Loss
    draws: pt.Draws


def case(number: int) -> Case:
    """Posterior and loss number so-and-so: kinds take turns, the rest is drawn."""
    rng = np.random.default_rng([number, 20_260])
    make = KINDS[number % len(KINDS)]
    n = round(float(np.exp(rng.uniform(np.log(20), np.log(300)))))
    m = int(rng.integers(60, 301))
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
    labels = make(n, m, rng)
    weights = rng.gamma(0.5, size=len(labels)) + 1e-6 if rng.random() < 0.2 else None
    return Case(number, make.__name__, loss, pt.Draws(labels, weights=weights))


def digest(draws: pt.Draws) -> str:
    """A few characters that change when a case's draws do: our own sampler makes some of them."""
    labels = np.ascontiguousarray(draws.labels.astype(np.int32))
    mass = np.ascontiguousarray(draws.probabilities)
    return hashlib.sha256(labels.tobytes() + mass.tobytes()).hexdigest()[:12]


def best_of_many(this: Case, seconds: float, found: Labels) -> float:
    """The lowest expected loss of long runs: seeds, linkages, draws, and a perturbed search."""
    draws, loss = this.draws, this.loss
    rng = np.random.default_rng([this.number, 1])
    options = {"loss": loss, "bound": None, "progress": False}
    ends = [pt.estimate(draws, method=m, **options).labels for m in ("average", "complete")]
    ends += [pt.estimate(draws, method="draws", **options).labels, found]
    ends += [pt.estimate(draws, rng=seed, **options).labels for seed in (1, 2)]
    if draws.n_items <= 60:
        ends.append(pt.estimate(draws, method="hasse", n_starts=2, **options).labels)
    n = draws.n_items
    ends += [np.zeros(n, np.int32), np.arange(n, dtype=np.int32)]
    ends += _perturbed(this, ends, time.process_time() + seconds, rng)
    return float(pt.expected_loss(np.stack(ends), draws, loss=loss).min())


def _perturbed(this: Case, elite: list[Labels], until: float, rng: Rng) -> list[Labels]:
    """Walk downhill again and again, from random partitions and from disturbed good ones."""
    problem = problem_from_draws(this.draws.unique(), this.loss)
    if this.loss.uses_similarity:
        problem = problem_from_similarity(pt.similarity(this.draws), this.loss)
    pool = []
    for labels in elite:
        walker = Walker(problem, pt.canonical(labels), rng)
        walker.descend(8)
        pool.append((walker.loss, walker.labels))
    n = this.draws.n_items
    for start in (np.zeros(n, np.int32), np.arange(n, dtype=np.int32)):
        falling = Walker(problem, start, rng)
        falling.fall(1e6)
        falling.wander(300, 1e6)
        falling.descend(8)
        falling.trade(8)
        pool.append((falling.loss, falling.labels))
    while time.process_time() < until:
        pool = sorted(pool, key=lambda p: p[0])[:6]
        begin = _disturbed(pool[min(int(rng.geometric(0.4)) - 1, len(pool) - 1)][1], rng)
        walker = Walker(problem, begin, rng)
        walker.descend(8)
        walker.trade(8)
        walker.wander(100, 1e5)
        if all(not np.array_equal(walker.labels, labels) for _, labels in pool):
            pool.append((walker.loss, walker.labels))
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


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.contest", description=__doc__)
    parser.add_argument("first", type=int, nargs="?", default=0)
    parser.add_argument("stop", type=int, nargs="?", default=1_200)
    parser.add_argument("--seconds", type=float, default=1.0, help="of perturbed search a case")
    parser.add_argument("--known", type=Path, default=REFERENCES, help="file of the lowest losses")
    parser.add_argument("--anew", action="store_true", help="long runs for known cases too")
    options = parser.parse_args()
    warnings.simplefilter("ignore")  # k-means with an empty cluster
    known = {}
    if options.known.exists():
        known = json.loads(options.known.read_text(encoding="utf-8"))
    rows = defaultdict(list)
    for number in range(options.first, options.stop):
        this = case(number)
        began = time.process_time()
        ours = pt.estimate(this.draws, loss=this.loss, bound=None, progress=False)
        spent = time.process_time() - began
        mark = digest(this.draws)
        seen, best = known.get(str(number), (None, np.inf))
        is_known = seen == mark
        best = min(best if is_known else np.inf, ours.expected_loss)
        if options.anew or not is_known:
            best = min(best, best_of_many(this, options.seconds, ours.labels))
        known[str(number)] = (mark, best)
        excess = (ours.expected_loss - best) / best if best > 1e-12 else 0.0
        rows[this.kind].append((excess, spent))
        if excess > MISS:
            print(
                f"case {number}: {this.kind}, {this.draws.n_items} items × {this.draws.n_draws}, "
                f"{this.loss!r}: {ours.expected_loss:.6f} (k={ours.n_clusters}) against "
                f"{best:.6f}, {100 * excess:.2f}% too high",
                flush=True,
            )
        options.known.write_text(json.dumps(known, indent=0), encoding="utf-8")
    _table(rows)


def _table(rows: dict[str, list[tuple[float, float]]]) -> None:
    print(f"\n{'kind':15}{'cases':>7}{'> 0.1%':>8}{'> 1%':>7}{'largest':>10}{'seconds':>9}")
    rows = {**rows, "all": [row for part in rows.values() for row in part]}
    for kind, part in rows.items():
        excess = np.array([e for e, _ in part])
        seconds = np.mean([s for _, s in part])
        print(
            f"{kind:15}{len(part):7}{(excess > MISS).sum():8}{(excess > 0.01).sum():7}"
            f"{100 * excess.max():9.2f}%{seconds:9.3f}"
        )


if __name__ == "__main__":
    main()
