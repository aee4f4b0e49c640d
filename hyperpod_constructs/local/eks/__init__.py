"""The embedded Amazon EKS."""
