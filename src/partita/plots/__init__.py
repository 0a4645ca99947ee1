"""Figures for papers, on matplotlib (extra ``plot``).

Imports what is below; matplotlib is loaded when a figure is drawn. ``palette``
and ``colours`` need none of it.
"""
