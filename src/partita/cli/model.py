"""Kernels and priors from the words of the command line."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import fields
from typing import TYPE_CHECKING, Any

import click

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from partita.samplers.hyperpriors import F, Gamma
    from partita.samplers.kernel import Kernel
    from partita.samplers.partition_prior import PartitionPrior
    from partita.samplers.table import Table

KERNELS = ("auto", "normal", "hierarchical", "wishart", "bernoulli", "categorical", "poisson")
PRIORS = ("dp", "py", "mfm")
PRIOR_OPTIONS = {
    "concentration": ("dp", "py"),
    "discount": ("py",),
    "mean_components": ("mfm",),
    "components": ("mfm",),
    "weight": ("mfm",),
    "dynamic": ("mfm",),
}
"""Options of priors, and the priors that have them."""


def make_kernel(name: str, settings: tuple[str, ...], table: Table) -> Kernel | None:
    """The kernel of that name, hyperparameters by the empirical rules unless they are set."""
    if name == "auto":
        if settings:
            raise click.UsageError("--set needs a kernel; name one with --kernel.")
        return None
    kernel = _kernel(name, table)
    known = tuple(field.name for field in fields(kernel) if field.name != "levels")  # type: ignore[arg-type]
    chosen = {field.name: getattr(kernel, field.name) for field in fields(kernel)}  # type: ignore[arg-type]
    for setting in settings:
        key, value = _parse(setting)
        if key not in known:
            raise click.UsageError(
                f"--set {setting}: kernel {name} has no {key!r}. It has {', '.join(known)}."
            )
        chosen[key] = value
    return type(kernel)(**chosen)


def _parse(setting: str) -> tuple[str, Any]:
    key, equals, text = setting.partition("=")
    numbers = _numbers_in(text)
    if not equals or not numbers:
        raise click.UsageError(
            f"--set {setting}: expected NAME=NUMBER, or NAME=NUMBER,NUMBER,… with one per column."
        )
    return key.strip(), numbers[0] if len(numbers) == 1 else numbers


def _kernel(name: str, table: Table) -> Kernel:
    """The kernel of that name by its empirical rule."""
    from partita.samplers.bernoulli import BetaBernoulli
    from partita.samplers.categorical import DirichletCategorical
    from partita.samplers.normal import NormalInverseGamma
    from partita.samplers.poisson import GammaPoisson
    from partita.samplers.wishart import NormalInverseWishart

    rules: dict[str, Callable[[Table], Kernel]] = {
        "normal": NormalInverseGamma.empirical,
        "hierarchical": NormalInverseGamma.hierarchical,
        "wishart": NormalInverseWishart.empirical,
        "bernoulli": BetaBernoulli.empirical,
        "categorical": DirichletCategorical.empirical,
        "poisson": GammaPoisson.empirical,
    }
    return rules[name](table)


def make_prior(name: str, options: dict[str, Any]) -> PartitionPrior:
    """The prior of that name; an option of another prior is wrong usage."""
    from partita.samplers.finite_mixture import FiniteMixture
    from partita.samplers.priors import DirichletProcess, PitmanYor

    for option, priors in PRIOR_OPTIONS.items():
        if options[option] not in (None, False) and name not in priors:
            shown = option.replace("_", "-")
            raise click.UsageError(f"--{shown} belongs to --prior {' or '.join(priors)}.")
    if name == "mfm":
        weight, dynamic = _number_or_law("weight", options["weight"] or "1"), options["dynamic"]
        if options["components"] is not None:
            return FiniteMixture.exactly(options["components"], weight=weight, dynamic=dynamic)
        mean = options["mean_components"] or 5.0
        return FiniteMixture(weight, mean_components=mean, dynamic=dynamic)
    concentration: Any = _number_or_law("concentration", options["concentration"] or "1,1")
    if name == "py":
        discount = options["discount"]
        return PitmanYor(concentration, 0.25 if discount is None else discount)
    return DirichletProcess(concentration)


_LAWS = {
    "concentration": "a number, or SHAPE,RATE of a gamma prior",
    "weight": "a number, SHAPE,RATE of a gamma prior, or F for F(6, 3)",
}
"""What options of priors may be."""


def _number_or_law(option: str, text: str) -> float | Gamma | F:
    from partita.samplers.hyperpriors import F, Gamma

    if option == "weight" and text.strip().lower() == "f":
        return F(6, 3)
    numbers = _numbers_in(text)
    if len(numbers) not in (1, 2):
        raise click.UsageError(f"--{option} {text}: expected {_LAWS[option]}.")
    return numbers[0] if len(numbers) == 1 else Gamma(*numbers)


def _numbers_in(text: str) -> tuple[float, ...]:
    """Numbers between commas; none where one is no number."""
    try:
        return tuple(float(part) for part in text.split(","))
    except ValueError:
        return ()


def role_of(kernel: Kernel, column: NDArray[Any]) -> str:
    """What a column is to its kernel: number, count, yes/no or category."""
    roles = {"GammaPoisson": "count", "BetaBernoulli": "yes/no", "DirichletCategorical": "category"}
    return roles.get(kernel.kind, "number" if column.dtype.kind == "f" else "category")


def _numbers(law: Any) -> str:
    return ", ".join(f"{getattr(law, field.name):.3g}" for field in fields(law))


def prior_of(kernel: Kernel, column: int) -> str:
    """The hyperparameters of one column, in a few words."""
    shown = []
    for field in fields(kernel):  # type: ignore[arg-type]
        value = getattr(kernel, field.name)
        if isinstance(value, tuple):
            value = value[column]
        if field.name == "levels":
            shown.append(f"{len(value)} levels")
        elif isinstance(value, tuple):
            shown.append(f"{field.name} of all columns")
        elif not isinstance(value, float):
            shown.append(f"{field.name} ~ {type(value).__name__}({_numbers(value)})")
        else:
            shown.append(f"{field.name} {value:.3g}")
    return ", ".join(shown)
