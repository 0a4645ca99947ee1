"""How fast we are, in units of a fixed job, beside what the peers need.

``python -m benchmarks`` prints one table; ``python -m benchmarks similarity csv``
only the jobs whose name or module contains one of the words. A module of this
package takes part by defining ``JOBS``, a list of :class:`benchmarks.job.Job`.
"""
