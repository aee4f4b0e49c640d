"""One module for each resource: constructs with everything set, in as many stacks as exclude each other's settings."""
