"""Engines: blocks of rows, and the way to all of them.

An engine carries a step to every block and adds up the answers. `protocol.py` says what an engine
promises and what it may demand; begin there. `memory.py` holds slices of one array, and `select.py`
is the only place that makes engines. An engine does not know what a step computes.
"""
