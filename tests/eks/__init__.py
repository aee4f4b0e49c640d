"""Tests of what only a cluster on Kubernetes needs."""

LAYER = "arn:aws:lambda:us-west-2:123456789012:layer:kubectl:1"
