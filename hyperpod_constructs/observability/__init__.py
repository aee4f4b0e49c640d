"""Eyes on a cluster: alarms, events and dashboards, metrics of nodes in Prometheus and Grafana."""
