"""`hyperpod plan`: the effect of an update on deployed resources.

`pairs` matches the resources of two models. `difference` lists their changes, by `equality`. `table` finds the `row` of each change
in `rows/` or in the resource schema. `updates` follows replacements through references. `verdict` adds policies, names and data.
"""
