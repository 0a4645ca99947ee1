"""The paper recomputed: its tables, cross tabulations and figures beside our own numbers.

``paper`` holds what is printed there. From our own draws (``own_draws``) every
value is shown with what the difference is; from the paper's draws
(``paper_draws``) every digit must come out.

Imports everything below; the command line sits above it.
"""
