"""The embedded workspaces of Prometheus and Grafana: CloudFormation's types alone, without the services' APIs."""
