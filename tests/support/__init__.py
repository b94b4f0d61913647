"""Helpers of the tests, imported as ``from support.NAME import ...``."""
