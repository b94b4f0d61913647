"""The fits of the test of bits, and their stored list; `bits.py` is the command."""
