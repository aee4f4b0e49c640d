"""The checks of a preflight, each over plain answers of one or two services."""
