"""What stands on the pages in place of libraries and files that are not there.

Each library's stand-in leaves what its block of code would: the same model's draws, made by
``reference.finite_mixture``, in the shape in which the library has them.
"""

import re
import shutil
from functools import cache
from pathlib import Path
from types import SimpleNamespace

import numpy as np

from io_r import Atom, Listed, write_coda, write_rds
from reference.finite_mixture import gibbs, log_weights, page_data

DATA = Path(__file__).parent / "io" / "data"
DOCS = Path(__file__).parents[1] / "docs"


@cache
def page_draws():
    """Four chains of 500 draws."""
    x = page_data()
    found = gibbs(x, 3, draws=500, burn_in=100, chains=4, seed=1)
    return {**found, "log_weights": log_weights(found, x)}


def pymc():
    import arviz_base

    posterior = {name: value for name, value in page_draws().items() if name != "z"}
    return {"idata": arviz_base.from_dict({"posterior": posterior})}


def numpyro():
    samples = {name: value for name, value in page_draws().items() if name != "z"}
    return {"mcmc": SimpleNamespace(get_samples=lambda group_by_chain: samples)}


def cmdstanpy():
    """CSV files as CmdStan documents them: comments, one header, z 1-based among the others."""
    found = page_draws()
    words = ("accept_stat", "stepsize", "treedepth", "n_leapfrog", "divergent", "energy")
    stats = [f"{word}__" for word in words]
    for chain in range(4):
        names, columns = ["lp__", *stats], [np.zeros((500, 1 + len(stats)))]
        for name in ("weights", "means", "variances", "log_weights", "z"):
            values = found[name][chain] + (name == "z")
            # Stan counts the first index fastest.
            index = [i[::-1] for i in np.ndindex(values.shape[:0:-1])]
            names += [".".join([name, *(str(1 + j) for j in i)]) for i in index]
            columns.append(np.stack([values[(slice(None), *i)] for i in index], axis=1))
        rows = [",".join(f"{value:g}" for value in row) for row in np.hstack(columns)]
        before = ["# stan_version_major = 2", "# model = mixture_model", "#     num_samples = 500"]
        after = ["# ", "#  Elapsed Time: 0.1 seconds (Warm-up)"]
        lines = [*before, ",".join(names), "# Adaptation terminated", *rows, *after]
        Path(f"mixture-20261116_{chain + 1}.csv").write_text("\n".join(lines) + "\n")
    return {}


STAND_INS = {"pymc": pymc, "numpyro": numpyro, "cmdstanpy": cmdstanpy}


def mixture_stan(folder: Path) -> None:
    """The program of the page."""
    page = (DOCS / "howto" / "stan.md").read_text(encoding="utf-8")
    (folder / "mixture.stan").write_text(re.search(r"```stan\n(.*?)```", page, re.DOTALL)[1])


def pymc_file(folder: Path) -> None:
    shutil.copy(DATA / "pymc_mixture.nc", folder)


def coda_files(folder: Path) -> None:
    write_coda(folder, page_draws()["z"] + 1, [f"z[{i + 1}]" for i in range(60)])


def nimble_file(folder: Path) -> None:
    """What runMCMC returns for several chains: a list of matrices, with other nodes in them."""
    found = page_draws()
    names = [*(f"mu[{k}]" for k in (1, 2, 3)), *(f"z[{i + 1}]" for i in range(60))]
    parts = {
        f"chain{c + 1}": Atom(np.hstack([found["means"][c], found["z"][c] + 1.0]), [None, names])
        for c in range(4)
    }
    write_rds(folder / "samples.rds", Listed(parts))


FILES = {
    "howto/pymc.md": (pymc_file,),
    "howto/stan.md": (mixture_stan,),
    "howto/jags_nimble.md": (coda_files, nimble_file),
}
"""Files that a page reads and cannot make itself."""
