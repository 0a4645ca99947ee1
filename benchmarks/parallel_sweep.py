"""The parallel sampler: agreement with the collapsed one, and what its iterations cost.

python -m benchmarks.parallel_sweep agree 200   # every kernel and every prior
python -m benchmarks.parallel_sweep stationary  # does it leave the collapsed one's draws in place?
python -m benchmarks.parallel_sweep speed       # one machine, one and two threads
python -m benchmarks.parallel_sweep mixing      # effective draws per second of the processor
python -m benchmarks.parallel_sweep deleting    # the rule that deletes emptied clusters
python -m benchmarks.parallel_sweep dask 1000000 5   # rows and columns on two workers
"""

from __future__ import annotations

import resource
import sys
import time
from collections.abc import Iterable
from dataclasses import replace
from typing import Any
from unittest import mock

import numpy as np
from arviz_stats.base import array_stats
from numpy.typing import NDArray

import partita as pt
from partita.samplers import chains, parallel
from partita.samplers.sample import prepare

PRIORS = {
    "DP(1)": pt.DirichletProcess(1.0),
    "DP(Gamma)": pt.DirichletProcess(pt.Gamma(1, 1)),
    "PY(1, .25)": pt.PitmanYor(1.0, 0.25),
    "PY(Gamma, .25)": pt.PitmanYor(pt.Gamma(1, 1), 0.25),
    "MFM": pt.FiniteMixture(),
    "exactly 10": pt.FiniteMixture.exactly(10, weight=0.1),
    "MFM(Gamma)": pt.FiniteMixture(pt.Gamma(2, 2)),
    "MFM dynamic": pt.FiniteMixture(pt.F(6, 3), dynamic=True),
    "geometric W": pt.ProductPartition(lambda _, k: -2.0 * k, lambda _: 0.0),
}


def models(n: int) -> dict[str, tuple[Any, NDArray[Any]]]:
    """Each kernel with data of four groups."""
    rng = np.random.default_rng(1)
    side = rng.integers(0, 4, n)
    centers = 2.0 * np.array([[1, 1], [1, -1], [-1, 1], [-1, -1]])[side]
    normal = centers + rng.normal(size=(n, 2))
    levels = (rng.random((n, 6)) < np.array([0.2, 0.4, 0.6, 0.8])[side][:, None]).astype(float)
    counts = rng.poisson(np.array([1, 3, 7, 14])[side][:, None] * [1.0, 2.0]).astype(float)
    gaps = normal.copy()
    gaps[rng.random((n, 2)) < 0.1] = np.nan
    paper = pt.NormalInverseGamma(mean=0, precision=0.5, shape=2, rate=1)
    return {
        "normal": (paper, normal),
        "normal, learned rates": (pt.NormalInverseGamma.hierarchical(normal), normal),
        "normal, missing cells": (paper, gaps),
        "Wishart": (pt.NormalInverseWishart(0, 0.5, 4, 1), normal),
        "Bernoulli": (pt.BetaBernoulli(), levels),
        "categorical": (pt.DirichletCategorical(), levels[:, :4] + levels[:, 2:]),
        "Poisson": (pt.GammaPoisson.empirical(counts), counts),
        "product": (
            pt.Product((paper, [0, 1]), (pt.BetaBernoulli(), [2, 3])),
            np.column_stack([normal, levels[:, :2]]),
        ),
    }


def features(fit: pt.Fit) -> dict[str, NDArray[np.float64]]:
    """Numbers of each draw, (chain, draw): clusters, entropy, two pairs, what is learned."""
    labels = fit.draws.labels
    n_chains, kept = fit.trace["n_clusters"].shape
    shares = np.stack([(labels == j).mean(axis=1) for j in range(int(labels.max()) + 1)])
    logs = np.log2(shares, out=np.zeros_like(shares), where=shares > 0)
    found = {
        "clusters": fit.trace["n_clusters"].astype(float),
        "entropy": -(shares * logs).sum(axis=0).reshape(n_chains, kept),
        "largest": shares.max(axis=0).reshape(n_chains, kept),
        "singletons": (shares * labels.shape[1] < 1.5).sum(axis=0).reshape(n_chains, kept)
        - (shares == 0).sum(axis=0).reshape(n_chains, kept),
    }
    for name in fit.trace:
        if name.startswith(("rate of", "concentration", "weight")) and np.ptp(fit.trace[name]) > 0:
            found[name] = np.log(fit.trace[name])
    return {name: values.astype(float) for name, values in found.items()}


def _pairs(every: Iterable[str]) -> list[tuple[str, str]]:
    """Every kernel under one prior, and every prior with one kernel."""
    pairs = [(name, "DP(Gamma)") for name in every]
    return pairs + [("normal", prior) for prior in PRIORS if prior != "DP(Gamma)"]


def agree(n: int, draws: int, thin: int, burn_in: int) -> None:
    """Differences of means between the two samplers, in standard errors.

    Errors count autocorrelation and differences between chains; where k has few effective draws
    they are themselves uncertain, and so these stand beside them.
    """
    every = models(n)
    print(
        "| kernel | prior | E k collapsed (effective draws) | E k parallel "
        f"| largest |z| of how many | (N = {n:,})"
    )
    for name, prior in _pairs(every):
        kernel, data = every[name]
        means, errors, effective = [], [], []
        for sampler in ("collapsed", "parallel"):
            fit = pt.sample(
                data,
                kernel=kernel,
                prior=PRIORS[prior],
                draws=draws,
                thin=thin,
                burn_in=burn_in,
                chains=4,
                rng=1,
                sampler=sampler,
                progress=False,
                initial="kmeans" if n > 500 else None,
            )
            assert fit.settings.sampler == sampler
            rows = features(fit)
            effective.append(float(array_stats.ess(rows["clusters"], method="mean")))
            means.append({key: values.mean() for key, values in rows.items()})
            errors.append(
                {key: float(array_stats.mcse(v, method="mean")) for key, v in rows.items()}
            )
        z = {
            key: (means[1][key] - means[0][key]) / np.hypot(errors[0][key], errors[1][key])
            for key in means[0]
        }
        worst = max(z, key=lambda key: abs(z[key]))
        ks = [
            f"{m['clusters']:.3f} ± {e['clusters']:.3f} ({size:.0f})"
            for m, e, size in zip(means, errors, effective, strict=True)
        ]
        print(f"| {name} | {prior} | {ks[0]} | {ks[1]} | {z[worst]:+.1f} ({worst}) of {len(z)} |")
        sys.stdout.flush()


def stationary(
    n: int = 2_000, n_chains: int = 16, states: int = 12, iterations: int = 40, seed: int = 5
) -> None:
    """How far the samplers move features of states that the collapsed one reached, on average.

    Nothing, if its draws are posterior draws and the sampler leaves the posterior in place: a test
    of bias that slow mixing does not disturb. Errors are those between chains.
    """
    how = {name: chains.Settings(1, 10**6, 1, 1, 1, 8, name) for name in ("collapsed", "parallel")}
    every = models(n)
    print(
        f"| kernel | prior | clusters | single items | largest |t{n_chains - 1}| of parallel "
        f"| of collapsed | (N = {n:,})"
    )
    for name, prior in _pairs(every):
        kernel, table, _ = prepare(every[name][1], every[name][0], PRIORS[prior], None)
        values = kernel.encode(table)
        model = chains.build_model(kernel, PRIORS[prior].bind(n), values)
        shifts: dict[str, list[Any]] = {sampler: [] for sampler in how}
        for chain in range(n_chains):
            rng = np.random.default_rng([seed, chain])
            labels = pt.canonical(rng.integers(0, (1, 4, 12, 30)[chain % 4], n)).astype(np.int32)
            random = np.random.SeedSequence([seed + 2, chain]).generate_state(4, np.uint64)
            state = chains.ChainState(labels, 1.0, random)
            mine: dict[str, list[Any]] = {sampler: [] for sampler in how}
            for number in range(states):
                step = chains.Step(how["collapsed"], state, 0, 2_000 if number == 0 else 100)
                state = chains._advance(model, step)[0]
                for other, sampler in enumerate(how):
                    own = np.random.SeedSequence([seed, chain, number, other])
                    start = replace(state, random=own.generate_state(4, np.uint64))
                    step = chains.Step(how[sampler], start, 0, iterations)
                    mine[sampler].append(_shape(chains._advance(model, step)[0]) - _shape(state))
            for sampler in how:
                shifts[sampler].append(np.mean(mine[sampler], axis=0))
        said, worst = [], []
        for sampler in how:
            mean = np.mean(shifts[sampler], axis=0)
            error = np.std(shifts[sampler], axis=0, ddof=1) / np.sqrt(n_chains)
            said = [f"{m:+.2f} ± {e:.2f}" for m, e in zip(mean[:2], error[:2], strict=True)]
            t = np.abs(np.divide(mean, error, out=np.zeros_like(mean), where=error > 0))
            worst.append(f"{t.max():.1f} of {(error > 0).sum()}")
        print(f"| {name} | {prior} | {said[0]} | {said[1]} | {worst[1]} | {worst[0]} |", flush=True)


def _shape(state: chains.ChainState) -> NDArray[np.float64]:
    """Numbers of a state: clusters, single items, largest, entropy, log of what is learned."""
    sizes = np.bincount(state.labels)
    sizes = sizes[sizes > 0]
    share = sizes / sizes.sum()
    found = [sizes.size, (sizes == 1).sum(), share.max(), -(share * np.log2(share)).sum()]
    return np.array([*found, np.log(state.concentration), *np.log(state.rates)], float)


def deleting() -> None:
    """E k where clusters that a sweep empties vanish instead of the sweep being refused."""
    data = pt.datasets.four_normals(n=200, rng=0).data
    kernel = pt.NormalInverseGamma(mean=0, precision=0.5, shape=2, rate=1)
    for name in ("collapsed", "parallel", "deleting"):
        patches = [mock.patch.object(parallel, "_LEAST_WINDOW", 20)]
        if name == "deleting":
            patches.append(mock.patch.object(parallel, "_same_clusters", return_value=True))
            patches.append(mock.patch.object(parallel, "_LARGEST_THRESHOLD", 0))
        for patch in patches:
            patch.start()
        fit = pt.sample(
            data,
            kernel=kernel,
            prior=pt.DirichletProcess(1.0),
            draws=4_000,
            burn_in=500,
            chains=2,
            rng=1,
            split_merge=0,
            sampler="collapsed" if name == "collapsed" else "parallel",
            progress=False,
        )
        for patch in patches:
            patch.stop()
        k = fit.trace["n_clusters"].astype(float)
        print(f"{name}: E k {k.mean():.2f} ± {float(array_stats.mcse(k, method='mean')):.2f}")


def clusters_of(n: int, d: int, k: int, full: bool) -> tuple[NDArray[Any], NDArray[np.int32]]:
    """Normal clusters, axis-parallel or not, and which rows belong together."""
    rng = np.random.default_rng(0)
    centers = rng.normal(size=(k, d)) * (1.4 if d > 5 else 6.0)
    z = rng.integers(k, size=n)
    mix = np.eye(d) + (0.1 * rng.normal(size=(d, d)) if full else 0.0)
    return centers[z] + rng.normal(size=(n, d)) @ mix, pt.canonical(z).astype(np.int32)


def speed() -> None:
    """Seconds of an iteration, with as many split–merge moves as the default has."""
    print("| N × d, K, kernel | collapsed | parallel | ratio | two threads | ratio |")
    for n, d, k, full in (
        (100_000, 32, 10, True),
        (100_000, 10, 10, True),
        (10_000, 2, 20, False),
        (100_000, 2, 20, False),
        (100_000, 10, 20, False),
        (1_000_000, 10, 20, False),
    ):
        data, labels = clusters_of(n, d, k, full)
        kernel = (pt.NormalInverseWishart if full else pt.NormalInverseGamma).empirical(data)
        model = chains.build_model(kernel, pt.DirichletProcess(1.0), data)
        random = np.random.SeedSequence(1).generate_state(4, np.uint64)
        state = chains.ChainState(labels, 1.0, random)
        seconds = []
        for sampler, threads in (("collapsed", 1), ("parallel", 1), ("parallel", 2)):
            more = 4 if sampler == "collapsed" else 20
            settings = chains.Settings(1, 10**6, 1, 1, 1, 8, sampler)
            advance = chains._advance
            advance(model, chains.Step(settings, state, 0, 1, threads))
            start = time.perf_counter()
            advance(model, chains.Step(settings, state, 0, more, threads))
            seconds.append((time.perf_counter() - start) / more)
        a, b, c = seconds
        name = "Wishart" if full else "normal"
        print(
            f"| {n:,} × {d}, {k}, {name} | {a:.4f} s | {b:.4f} s | {a / b:.1f} | {c:.4f} s | "
            f"{a / c:.1f} |"
        )
        sys.stdout.flush()


def mixing(n: int = 100_000, draws: int = 200) -> None:
    """Effective draws of a run from samples of rows, for each second of the processor."""
    print(
        "| N × d | sampler | s an iteration | k | effective draws of k, log posterior | a second |"
    )
    for d in (2, 10):
        data, _ = clusters_of(n, d, 20, False)
        kernel = pt.NormalInverseGamma.hierarchical(data)
        for sampler in ("collapsed", "parallel"):
            how = {"kernel": kernel, "sampler": sampler, "chains": 2, "rng": 1, "n_jobs": 1}
            start = pt.sample(data, draws=1, burn_in=60, progress=False, **how)
            began = time.process_time()
            fit = start.extend(draws=draws)
            seconds = time.process_time() - began
            k, log = (fit.trace[name][:, 1:] for name in ("n_clusters", "log_posterior"))
            effective = [float(array_stats.ess(v.astype(float), method="mean")) for v in (k, log)]
            print(
                f"| {n:,} × {d} | {sampler} | {seconds / (2 * draws):.4f} | "
                f"{k[0].mean():.2f}, {k[1].mean():.2f} | "
                f"{effective[0]:.0f}, {effective[1]:.0f} of {2 * draws} | "
                f"{effective[0] / seconds:.2f}, {effective[1] / seconds:.2f} |"
            )
            sys.stdout.flush()


def on_dask(n: int, d: int) -> None:
    """Two workers, rows made where they are: seconds of an iteration, and agreement."""
    import dask.array as da
    import distributed

    k, chunk = 20, 500_000
    centers = np.random.default_rng(0).normal(size=(k, d)) * (1.4 if d > 5 else 6.0)

    def made(block_info: Any = None) -> NDArray[np.float64]:
        first, last = block_info[None]["array-location"][0]
        rng = np.random.default_rng(first)
        return centers[rng.integers(k, size=last - first)] + rng.normal(size=(last - first, d))

    sizes = [chunk] * (n // chunk) or [n // 2, n - n // 2]
    with (
        distributed.LocalCluster(2, threads_per_worker=1, dashboard_address=":0") as cluster,
        distributed.Client(cluster) as client,
    ):
        data = da.map_blocks(made, chunks=(tuple(sizes), (d,)), dtype=float)
        kernel = pt.NormalInverseGamma([0.0] * d, 0.01, 2, 1)
        seconds = []
        for iterations in (10, 30):
            start = time.perf_counter()
            fit = pt.sample(
                data,
                engine=client,
                kernel=kernel,
                draws=5,
                burn_in=iterations - 5,
                chains=1,
                rng=1,
                split_merge=1,
                progress=False,
            )
            seconds.append(time.perf_counter() - start)
        found = pt.estimate(fit.draws, bound=None)
        peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20
        workers = [size / 2**30 for size in client.run(_peak).values()]
    print(
        f"{n:,} × {d} in {len(sizes)} chunks: {seconds[0]:.1f} s for 10 iterations with the start, "
        f"{(seconds[1] - seconds[0]) / 20:.2f} s for each more; "
        f"k {fit.trace['n_clusters'].min()}–{fit.trace['n_clusters'].max()}, estimate "
        f"{found.n_clusters}; peak {peak:.1f} GB here, {max(workers):.1f} GB on a worker"
    )


def _peak() -> float:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024.0


def main() -> None:
    """Run what was asked for."""
    what, *numbers = sys.argv[1:] or ["speed"]
    if what == "agree":
        n = int(numbers[0])
        if n > 500:  # with the window that users have
            agree(n, draws=300, thin=10, burn_in=1_000)
        else:
            with mock.patch.object(parallel, "_LEAST_WINDOW", n // 10):
                agree(n, draws=2_000, thin=2, burn_in=500)
    elif what == "stationary":
        with mock.patch.object(parallel, "_LEAST_WINDOW", 200):
            stationary()
    elif what == "deleting":
        deleting()
    elif what == "mixing":
        mixing()
    elif what == "dask":
        on_dask(*map(int, numbers))
    else:
        speed()


if __name__ == "__main__":
    main()
