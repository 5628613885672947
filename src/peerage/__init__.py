"""Peerage ranks language models by letting them play."""

__version__ = "0.1.0"
