"""Engines: blocks of rows, and the way to all of them.

An engine carries a step to every block and adds up the answers. `protocol.py` states the promises
and the demands of an engine; begin there. `memory.py` holds slices of one array, and `select.py` is
the only place that makes engines. An engine imports blocks from `kernels`, and knows no step.
"""
