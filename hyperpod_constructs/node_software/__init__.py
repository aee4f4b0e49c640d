"""The software of nodes: the programs, their settings, and the prefix in S3 that holds both."""
