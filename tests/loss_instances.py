"""Every loss of the registry, at several prices where it has one."""

from __future__ import annotations

import pytest

from partita.losses.registry import LOSSES

PRICED = ("vi", "binder")
INSTANCES = [loss() for loss in LOSSES.values()]
INSTANCES += [LOSSES[name](a=a) for name in PRICED for a in (0.123456789, 0.5, 1.7)]

every_loss = pytest.mark.parametrize("loss", INSTANCES, ids=repr)
every_name = pytest.mark.parametrize("name", LOSSES)
