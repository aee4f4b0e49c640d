"""A double of PyTorch/XLA: the functions that the job calls, on the processor. It shows the job's logic and nothing of a device."""
