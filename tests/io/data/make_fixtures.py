"""Make the saved posteriors of a small mixture, in the layouts of PyMC and of CmdStan.

Run with ArviZ 0.x: ``python tests/io/data/make_fixtures.py``. Neither PyMC nor Stan is needed: a
Gibbs sampler of three normal components makes the draws, and both files hold the same ones.
"""

from __future__ import annotations

import warnings
from pathlib import Path

import numpy as np

HERE = Path(__file__).parent
PYMC = HERE / "pymc_mixture.nc"
CMDSTAN = [HERE / f"cmdstan_mixture_{chain}.csv" for chain in (1, 2)]

CHAINS, DRAWS, WARMUP, COMPONENTS = 2, 60, 40, 3
CENTERS = np.repeat([-4.0, 0.0, 4.0], 8)
STAN_STATS = {
    "accept_stat__": "0.95",
    "stepsize__": "0.71",
    "treedepth__": "2",
    "n_leapfrog__": "3",
    "divergent__": "0",
}


def observations() -> np.ndarray:
    """24 numbers around three centres."""
    return np.round(np.random.default_rng(5).normal(CENTERS, 1.1), 3)


def gibbs() -> dict[str, np.ndarray]:
    """Draws of weights w, means mu (sd 1, prior sd 5), 0-based allocations z, and the log density.

    Leading dimensions are (chain, draw).
    """
    x = observations()
    shapes = {"w": (COMPONENTS,), "mu": (COMPONENTS,), "z": (x.size,), "lp": ()}
    kept = {name: np.empty((CHAINS, DRAWS, *shape)) for name, shape in shapes.items()}
    for chain in range(CHAINS):
        rng = np.random.default_rng([5, chain])
        w, mu = np.full(COMPONENTS, 1 / COMPONENTS), rng.choice(x, COMPONENTS, replace=False)
        for step in range(-WARMUP, DRAWS):
            density = w * np.exp(-0.5 * (x[:, None] - mu) ** 2)
            edges = np.cumsum(density / density.sum(axis=1, keepdims=True), axis=1)
            z = (rng.random((x.size, 1)) > edges).sum(axis=1).clip(max=COMPONENTS - 1)
            sizes = np.bincount(z, minlength=COMPONENTS)
            w = rng.dirichlet(1.0 + sizes)
            precision = sizes + 1 / 25
            sums = np.bincount(z, weights=x, minlength=COMPONENTS)
            mu = rng.normal(sums / precision, 1 / np.sqrt(precision))
            if step >= 0:
                lp = float(np.log(w[z]).sum() - 0.5 * ((x - mu[z]) ** 2).sum())
                for name, value in {"w": w, "mu": mu, "z": z, "lp": lp}.items():
                    kept[name][chain, step] = value
    return {**kept, "z": kept["z"].astype(np.int64)}


def write_pymc(draws: dict[str, np.ndarray]) -> None:
    """The groups, dimensions and attributes of ``pm.sample`` with ``idata_kwargs`` at rest."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        import arviz

    made = {
        "created_at": "2025-01-01T00:00:00+00:00",
        "inference_library": "pymc",
        "inference_library_version": "5.26.1",
    }
    component, obs = ["component"], ["obs_id"]
    idata = arviz.from_dict(
        posterior={name: draws[name] for name in ("z", "mu", "w")},
        sample_stats={"lp": draws["lp"], "diverging": np.zeros((CHAINS, DRAWS), bool)},
        observed_data={"x": observations()},
        coords={"component": np.arange(COMPONENTS), "obs_id": np.arange(CENTERS.size)},
        dims={"z": obs, "mu": component, "w": component, "x": obs},
        posterior_attrs={**made, "sampling_time": 1.5, "tuning_steps": WARMUP},
        sample_stats_attrs={**made, "sampling_time": 1.5, "tuning_steps": WARMUP},
        observed_data_attrs=made,
    )
    idata.to_netcdf(str(PYMC), engine="h5netcdf")


def write_cmdstan(draws: dict[str, np.ndarray]) -> None:
    """One file per chain, as CmdStan writes them: comments, dotted names, 1-based allocations."""
    names = ["lp__", *STAN_STATS, "energy__"]
    names += [f"w.{k + 1}" for k in range(COMPONENTS)] + [f"mu.{k + 1}" for k in range(COMPONENTS)]
    names += [f"z.{i + 1}" for i in range(CENTERS.size)]
    for chain, path in enumerate(CMDSTAN):
        head = ["# stan_version_major = 2", "# stan_version_minor = 35", "# model = mixture_model"]
        head += [f"#     num_samples = {DRAWS}", f"# id = {chain + 1}", ",".join(names)]
        head += ["# Adaptation terminated", "# Step size = 0.71"]
        rows = []
        for draw in range(DRAWS):
            lp = draws["lp"][chain, draw]
            numbers = np.concatenate([draws["w"][chain, draw], draws["mu"][chain, draw]])
            allocations = draws["z"][chain, draw] + 1
            cells = [f"{lp:.6g}", *STAN_STATS.values(), f"{-lp + 2:.6g}"]
            cells += [f"{number:.6g}" for number in numbers] + [str(label) for label in allocations]
            rows.append(",".join(cells))
        tail = ["# ", "#  Elapsed Time: 0.04 seconds (Total)", "# "]
        path.write_text("\n".join([*head, *rows, *tail]) + "\n", encoding="utf-8")


if __name__ == "__main__":
    found = gibbs()
    write_pymc(found)
    write_cmdstan(found)
