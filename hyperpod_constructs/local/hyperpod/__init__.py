"""The embedded HyperPod: clusters, groups, nodes and events."""
