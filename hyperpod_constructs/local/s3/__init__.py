"""The CloudFormation types of S3 over ministack's buckets."""
