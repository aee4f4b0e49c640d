"""CloudFormation templates as typed, read-only data, resolved as far as that can be done before a deployment."""
