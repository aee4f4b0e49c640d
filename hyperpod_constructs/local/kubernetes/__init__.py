"""A Kubernetes control plane on this machine: the official server binaries where they are at hand, else a double that says so."""
