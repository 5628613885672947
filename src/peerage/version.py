"""The version of this program, which pages, fixtures and other machines are told."""

__version__ = "0.2.0"
