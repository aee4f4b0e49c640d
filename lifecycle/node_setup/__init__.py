"""Programs that run on a node of a HyperPod cluster: Python 3.8 or newer, standard library only."""
