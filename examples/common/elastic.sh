# shellcheck shell=bash
# Sourced by elastic batch scripts, after supervise.sh: the job gives nodes to work that comes before it, and takes idle ones.

# run_elastic COMMAND...: keep one agent on every node of the job, as a step of its own, until the job is complete. Fails if an agent
# has given up. The job has MIN_NODES to MAX_NODES nodes.
run_elastic() {
    local -A agents=()
    local nodes node count paused=0
    until is_over; do
        if nodes=$(job_nodes); then
            for node in "${!agents[@]}"; do
                kill -0 "${agents[$node]}" 2>/dev/null && continue
                wait "${agents[$node]}" || return 1
                unset "agents[$node]"
            done
            for node in $nodes; do
                [[ -n ${agents[$node]:-} ]] && continue
                ELASTIC=yes supervise "agent-$node" "$node" "$@" &
                agents[$node]=$!
            done
            count=$(wc --lines <<<"$nodes")
            if [[ -e $(pause_file) ]]; then
                # New nodes: their agents end the pause, unless they cannot start.
                ((SECONDS - paused < ${GROW_SECONDS:-600})) || resume_ranks
            elif give_nodes "$count" "$(nodes_in_demand "$count")" || take_nodes "$count"; then
                paused=$SECONDS
                continue
            fi
        fi
        sleep "${POLL_SECONDS:-15}"
    done
    wait
}

# The number of nodes to give: waiting jobs of a higher priority get what the idle nodes lack, in their order, as long as the job keeps
# MIN_NODES of its own. Nothing is given for a job that would wait nevertheless.
nodes_in_demand() {
    local own idle
    if ! own=$(squeue --noheader --jobs="$SLURM_JOB_ID" --format=%Q) || ! idle=$(idle_nodes); then
        echo 0
        return
    fi
    waiting_jobs | sort --key=1,1 --numeric-sort --reverse | awk -v own="$own" -v idle="$idle" -v spare="$(($1 - MIN_NODES))" '
        $1 > own { if (needed + $2 > idle + spare) exit; needed += $2 }
        END { print (needed > idle ? needed - idle : 0) }'
}

# Priority and nodes of each job that waits for nodes such as this job's, in whatever partition.
waiting_jobs() {
    local partitions
    partitions=$(sinfo --noheader --nodes="$(job_nodes | joined)" --format=%R | sort --unique | joined)
    squeue --noheader --states=PENDING --partition="$partitions" --format='%Q %D %r' | awk '$3 ~ /^(None|Resources|Priority)$/ { print $1, $2 }'
}

idle_nodes() {
    sinfo --noheader --partition="$SLURM_JOB_PARTITION" --states=idle --Node --format=%N | sort --unique | wc --lines
}

# give_nodes COUNT NUMBER: save, and give this number of the job's nodes away, never the batch host. Fails if none is given.
give_nodes() {
    local kept
    (($2 > 0)) && pause_ranks || return 1
    echo "$2 of $1 nodes are given to work of a higher priority" >&2
    kept=$(job_nodes | awk -v host="$(batch_host)" -v others="$(($1 - $2 - 1))" '$0 == host || found++ < others' | joined)
    update_job "$SLURM_JOB_ID" "NodeList=$kept" || true
    resume_ranks
}

# take_nodes COUNT: take idle nodes up to MAX_NODES, unless somebody waits. Their agents make all meet in a larger world. Fails if none
# is taken.
take_nodes() {
    local idle wanted extra
    (($1 < MAX_NODES)) && [[ -z $(waiting_jobs) ]] && idle=$(idle_nodes) || return 1
    wanted=$((MAX_NODES - $1 < idle ? MAX_NODES - $1 : idle))
    ((wanted > 0)) && extra=$(allocate "$wanted" --immediate=10) || return 1
    if pause_ranks && merge "$extra" && has_more_than "$1"; then
        echo "$wanted idle nodes are taken" >&2
        return 0
    fi
    scancel "$extra"
    resume_ranks
    return 1
}

# merge JOB: move the nodes of a second job into this one. An answer that does not come in time says nothing: look at the nodes.
merge() {
    update_job "$1" NumNodes=0 || true
    update_job "$SLURM_JOB_ID" NumNodes=ALL || true
}

# has_more_than COUNT: whether the job has more nodes than so many, asked until slurmctld answers. Ranks that went on before would not
# have saved when the agents of new nodes join them.
has_more_than() {
    local nodes
    until nodes=$(job_nodes); do
        is_over && return 1
        sleep "${RESTART_SECONDS:-1}"
    done
    (($(wc --lines <<<"$nodes") > $1))
}

# Ask the ranks to save and to wait. Fails if they do not answer. A world that has just begun has ended an earlier pause, so the request
# is repeated.
pause_ranks() {
    local deadline=$((SECONDS + ${SAVE_SECONDS:-200}))
    rm -f "$(pause_file).done"
    until [[ -e $(pause_file).done ]]; do
        if is_over || ((SECONDS > deadline)); then
            resume_ranks
            return 1
        fi
        touch "$(pause_file)"
        sleep "${RESTART_SECONDS:-1}"
    done
}

# The ranks that wait end, and their agents start them again in the new world.
resume_ranks() {
    rm -f "$(pause_file)"
}

pause_file() {
    echo "$RUN_DIR/pause-$SLURM_JOB_ID-${SLURM_RESTART_COUNT:-0}"
}

joined() {
    paste --serial --delimiters=, -
}

# scontrol leaves scripts with the new size in the directory where it runs.
update_job() (
    folder=$(mktemp --directory)
    trap 'rm -rf "$folder"' EXIT
    cd "$folder" && scontrol update JobId="$1" "$2" >&2
)
