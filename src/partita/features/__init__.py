"""Feature allocations: overlapping clusters, where an item is in any number of features.

``draws`` holds and reads them, ``estimate`` finds the best one, ``bounds`` proves how good it is.
"""
