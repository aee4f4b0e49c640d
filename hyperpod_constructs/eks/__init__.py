"""What only a cluster that Kubernetes orchestrates needs: the control plane, access to it, and its add-ons."""
