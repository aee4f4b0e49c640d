"""Task governance: priorities of a cluster, quotas of teams, and their people."""
