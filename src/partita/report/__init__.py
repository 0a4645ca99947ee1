"""The interactive report: one HTML file that opens without a network (extra ``report``).

Imports what is below, of ``plots`` only what is prepared for drawing: no
matplotlib is needed. Bokeh and Jinja are loaded when a report is written.
"""

from partita.report.page import write_report

__all__ = ["write_report"]
