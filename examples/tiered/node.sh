#!/usr/bin/env bash
# One per node, started by srun: node.sh NODES SCRIPT ARGUMENTS... The memory of the node, and torchrun.
set -euo pipefail
source "$EXAMPLES/common/slurm.sh"
source "$EXAMPLES/common/task.sh"

until is_over; do
    "$PYTHON" "$EXAMPLES/tiered/memory_agent.py" || sleep 1
done &
memory=$!
trap 'kill "$memory" 2>/dev/null || true' EXIT
bash "$EXAMPLES/common/torchrun.sh" "$@"
