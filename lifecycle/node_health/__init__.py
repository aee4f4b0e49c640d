"""Health of a HyperPod node, watched by the node itself: Python 3.8 or newer, standard library only.

``python3 -m node_health check`` is the body of Slurm's HealthCheckProgram, ``hang`` watches jobs that write heartbeats, ``status``
prints what both know. ``node_health.heartbeat`` is imported by training code.
"""
