"""The way to a service without botocore: models, requests, signatures, endpoints, connections, replies."""
