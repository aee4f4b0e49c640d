"""The benchmark: what synthesis, import and a local deployment cost, as ratios to something measured in the same run.

python -m bench [--only synth validated import groups deploy] [--pairs 15]
"""
