# shellcheck shell=bash
# Sourced by the batch scripts: what they share.

# The variables that every batch script exports or leaves to these defaults.
prepare() {
    export PYTHON="${PYTHON:-python3}"
    export RUN_DIR="${RUN_DIR:-$SLURM_SUBMIT_DIR/runs/$SLURM_JOB_NAME}"
    export CHECKPOINT_DIR="${CHECKPOINT_DIR:-$RUN_DIR/checkpoints}"
    export DATA="${DATA:?the token file; write one with common/make_data.py, then: DATA=/fsx/tokens.npy sbatch ...}"
    export STEPS="${STEPS:-1000}"
    export PYTHONPATH="$EXAMPLES${PYTHONPATH:+:$PYTHONPATH}"
    export COMPLETE="$RUN_DIR/complete-$STEPS"
    mkdir -p "$RUN_DIR"
    set_environment
    RANKS=$(ranks_per_node)
    export RANKS
    trap on_time_limit USR1
}

# Arguments of every training script; what the user adds in ARGUMENTS comes last and wins.
training_arguments() {
    local -a extra
    read -ra extra <<<"${ARGUMENTS:-}"
    printf '%s\n' --run-directory "$RUN_DIR" --checkpoint-directory "$CHECKPOINT_DIR" --data "$DATA" --steps "$STEPS" \
        --model "${MODEL:-large}" --global-batch "${GLOBAL_BATCH:-64}" --micro-batch "${MICRO_BATCH:-4}" \
        --checkpoint-every "${CHECKPOINT_EVERY:-100}" "${extra[@]}"
}

# HyperPod's srun replaces a node that has failed and starts the step again; others do not know the option.
auto_resume() {
    if [[ -d /opt/sagemaker_cluster ]]; then
        echo --auto-resume=1
    fi
}

# The address of a node, which needs no name service where Slurm knows it or the name says it.
node_address() {
    local address
    address=$(scontrol show node "$1" | sed -n 's/.*NodeAddr=\([^ ]*\).*/\1/p')
    if [[ ! $address =~ ^[0-9.]+$ ]]; then
        address=$(getent ahostsv4 "${address:-$1}" | awk 'NR == 1 && $1 !~ /^127\./ { print $1 }') || true
    fi
    if [[ -z $address && $1 =~ ^ip-([0-9]+)-([0-9]+)-([0-9]+)-([0-9]+)$ ]]; then
        address="${BASH_REMATCH[1]}.${BASH_REMATCH[2]}.${BASH_REMATCH[3]}.${BASH_REMATCH[4]}"
    fi
    if [[ -z $address ]]; then
        echo "node $1: no address, neither in 'scontrol show node' nor by name" >&2
        return 1
    fi
    echo "$address"
}

# The nodes that the job began with, one a line.
first_nodes() {
    scontrol show hostnames "$SLURM_JOB_NODELIST"
}

# The nodes that the job has now. Fails when slurmctld does not answer: that a node is missing then says nothing.
job_nodes() {
    local listed
    listed=$(squeue --noheader --jobs "$SLURM_JOB_ID" --format %N) && [[ -n $listed ]] && scontrol show hostnames "$listed"
}

batch_host() {
    echo "${SLURMD_NODENAME:-$(first_nodes | head -n 1)}"
}

batch_address() {
    node_address "$(batch_host)"
}

# A port that jobs on the same nodes do not share: job_port BASE.
job_port() {
    echo $(($1 + SLURM_JOB_ID % 1000))
}

# Slurm sends SIGUSR1 to this shell before the time limit (--signal=B:USR1@300). The ranks save and requeue the job; if they cannot,
# since they wait for a lost peer, it goes back to the queue with its last checkpoint.
on_time_limit() {
    interrupted=yes
    scancel --signal=USR1 "$SLURM_JOB_ID" || true
    (
        sleep "${SAVE_SECONDS:-200}"
        is_over || scontrol requeue "$SLURM_JOB_ID"
    ) &
}

# `wait` for a process, through the signal.
wait_for() {
    local status last=0
    while :; do
        interrupted=
        status=0
        wait "$1" || status=$?
        if [[ $status -eq 127 ]]; then
            return "$last"
        fi
        last=$status
        [[ -n $interrupted ]] || return "$last"
    done
}

# The batch host is the one node whose loss --no-kill turns into a job that waits for ever: its script is gone, and Slurm sees other nodes
# at work. So a step on another node watches this script's pulse and puts the job back into the queue when it stops.
guard_batch_host() {
    local node beat=0
    (
        until is_over; do
            echo $((beat += 1)) >"$(pulse_file)" || true
            sleep "${PULSE_SECONDS:-5}"
        done
        rm -f "$(pulse_file)"
    ) &
    until is_over; do
        node=$(job_nodes | grep -vxm 1 "$(batch_host)") || true
        if [[ -n $node ]]; then
            srun --overlap --nodes=1 --ntasks=1 --nodelist="$node" --job-name=guard bash "$EXAMPLES/common/guard.sh" || true
        fi
        sleep "${PULSE_SECONDS:-5}"
    done
}

pulse_file() {
    echo "$RUN_DIR/.pulse-$SLURM_JOB_ID-${SLURM_RESTART_COUNT:-0}"
}

# All steps are committed, or the ranks have saved and asked for the requeue.
is_over() {
    [[ -e $COMPLETE || -e $RUN_DIR/stopped-$SLURM_JOB_ID-${SLURM_RESTART_COUNT:-0} ]]
}

# One step over all nodes, again if it fails; the exit status of srun alone is no proof, since it can be 0 when a node was lost.
run_until_complete() {
    local attempt nodes
    for ((attempt = 1; attempt <= ${ATTEMPTS:-3}; attempt++)); do
        export ATTEMPT=$attempt
        "$@" &
        wait_for $! || echo "attempt $attempt ended with status $?" >&2
        if is_over; then
            return 0
        fi
        if nodes=$(job_nodes) && (($(wc -l <<<"$nodes") < SLURM_JOB_NUM_NODES)); then
            echo "nodes were lost and not replaced: the job goes back to the queue" >&2
            scontrol requeue "$SLURM_JOB_ID"
            return 1
        fi
    done
    echo "not complete after ${ATTEMPTS:-3} attempts: see the messages above" >&2
    return 1
}
