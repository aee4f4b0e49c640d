"""Join the results of all tasks: one line for each prompt, in the order of the prompts. A prompt without a result is an error."""

from __future__ import annotations

import argparse
import json
import sys
from pathlib import Path

from common.files import write_atomically
from lz_penalty.prompts import read_prompts, read_results


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--prompts", type=Path, required=True)
    parser.add_argument("--results", type=Path, required=True)
    parser.add_argument("--output", type=Path, required=True)
    given = parser.parse_args()
    prompts = read_prompts(given.prompts, sys.maxsize)
    results = read_results(given.results)
    missing = [name for name in prompts if name not in results]
    if missing:
        raise SystemExit(
            f"{given.results}: {len(missing)} of {len(prompts)} prompts have no result, the first is {missing[0]}; "
            "submit the job again with the same RUN_DIR, and it does only these"
        )
    write_atomically(given.output, "".join(json.dumps(results[name]) + "\n" for name in prompts))
    print(f"{given.output}: {len(prompts)} results")  # noqa: T201


if __name__ == "__main__":
    main()
