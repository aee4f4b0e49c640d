"""Programs that run in AWS Lambda: the standard library and boto3 only, nothing of the rest of the package."""
