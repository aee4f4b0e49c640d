"""The meaning of templates: clusters, networks, permissions, file systems, Kubernetes."""
