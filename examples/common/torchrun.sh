#!/usr/bin/env bash
# One per node, started by srun: torchrun.sh NODES SCRIPT ARGUMENTS...
set -euo pipefail
source "$EXAMPLES/common/slurm.sh"
source "$EXAMPLES/common/task.sh"

nodes=$1
shift
on_host=false
if [[ $ADDRESS == "$RENDEZVOUS_ADDRESS" ]]; then
    on_host=true
fi
exec "$PYTHON" -m torch.distributed.run \
    --nnodes="$nodes" --nproc-per-node="$RANKS" --max-restarts="${MAX_RESTARTS:-3}" \
    --rdzv-backend=c10d --rdzv-endpoint="$RENDEZVOUS_ADDRESS:$RENDEZVOUS_PORT" --rdzv-id="$SLURM_JOB_ID-${SLURM_RESTART_COUNT:-0}-${ATTEMPT:-1}" \
    --rdzv-conf="is_host=$on_host,last_call_timeout=${LAST_CALL_SECONDS:-30},keep_alive_interval=${KEEP_ALIVE_SECONDS:-5},join_timeout=${JOIN_SECONDS:-600}" \
    --local-addr="$ADDRESS" \
    "$@"
