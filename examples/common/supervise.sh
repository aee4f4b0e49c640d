# shellcheck shell=bash
# Sourced by batch scripts with a step of its own for each node or group; each step starts again when it ends.

# supervise NAME NODE COMMAND...: keep the command running as a step on the node until the job is complete. A failed node leaves the job
# (--no-kill); the supervisor requests another one in its place.
supervise() {
    local name=$1 node=$2 failures=0 started nodes replacement
    shift 2
    until is_over; do
        if ! nodes=$(job_nodes); then
            echo "$name on $node: slurmctld does not tell which nodes the job has, asked again" >&2
        elif grep -qx "$node" <<<"$nodes"; then
            started=$SECONDS
            srun --overlap --nodes=1 --ntasks="${TASKS:-1}" --nodelist="$node" --kill-on-bad-exit=1 --job-name="$name" "$@" || true
            is_over && return 0
            failures=$((SECONDS - started > 60 ? 1 : failures + 1))
            if ((failures > ${MAX_FAILURES:-20})); then
                echo "$name on $node: ended $failures times within a minute of its start, given up" >&2
                return 1
            fi
            echo "$name on $node: ended, started again" >&2
        elif [[ -n ${ELASTIC:-} ]]; then
            echo "$name: node $node has left the job" >&2
            return 0
        else
            echo "$name: node $node has left the job, another one is asked for" >&2
            replacement=$(regain_node) && node=$replacement
        fi
        sleep "${RESTART_SECONDS:-1}"
    done
}

# Slurm expands a job by merging a second job without steps into it (this needs SchedulerParameters=permit_job_expansion and accounting;
# HyperPod has both). One expansion at a time, so that the new node is easy to tell. Fails if there is no node; the second job is then
# cancelled, because it would block its node.
regain_node() (
    exec 9>"$RUN_DIR/.grow-$SLURM_JOB_ID"
    flock 9
    before=$(job_nodes) || return 1
    extra=$(allocate 1) || return 1
    scontrol update JobId="$extra" NumNodes=0 >&2 && scontrol update JobId="$SLURM_JOB_ID" NumNodes=ALL >&2
    until after=$(job_nodes) || is_over; do
        sleep "${RESTART_SECONDS:-1}"
    done
    grep -vxFm 1 "$before" <<<"$after" || ! scancel "$extra" >&2
)

# allocate NODES OPTION...: the number of a second job without steps that can be merged into this one.
allocate() {
    local nodes=$1 extra
    shift
    extra=$(salloc --no-shell --exclusive --nodes="$nodes" --partition="$SLURM_JOB_PARTITION" --dependency="expand:$SLURM_JOB_ID" \
        ${SLURM_JOB_QOS:+--qos="$SLURM_JOB_QOS"} ${SLURM_JOB_ACCOUNT:+--account="$SLURM_JOB_ACCOUNT"} "$@" 2>&1 |
        sed -n 's/.*Granted job allocation \([0-9]*\).*/\1/p')
    [[ -n $extra ]] && echo "$extra"
}

# Wait until the job is complete, or no supervisor is left. The end of the batch script ends what still runs.
await_complete() {
    local deadline
    while ! is_over && any_alive "$@"; do
        sleep 1 &
        wait_for $!
    done
    deadline=$((SECONDS + ${FINISH_SECONDS:-30}))
    while any_alive "$@" && ((SECONDS < deadline)); do
        sleep 1
    done
    is_over
}

any_alive() {
    local pid
    for pid in "$@"; do
        if kill -0 "$pid" 2>/dev/null; then
            return 0
        fi
    done
    return 1
}
