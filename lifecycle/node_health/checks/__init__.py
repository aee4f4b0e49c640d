"""The checks, one module for each; a check is a function of a :class:`Context` that returns what it found."""
