"""For processes that live for seconds and import torch: Python's garbage collector, which finds nothing there, takes a third of
their processor time, half of it at the end."""

import atexit
import gc

gc.set_threshold(200_000)
atexit.register(gc.freeze)
