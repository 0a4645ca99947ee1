"""Draws and data from files and other libraries' objects, and draws to files.

``table`` opens text and splits it into cells, for two interpreters: ``text`` reads draws,
``data_table`` data. ``draws_table`` tells which columns of a table are items, ``arrays`` and
``r`` read everything else, ``read`` and ``write`` are the entry points. Optional libraries are
imported inside the functions that need them.
"""
