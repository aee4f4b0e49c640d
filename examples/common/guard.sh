#!/usr/bin/env bash
# Puts the job back into the queue if the batch host is lost. Runs as a step of its own on another node.
set -euo pipefail
source "$EXAMPLES/common/slurm.sh"
trap '' USR1 # meant for the ranks

pulse=
since=$SECONDS
until is_over; do
    last=$pulse
    pulse=$(cat "$(pulse_file)" 2>/dev/null) || true
    if [[ $pulse != "$last" ]]; then
        since=$SECONDS
    elif ((SECONDS - since > ${BATCH_HOST_SECONDS:-60})); then
        echo "the batch host has been silent for $((SECONDS - since)) s: the job goes back to the queue" >&2
        scontrol requeue "$SLURM_JOB_ID" && exit
        since=$SECONDS
    fi
    sleep "${PULSE_SECONDS:-5}"
done
