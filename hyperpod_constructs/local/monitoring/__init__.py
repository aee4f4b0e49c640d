"""What CloudWatch does with metrics and log events: states of alarms, patterns of filters."""
