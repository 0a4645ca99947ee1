"""The paper reproduced: Wade and Ghahramani (2018), table by table.

``python -m examples.paper`` checks every printed digit on the paper's own draws
(``make paper``); ``python -m examples.paper tables`` recomputes the tables and
figures on draws of partita's sampler.
"""
