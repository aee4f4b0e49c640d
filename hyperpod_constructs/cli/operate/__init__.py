"""Commands on a running cluster: what it is, what it does, and what an operator does to it. Each module is one command.

Shared by all: `place` (which account), `reading` (clusters, groups and nodes), `listing` (tables, JSON and Markdown), `watch`,
`denied` (a missing permission) and `completion`. By those that change a cluster: `batches` (nodes), `jobs` (on nodes), `progress`,
`group_requests` (what an update keeps) and `owner` (the stack). `export_logs` is made of `case_parts`, `case_archive` and
`scrubbing`.
"""
