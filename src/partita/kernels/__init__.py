"""Compiled loops. This floor imports NumPy and Numba only.

Arrays and scalars in, arrays and scalars out; labels are canonical int32
unless a kernel says otherwise, so that each kernel compiles once. Validation,
dtypes and messages live one floor up. Each kernel has a slow twin in
``tests/reference``.
"""
