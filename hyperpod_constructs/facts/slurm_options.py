"""The options of `sbatch` and `slurmd`, and those of `srun` alone (as of 2026-11-30).

Plugins may add further options to `sbatch` and `srun`, as `--auto-resume` of HyperPod and `--container-image` of Pyxis.

Sources: https://slurm.schedmd.com/sbatch.html, https://slurm.schedmd.com/srun.html, https://slurm.schedmd.com/slurmd.html and
https://docs.aws.amazon.com/sagemaker/latest/dg/sagemaker-hyperpod-resiliency-slurm-auto-resume.html
"""

from __future__ import annotations

from collections.abc import Mapping


def _names(text: str) -> list[str]:
    return text.split()


SHORT: Mapping[str, str] = {
    "A": "account",
    "B": "extra-node-info",
    "C": "constraint",
    "D": "chdir",
    "F": "nodefile",
    "G": "gpus",
    "H": "hold",
    "J": "job-name",
    "L": "licenses",
    "M": "clusters",
    "N": "nodes",
    "O": "overcommit",
    "Q": "quiet",
    "S": "core-spec",
    "V": "version",
    "W": "wait",
    "a": "array",
    "b": "begin",
    "c": "cpus-per-task",
    "d": "dependency",
    "e": "error",
    "h": "help",
    "i": "input",
    "k": "no-kill",
    "m": "distribution",
    "n": "ntasks",
    "o": "output",
    "p": "partition",
    "q": "qos",
    "s": "oversubscribe",
    "t": "time",
    "v": "verbose",
    "w": "nodelist",
    "x": "exclude",
}
"""The options of `sbatch` with a letter."""

SBATCH = frozenset(SHORT.values()) | frozenset(
    _names("""
    acctg-freq batch bb bbf cluster-constraint comment consolidate-segments container container-id contiguous cores-per-socket
    cpu-freq cpus-per-gpu deadline delay-boot exclusive export export-file extra get-user-env gid gpu-bind gpu-freq
    gpus-per-node gpus-per-socket gpus-per-task gres gres-flags hint ignore-pbs kill-on-invalid-dep mail-type mail-user
    mcs-label mem mem-bind mem-per-cpu mem-per-gpu mincpus network nice no-requeue ntasks-per-core ntasks-per-gpu
    ntasks-per-node ntasks-per-socket ntasks-per-tres oom-kill-step open-mode parsable power prefer priority profile propagate
    reboot requeue reservation resources resv-ports segment signal sockets-per-node spread-job spread-segments stepmgr switches
    tasks-per-node test-only thread-spec threads-per-core time-min tmp tres-bind tres-per-task uid usage use-min-nodes
    wait-all-nodes wckey wrap
""")
)
"""All options of `sbatch` with a word, those that its pages do not name too."""

WITHOUT_VALUE = frozenset(
    _names("""
    consolidate-segments contiguous exclusive get-user-env help hold ignore-pbs nice no-kill no-requeue oom-kill-step overcommit
    oversubscribe parsable propagate quiet reboot requeue resv-ports spread-job spread-segments stepmgr test-only usage
    use-min-nodes verbose version wait
""")
)
"""Options of `sbatch` that take no word behind them."""

AUTO_RESUME = "auto-resume"
OF_SRUN = frozenset(
    _names("""
    accel-bind auto-resume bcast bcast-exclude compress cpu-bind disable-status epilog exact interactive jobid kill-on-bad-exit
    label mpi msg-timeout multi-prog overlap preserve-env prolog pty quit-on-interrupt relative send-libs slurmd-debug
    task-epilog task-prolog unbuffered whole
""")
)
"""Options that `srun` has and `sbatch` does not."""

SLURMD = (
    *("authinfo", "ca-cert-file", "conf", "conf-server", "extra", "help", "instance-id", "instance-type", "parameters", "systemd"),
    *("usage", "version"),
)
"""The options of `slurmd` with a word."""

OF_TASKS = (
    *("HOME", "LOGNAME", "SLURM_LAUNCH_NODE_IPADDR", "SLURM_LOCALID", "SLURM_NODEID", "SLURM_NTASKS", "SLURM_PROCID"),
    *("SLURM_SUBMIT_DIR", "SLURM_SUBMIT_HOST", "SLURM_TASK_PID", "SLURM_TASKS_PER_NODE", "USER"),
)
"""Variables that tasks and batch scripts have, and prologs and epilogs of `slurmd` do not.

Source: https://slurm.schedmd.com/prolog_epilog.html (as of 2026-12-01)
"""
