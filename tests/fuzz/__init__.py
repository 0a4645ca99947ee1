"""Attacks of fixed seeds, class by class; ``python -m tests.fuzz`` prints the table.

Goal: nothing silently wrong, no raw error of another library, no crash, no lost file.
"""
