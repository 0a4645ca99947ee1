"""Labels from memory and files into :class:`~partita.partitions.draws.Draws`, and back to files.

``convert`` is the door for objects in memory, ``files`` the door for files;
``registry`` names the formats, each of which has a function ``read_NAME`` and most
``write_NAME``. This floor imports partitions and kernels; optional libraries are
imported inside the functions that need them.
"""
