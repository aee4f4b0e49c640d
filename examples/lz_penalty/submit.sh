#!/usr/bin/env bash
# Submit the job array and, behind it, the job that gathers the results. Options are those of sbatch for the array:
#   PROMPTS=/fsx/prompts.jsonl bash lz_penalty/submit.sh --array=0-31
set -euo pipefail
EXAMPLES=${EXAMPLES:-$PWD}
RUN_DIR=${RUN_DIR:-$PWD/runs/lz_penalty}
export EXAMPLES RUN_DIR
: "${PROMPTS:?the file with the prompts}"
mkdir -p "$RUN_DIR"

array=$(sbatch --parsable "$@" "$EXAMPLES/lz_penalty/lz_penalty.sbatch")
gather=$(printf "%q " env PYTHONPATH="$EXAMPLES" "${PYTHON:-python3}" "$EXAMPLES/lz_penalty/gather.py" \
    --prompts "$PROMPTS" --results "$RUN_DIR/results" --output "$RUN_DIR/results.jsonl")
sbatch --parsable --job-name=gather --dependency="afterok:$array" --kill-on-invalid-dep=yes \
    --output="$RUN_DIR/gather.out" --wrap="$gather" >/dev/null
echo "$array"
