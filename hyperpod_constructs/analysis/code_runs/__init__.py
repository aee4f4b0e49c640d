"""What code in Python does when a function is called: followed by its statements on values of the template, never executed.

`runs` follows a function for each event that it gets; `machine` is one way through it, with its `statements` and `expressions`, the
functions that it knows (`known_calls`), and what it asks and answers. `choices` picks the ways where a condition is not known.
"""
