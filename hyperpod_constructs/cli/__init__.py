"""The `hyperpod` command (extra `cli`). Start at `main`."""
