"""Figures of the node: GPUs, memory, Neuron devices, EFA and disks, for CloudWatch and for Prometheus.

The names are those of the field's own exporters: node_exporter, NVIDIA's DCGM exporter, AWS's EFA exporter and neuron-monitor's, so
that their dashboards fit. The program runs without root's rights, and listens on loopback unless it is told otherwise.
"""
