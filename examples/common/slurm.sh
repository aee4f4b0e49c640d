# shellcheck shell=bash
# Sourced by the batch scripts: their common functions.

# prepare MODULE...: the variables that every batch script exports or leaves to these defaults. Without a module, the job fails at once.
prepare() {
    export PYTHON="${PYTHON:-python3}"
    require_modules "$@"
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

# A task without one of its modules would fail, and be started again in vain.
require_modules() {
    "$PYTHON" -c '
import importlib.util, sys
missing = [name for name in sys.argv[1:] if importlib.util.find_spec(name) is None]
sys.exit(f"{sys.executable} has no module {missing}: install examples/requirements.txt, and name its Python in PYTHON" if missing else 0)
' "$@"
}

# The secret of a run, which its ports ask for. All jobs of the run have the same, also after a requeue; only the user can read it.
job_token() {
    local file=$RUN_DIR/.token partial
    if [[ ! -e $file ]]; then
        partial=$(mktemp "$file.XXXXXX")
        od -An -N32 -tx1 /dev/urandom | tr -d ' \n' >"$partial"
        ln "$partial" "$file" 2>/dev/null || true # of two jobs at once, the first
        rm "$partial"
    fi
    if [[ ! -O $file || -L $file ]]; then
        echo "$file: not a file of $(id -un); take a RUN_DIR that nobody else can write to" >&2
        return 1
    fi
    JOB_TOKEN=$(<"$file")
    export JOB_TOKEN
}

# Arguments of every training script; the user's ARGUMENTS come last and win.
training_arguments() {
    local -a extra
    read -ra extra <<<"${ARGUMENTS:-}"
    printf '%s\n' --run-directory "$RUN_DIR" --checkpoint-directory "$CHECKPOINT_DIR" --data "$DATA" --steps "$STEPS" \
        --model "${MODEL:-large}" --global-batch "${GLOBAL_BATCH:-64}" --micro-batch "${MICRO_BATCH:-4}" \
        --checkpoint-every "${CHECKPOINT_EVERY:-100}" "${extra[@]}"
}

# HyperPod's srun replaces a failed node and starts the step again; other versions of srun do not know the option.
auto_resume() {
    if [[ -d /opt/sagemaker_cluster ]]; then
        echo --auto-resume=1
    fi
}

# The address of a node, without a name service if Slurm or the name itself tells it.
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

# The first nodes of the job, one per line.
first_nodes() {
    scontrol show hostnames "$SLURM_JOB_NODELIST"
}

# The current nodes of the job. Fails if slurmctld does not answer, because a missing node then proves nothing.
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

# Slurm sends SIGUSR1 to this shell before the time limit (--signal=B:USR1@300). The ranks save and requeue the job. If they wait for a
# lost peer and cannot save, the job goes back to the queue with its last checkpoint.
on_time_limit() {
    interrupted=yes
    scancel --signal=USR1 "$SLURM_JOB_ID" || true
    (
        sleep "${SAVE_SECONDS:-200}"
        is_over || scontrol requeue "$SLURM_JOB_ID"
    ) &
}

# `wait` for a process, even if the signal interrupts it.
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

# With --no-kill, a job without its batch host waits for ever: its script is gone, and Slurm still sees other nodes at work. So a step on
# another node watches this script's pulse and puts the job back into the queue if it stops.
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

# Whether all steps are committed, or the ranks have saved and asked for the requeue.
is_over() {
    [[ -e $COMPLETE || -e $RUN_DIR/stopped-$SLURM_JOB_ID-${SLURM_RESTART_COUNT:-0} ]]
}

# Run one step over all nodes and repeat it after a failure. The exit status of srun proves nothing: it can be 0 after the loss of a node.
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
