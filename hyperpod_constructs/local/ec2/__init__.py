"""The embedded EC2: moto's backend, what AWS refuses beyond it, and its CloudFormation types."""
