"""What code in Python does when a function is called: followed by its statements on values of the template, never executed.

`runs` follows a function for each event that it gets; `machine` does the statements of one way through it, `expressions` what they
ask for, `known_calls` the functions that it knows, and `choices` picks the ways where a condition is not known.
"""
