"""The embedded EC2: moto's backend, further refusals of AWS, and the CloudFormation types."""
