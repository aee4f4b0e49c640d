"""Custom resources, for gaps in CloudFormation's resource types: one module per gap, its Lambda code in `handlers/`."""
