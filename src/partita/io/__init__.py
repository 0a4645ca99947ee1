"""Labels from memory and files into :class:`~partita.partitions.draws.Draws`, and back to files.

``convert`` is the door for objects in memory, ``files`` the door for files;
``registry`` names the formats, each of which is one module with ``read`` and
``write``. This floor imports partitions and kernels; optional libraries are
imported inside the functions that need them.
"""
