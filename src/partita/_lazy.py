"""Names that load on first use, listed once in the stub of their package (SPEC 1)."""

from collections.abc import Callable
from importlib import import_module


def lazy_names(
    package: str, file: str
) -> tuple[Callable[[str], object], Callable[[], list[str]], list[str]]:
    """``__getattr__``, ``__dir__`` and ``__all__`` of a package, by the stub beside its file."""
    with open(file.removesuffix("c") + "i", encoding="utf-8") as stub:
        text = stub.read().replace("(\n", "")
    imports = [line.split() for line in text.splitlines() if line.startswith("from ")]
    modules = {words[3]: words[1] for words in imports}  # from MODULE import NAME as NAME

    def load(name: str) -> object:
        if name not in modules:
            raise AttributeError(f"module {package!r} has no attribute {name!r}")
        if modules[name] == package:
            return import_module(f"{package}.{name}")
        value = getattr(import_module(modules[name]), name)
        setattr(import_module(package), name, value)
        return value

    return load, lambda: sorted(modules), list(modules)
