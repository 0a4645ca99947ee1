"""How much memory is left, and refusing what would not fit."""

from __future__ import annotations

import os
from pathlib import Path

from partita.errors import MemoryLimitError

_CGROUPS = (
    ("/sys/fs/cgroup/memory.max", "/sys/fs/cgroup/memory.current"),
    ("/sys/fs/cgroup/memory/memory.limit_in_bytes", "/sys/fs/cgroup/memory/memory.usage_in_bytes"),
)
"""Limit and use of a container, second and first generation."""

LITTLE = 1 << 20
"""Bytes that are there without asking: to ask takes longer than to fill them."""


def available_memory() -> int | None:
    """Bytes that can still be allocated without swapping, or None where that is unknown."""
    bounds = [_system_memory(), _shell_limit(), *(_container_memory(*pair) for pair in _CGROUPS)]
    known = [bound for bound in bounds if bound is not None]
    return min(known) if known else None


def require_memory(size: int, what: str, instead: str) -> None:
    """Raise before an allocation of ``size`` bytes that cannot succeed; say what to do instead."""
    if size <= LITTLE:
        return
    free = available_memory()
    if free is not None and size > free:
        raise MemoryLimitError(
            f"{what} needs {readable_size(size)}, but {readable_size(free)} of memory is "
            f"available. {instead}"
        )


def readable_size(size: int) -> str:
    """Bytes as text: ``readable_size(3 << 30)`` is ``'3.0 GiB'``."""
    value = float(size)
    for unit in ("bytes", "KiB", "MiB", "GiB"):
        if value < 1024:
            return f"{value:.0f} {unit}" if unit == "bytes" else f"{value:.1f} {unit}"
        value /= 1024
    return f"{value:,.1f} TiB"


def _system_memory() -> int | None:
    try:
        lines = Path("/proc/meminfo").read_text().splitlines()
    except OSError:
        return _physical_memory()
    for line in lines:
        if line.startswith("MemAvailable:"):
            return int(line.split()[1]) * 1024
    return _physical_memory()


def _physical_memory() -> int | None:
    """All memory of the machine: a weaker bound, for systems without /proc."""
    try:
        return os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    except (AttributeError, OSError, ValueError):
        return None


def _shell_limit() -> int | None:
    """What the address space may still grow by, where the shell limits it (``ulimit -v``)."""
    try:
        import resource

        limit = resource.getrlimit(resource.RLIMIT_AS)[0]
        if limit == resource.RLIM_INFINITY:
            return None
        pages = int(Path("/proc/self/statm").read_text().split()[0])
        return max(0, limit - pages * os.sysconf("SC_PAGE_SIZE"))
    except (ImportError, OSError, ValueError):  # no such limits, or no /proc
        return None


def _container_memory(limit_file: str, usage_file: str) -> int | None:
    try:
        limit, usage = int(Path(limit_file).read_text()), int(Path(usage_file).read_text())
        statistics = Path(limit_file).with_name("memory.stat").read_text().splitlines()
    except (OSError, ValueError):  # no container, or "max"
        return None
    # Cached file pages count as used but are given back on demand.
    cached = sum(int(s.split()[1]) for s in statistics if s.startswith("inactive_file "))
    return max(0, limit - usage + cached)
