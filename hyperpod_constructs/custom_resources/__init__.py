"""What CloudFormation has no resource type for: one module per gap, its Lambda code in `handlers/`."""
