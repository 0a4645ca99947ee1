"""partita: from posterior draws of clusterings to a clustering you can report.

Point estimates that minimise a posterior expected loss, with a proof of how
good they are, and credible balls around them, after Wade and Ghahramani,
"Bayesian cluster analysis: Point estimation and credible balls".

Names load on first use, so ``import partita`` is light; ``__init__.pyi`` lists them.
"""

from importlib import import_module

from partita._version import __version__


def _public_names() -> dict[str, str]:
    """Public name to the module that defines it, from the stub beside this file."""
    with open(__file__.removesuffix("c") + "i", encoding="utf-8") as stub:
        text = stub.read().replace("(\n", "")
    imports = [line.split() for line in text.splitlines() if line.startswith("from ")]
    return {words[3]: words[1] for words in imports}  # from MODULE import NAME as NAME


_MODULES = _public_names()

__all__ = ["__version__", *_MODULES]


def __getattr__(name: str) -> object:
    if name not in _MODULES:
        raise AttributeError(f"module 'partita' has no attribute {name!r}")
    module = _MODULES[name]
    if module == "partita":
        return import_module(f"partita.{name}")
    value = globals()[name] = getattr(import_module(module), name)
    return value


def __dir__() -> list[str]:
    return sorted(__all__)
