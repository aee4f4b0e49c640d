# shellcheck shell=bash
# Sourced at the start of a task: sets this node's address and network interface.

# Slurm signals every process of the step. Launchers would die of SIGUSR1, so they ignore it; the ranks handle it.
trap '' USR1

ADDRESS=$(node_address "$SLURMD_NODENAME")
interface=""
if command -v ip >/dev/null; then
    interface=$(ip -o -4 address show to "$ADDRESS/32" | awk 'NR == 1 { print $2 }')
fi
if [[ -n $interface ]]; then
    export GLOO_SOCKET_IFNAME="${GLOO_SOCKET_IFNAME:-$interface}" NCCL_SOCKET_IFNAME="${NCCL_SOCKET_IFNAME:-$interface}"
fi
export ADDRESS
