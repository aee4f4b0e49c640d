"""CloudFormation templates as typed, read-only data, resolved as far as possible before a deployment.

From file to model: `files` opens a path safely, `reading` and `yaml_reading` parse it, `raw` bounds it, `assembly` follows a cloud
assembly, `nesting` attaches nested stacks, and `loading` turns paths into `documents`. `model` resolves them: `intrinsics`,
`parameters` and `environment` compute `values`, `once` keeps them, and `transforms` tells where macros leave them
unknown. `dependencies` gives the order of creation.
"""
