"""Whole clusters: wiring and defaults, without features of their own."""
