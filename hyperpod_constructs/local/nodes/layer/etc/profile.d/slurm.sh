PATH=/opt/slurm/bin:/opt/slurm/sbin:$PATH
