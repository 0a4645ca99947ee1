"""Attacks of fixed seeds, class by class; ``python -m tests.fuzz`` prints the table.

Goal: nothing silently wrong, no raw error of another library, no crash, no lost file.
"""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))  # what all tests share is found by name
