"""Whole clusters: wiring and defaults, no feature of their own."""
