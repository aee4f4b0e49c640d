"""One module for each custom resource; `tests/custom_resources/case.py` says what is in it."""
