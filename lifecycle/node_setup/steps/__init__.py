"""The steps: each says whether the node needs it, applies it, and verifies what it applied. Each can run again after a kill."""
