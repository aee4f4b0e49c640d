"""Task governance of the embedded HyperPod: scheduling policies of clusters and quotas of teams."""
