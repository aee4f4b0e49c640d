"""The checks, one module each; a check is a function from a `Context` to its findings."""
