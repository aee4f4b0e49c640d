"""Health checks that a HyperPod node runs on itself: Python 3.8 or newer, standard library only.

`python3 -m node_health check` is the body of Slurm's HealthCheckProgram. `hang` watches jobs that write heartbeats. `status` prints
the findings of both. Training code imports `node_health.heartbeat`.
"""
