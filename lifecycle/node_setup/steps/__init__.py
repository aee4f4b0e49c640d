"""The steps. Each decides whether the node needs it, applies its changes and verifies them. Each can run again after a kill."""
