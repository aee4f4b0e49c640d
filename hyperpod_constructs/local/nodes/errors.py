"""The error of virtual nodes."""

from __future__ import annotations


class NodesError(Exception):
    """The message says what was tried on which node, and what came of it."""
