"""The catalogue of checks and the template model that it reads.

Reads templates, never constructs, and imports neither aws_cdk nor boto3.
"""
