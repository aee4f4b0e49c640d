#!/usr/bin/env bash
# One process of the job array, started by srun: its share of the prompts follows from its task and its place on the node.
set -euo pipefail

share=$(((SLURM_ARRAY_TASK_ID - SLURM_ARRAY_TASK_MIN) * RANKS + SLURM_PROCID))
read -ra extra <<<"${ARGUMENTS:-}"
export LOCAL_RANK=$SLURM_LOCALID
exec "$PYTHON" "$EXAMPLES/lz_penalty/generate.py" --prompts "$PROMPTS" --results "$RUN_DIR/results" \
    --share "$share" --shares "$((SLURM_ARRAY_TASK_COUNT * RANKS))" --model "$MODEL" --new-tokens "$NEW_TOKENS" \
    --batch "$BATCH" --strength "$STRENGTH" ${CHECKPOINT_DIR:+--checkpoint-directory "$CHECKPOINT_DIR"} "${extra[@]}"
