"""Priors and kernels from outside that are not as they must be: an error about that argument."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest

import partita as pt
from samplers.outside_kernels import WAITING, ExponentialGamma, add


def refused(argument: str, message: str, call, *args, **options) -> None:
    with pytest.raises(pt.errors.InvalidInputError, match=message) as raised:
        call(*args, **options)
    assert raised.value.argument == argument


def sampled(**model) -> pt.Fit:
    return pt.sample(WAITING, draws=2, burn_in=0, chains=1, rng=0, **model)


# ---------------------------------------------------------------------------------- priors


@pytest.mark.parametrize(
    ("log_v", "log_w", "argument", "message"),
    [
        (lambda n, k: 1 / 0, lambda n: 0.0, "log_v", "ZeroDivisionError.*of N and k that returns"),
        (lambda k: 0.0, lambda n: 0.0, "log_v", "TypeError.*2 were given.*of N and k"),
        (lambda n, k: None, lambda n: 0.0, "log_v", "TypeError.*returns a number"),
        (lambda n, k: 0.0, lambda n: 1 / 0, "log_w", "ZeroDivisionError.*of n that returns"),
        ({"six": [0.0]}, lambda n: 0.0, "log_v", "expected a table for each number of items"),
    ],
)
def test_functions_of_a_prior_that_fail(log_v, log_w, argument, message):
    refused(argument, message, lambda: sampled(prior=pt.ProductPartition(log_v, log_w)))
    refused(argument, message, lambda: pt.ProductPartition(log_v, log_w).expected_clusters(6))


class WithoutTables(pt.PartitionPrior):
    """A prior that cannot be sampled."""

    def log_probability(self, labels: Any) -> float:
        return 0.0

    def expected_clusters(self, n_items: int) -> float:
        return 1.0


class WithOtherTables(WithoutTables):
    def tables(self, n_items: int) -> Any:
        return np.zeros(n_items)


def test_priors_without_tables():
    bound = pt.ProductPartition(lambda n, k: 0.0, lambda n: 0.0).bind(9)
    for prior, message in (
        (WithoutTables(), "has no tables"),
        (WithOtherTables(), "tables of WithOtherTables are array.*expected PriorTables"),
        (bound, "holds tables for 9, 10 items"),
    ):
        refused("prior", message, lambda p=prior: sampled(prior=p))
    refused("prior", "holds tables for 9, 10 items", lambda: pt.testing.check_prior(bound))


# ---------------------------------------------------------------------------------- kernels


def broken(**functions) -> pt.Kernel:
    return type("Broken", (ExponentialGamma,), functions)()


class Nothing(pt.Kernel):
    """None of the five functions."""


class Plain(ExponentialGamma):
    """Hyperparameters of no shape."""

    def hyper(self, n_columns: int) -> Any:
        return np.zeros(n_columns + 1)


class Bare(pt.Kernel):
    """The five functions, and no hyperparameters."""

    add, remove, refresh = add, add, ExponentialGamma.refresh
    log_predictive, log_marginal = ExponentialGamma.log_predictive, ExponentialGamma.log_marginal


@dataclass(frozen=True)
class Loose(ExponentialGamma):
    """Fields that nobody checks."""


@pytest.mark.parametrize(
    ("kernel", "message"),
    [
        (Nothing(), "Nothing has no function 'add'; a kernel needs add, remove"),
        (broken(log_marginal=None), "has no function 'log_marginal'"),
        (
            broken(add=lambda x: None),
            r"add: .*takes 1 .*Expected a function add\(x, n, block, j\)",
        ),
        (
            broken(log_marginal=add),
            r"takes 4 .* a function log_marginal\(n, block, j\)",
        ),
        (broken(refresh=len), "compiled: refresh: .*not a function"),
        (broken(refresh=lambda n, block, j: 1.0), "refresh returns float64; expected none"),
        (Plain(), r"hyper\(2\) of Plain has shape \(3,\); expected \(2, …\)"),
        (Bare(), "is not a dataclass"),
    ],
)
def test_functions_of_a_kernel_that_cannot_be_used(kernel, message):
    refused("kernel", message, lambda: sampled(kernel=kernel))
    refused("kernel", message, lambda: pt.testing.check_kernel(kernel, WAITING))


@pytest.mark.parametrize("shape", ["two", None, [[1.0, 2.0]], [1.0, 2.0, 3.0]])
def test_fields_of_a_kernel_that_are_no_numbers(shape):
    refused("shape", "one per column", lambda: sampled(kernel=Loose(shape=shape)))


def test_a_reference_that_fails():
    check = pt.testing.check_kernel
    for reference in (lambda: 0.0, lambda rows: 1 / 0, lambda rows: "x"):
        refused(
            "log_marginal",
            "failed when it was tried",
            lambda r=reference: check(ExponentialGamma(), WAITING, log_marginal=r),
        )
