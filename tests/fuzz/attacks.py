"""The classes of attack by name."""

from . import calls, damaged, force, labelled, processes, saved, spellings
from .harness import Attack

ATTACKS = {
    attack.name: attack
    for attack in (
        Attack("damaged files", damaged.COUNT, damaged.run),
        Attack("crafted files, known labels", len(labelled.NAMES), labelled.run),
        Attack("other spellings", spellings.COUNT, spellings.run),
        Attack("forged results", saved.COUNT, saved.run),
        Attack("wrong values", len(calls.calls()), calls.run),
        Attack("outputs over files of users", force.COUNT, force.run),
        Attack("kills and resumes", 40, processes.kill),
        Attack("interrupts", 120, processes.interrupt),
        Attack("full disks", 150, processes.full_disk),
    )
}
