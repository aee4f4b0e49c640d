"""Programs and units that nodes have with one orchestrator only: those of Slurm, and those of Kubernetes' nodes.

Sources: https://slurm.schedmd.com/man_index.html, https://docs.aws.amazon.com/eks/latest/userguide/eks-optimized-ami.html,
https://awslabs.github.io/amazon-eks-ami/nodeadm/ and
https://docs.aws.amazon.com/sagemaker/latest/dg/sagemaker-hyperpod-eks.html (as of 2026-12-01)
"""

from __future__ import annotations

from collections.abc import Mapping

_SLURM = (
    *("sacct", "sacctmgr", "salloc", "sattach", "sbatch", "sbcast", "scancel", "scontrol", "scrontab", "scrun", "sdiag", "sh5util"),
    *("sinfo", "sprio", "squeue", "sreport", "srun", "sshare", "sstat", "strigger", "sview"),
)
_DAEMONS = ("sackd", "slurmctld", "slurmd", "slurmdbd", "slurmrestd", "slurmstepd")
_KUBERNETES = ("kubelet", "nodeadm")

SLURM, KUBERNETES = "Slurm", "Kubernetes"
PROGRAMS: Mapping[str, tuple[str, ...]] = {SLURM: (*_SLURM, *_DAEMONS), KUBERNETES: _KUBERNETES}
"""The programs of each orchestrator."""
UNITS: Mapping[str, tuple[str, ...]] = {
    SLURM: tuple(one for one in _DAEMONS if one != "slurmstepd"),
    KUBERNETES: ("kubelet", "nodeadm-config", "nodeadm-run"),
}
"""The units of systemd of each orchestrator."""
WORDS: Mapping[str, tuple[str, ...]] = {
    SLURM: ("slurm", "munge"),
    KUBERNETES: ("kubelet", "nodeadm", "kubeadm", "kubernetes", "k8s"),
}
"""What stands in commands that bring the programs of an orchestrator, or ask for them."""

STARTING = ("enable", "isolate", "reload", "reload-or-restart", "restart", "start", "stop", "try-reload-or-restart")
"""Commands of `systemctl` that fail for a unit that is not there.

Source: https://www.freedesktop.org/software/systemd/man/latest/systemctl.html (as of 2026-12-01)
"""
