"""Programs for AWS Lambda: they import the standard library and boto3 only, and nothing else of this package."""
