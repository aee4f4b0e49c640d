# shellcheck shell=sh
PATH=/opt/slurm/bin:/opt/slurm/sbin:$PATH
