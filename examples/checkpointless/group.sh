#!/usr/bin/env bash
# One per rank of a group, started by srun: group.sh ARGUMENTS...
set -euo pipefail
source "$EXAMPLES/common/slurm.sh"
source "$EXAMPLES/common/task.sh"
export RUST_LOG="${RUST_LOG:-warn}"
exec "$PYTHON" "$EXAMPLES/checkpointless/train_checkpointless.py" --collective-seconds "${COLLECTIVE_SECONDS:-60}" "$@"
