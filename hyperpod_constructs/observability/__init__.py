"""Eyes on a cluster."""
