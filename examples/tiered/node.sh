#!/usr/bin/env bash
# One per node, started by srun: node.sh NODES SCRIPT ARGUMENTS... The memory of the node, and torchrun.
set -euo pipefail
source "$EXAMPLES/common/slurm.sh"
source "$EXAMPLES/common/task.sh"

# An agent that outlived its shell would keep the step, and with it the job, from ending.
hold_memory() {
    local agent
    trap 'kill "$agent"; exit' TERM
    until is_over; do
        "$PYTHON" "$EXAMPLES/tiered/memory_agent.py" &
        agent=$!
        wait "$agent" || sleep 1
    done
}

hold_memory &
memory=$!
trap 'kill "$memory" 2>/dev/null || true' EXIT
bash "$EXAMPLES/common/torchrun.sh" "$@"
