"""Every loss of the table, at several prices where it has one, and one from outside the package."""

import pytest

from outside_losses import Jaccard
from partita.losses import LOSSES
from partita.losses.evaluate import class_of

CLASSES = {name: class_of(name) for name in LOSSES}
PRICED = tuple(name for name, loss in CLASSES.items() if loss().has_price)

OWN = [loss() for loss in CLASSES.values() if not loss.of_features]
OWN += [CLASSES[name](a=a) for name in PRICED for a in (0.4321, 1.7)]

INSTANCES = [*OWN, Jaccard()]
"""The contract is that of any loss."""

every_loss = pytest.mark.parametrize("loss", INSTANCES, ids=repr)
every_name = pytest.mark.parametrize("name", LOSSES)
