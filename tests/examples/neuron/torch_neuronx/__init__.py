"""A double: nothing of torch-neuronx but its name and its version."""
