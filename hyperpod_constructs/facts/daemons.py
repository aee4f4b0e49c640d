"""Programs of nodes that run as services: how they stay in the foreground, and whether they leave it by themselves.

Sources: https://slurm.schedmd.com/slurmd.html, https://slurm.schedmd.com/slurmctld.html, https://slurm.schedmd.com/slurmdbd.html,
https://slurm.schedmd.com/slurmrestd.html, https://manpages.ubuntu.com/manpages/jammy/man8/munged.8.html,
https://manpages.ubuntu.com/manpages/jammy/man8/sshd.8.html, https://manpages.ubuntu.com/manpages/jammy/man8/chronyd.8.html,
https://manpages.ubuntu.com/manpages/jammy/man8/rsyslogd.8.html, https://manpages.ubuntu.com/manpages/jammy/man8/cron.8.html,
https://manpages.ubuntu.com/manpages/jammy/man8/dnsmasq.8.html, https://manpages.ubuntu.com/manpages/jammy/man8/automount.8.html,
https://docs.docker.com/reference/cli/dockerd/, https://github.com/containerd/containerd/blob/main/docs/ops.md,
https://github.com/prometheus/node_exporter and https://github.com/NVIDIA/dcgm-exporter (as of 2026-12-01)
"""

from __future__ import annotations

from collections.abc import Mapping

FOREGROUND: Mapping[str, tuple[str, ...]] = {
    "automount": ("-f", "--foreground"),
    "chronyd": ("-d", "-n"),
    "cron": ("-f",),
    "dnsmasq": ("-d", "-k", "--keep-in-foreground", "--no-daemon"),
    "munged": ("-F", "--foreground"),
    "rsyslogd": ("-n",),
    "slurmctld": ("-D", "--systemd"),
    "slurmd": ("-D", "--systemd"),
    "slurmdbd": ("-D", "--systemd"),
    "sshd": ("-D", "-d"),
}
"""Programs that leave the foreground without one of these options."""
ALWAYS_THERE = (
    *("alertmanager", "containerd", "dcgm-exporter", "dockerd", "etcd", "kubelet", "node_exporter", "prometheus"),
    *("prometheus-slurm-exporter", "slurm_exporter", "sleep", "slurmrestd", "tail"),
)
"""Programs that never leave it."""
