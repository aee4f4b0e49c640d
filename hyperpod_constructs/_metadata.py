"""Keys in the metadata of resources that constructs write and the reading side of templates reads."""

from __future__ import annotations

ALLOW_DATA_LOSS = "hyperpod:allow-data-loss"
"""A change may lose what the resource holds; the value is the reason."""
