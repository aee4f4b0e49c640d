"""The cluster and its value types."""
