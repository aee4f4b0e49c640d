"""The error for an unusable file of prices."""

from __future__ import annotations


class PriceFileError(ValueError):
    """An unusable price file; the text is one line for a person."""
