"""Every loss of the registry, at several prices where it has one."""

from __future__ import annotations

import pytest

from outside_losses import Jaccard
from partita.losses.registry import LOSSES

PRICED = ("vi", "binder")
INSTANCES = [loss() for loss in LOSSES.values()]
INSTANCES += [LOSSES[name](a=a) for name in PRICED for a in (0.123456789, 0.5, 1.7)]

CONTRACT = [*INSTANCES, Jaccard()]
"""One more from outside the package: the contract is that of any loss."""

every_loss = pytest.mark.parametrize("loss", INSTANCES, ids=repr)
any_loss = pytest.mark.parametrize("loss", CONTRACT, ids=repr)
every_name = pytest.mark.parametrize("name", LOSSES)
