"""The `hyperpod` command (extra `cli`): deploy, destroy, connect, and the embedded AWS. Start at `main`."""
