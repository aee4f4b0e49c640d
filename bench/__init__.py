"""The benchmark: costs of synthesis, import and a local deployment, as ratios to a floor measured in the same run.

python -m bench [--only synth validated import groups deploy] [--pairs 15]

The part `tests` runs `make test-fast` and prints its seconds. Of `make test` it prints the last complete run that passed on this
machine, with the commit and the date that the run wrote to build/tests.json.
"""
