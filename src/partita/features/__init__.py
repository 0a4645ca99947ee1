"""Feature allocations: overlapping clusters, where an item is in any number of features.

``draws`` holds, reads and writes them, ``estimate`` finds the best one and proves how good it is,
``price_path`` follows it over all prices.
"""
