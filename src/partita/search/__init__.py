"""The partition that minimises the expected loss, and how far above the minimum it can be.

Questions: ``estimate``, ``clusters_curve``, ``price_path``, ``compare_losses``. ``local_search`` is
the one search; ``multistart`` runs it from several starts, ``constraints`` within constraints,
``large`` where labels are many. ``exact``, ``ilp``, ``hasse``, ``linkage``, ``best_draw`` and
``blackbox`` are the other methods, ``bounds`` the lower bounds, ``settings`` every constant.
"""
