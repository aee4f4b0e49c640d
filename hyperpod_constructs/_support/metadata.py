"""Keys in the metadata of resources: constructs write them, and the readers of templates read them."""

from __future__ import annotations

ALLOW_DATA_LOSS = "hyperpod:allow-data-loss"
"""A change may lose the resource's data; the value is the reason."""

BEYOND_CAPACITY = "hyperpod:beyond-capacity"
"""A quota is for nodes that come later; the value is true."""
