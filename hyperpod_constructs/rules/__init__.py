"""Rules on templates: the catalogue, its findings, and their formats.

Rules read templates, never constructs. Only the plug-in imports aws_cdk; nothing imports boto3.
"""
