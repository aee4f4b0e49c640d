"""The effect of a change of each property: one row per property, one module per service."""
