"""`hyperpod nodes` of the benchmark: what it loads, which costs most of its time, and that both programs list all nodes."""

from __future__ import annotations

import subprocess
import sys

from bench import children, operate

LOADED = """
import sys
from hyperpod_constructs.cli.main import main
try:
    main()
finally:
    print(*sorted(name for name in sys.modules if "." not in name), file=sys.stderr)
"""


def test_both_programs_list_all_nodes() -> None:
    measured = operate.compare(1)
    assert min(cost.processor for cost in (*measured.subject, *measured.base)) > 0


def test_in_a_pipe_it_loads_neither_boto3_nor_rich() -> None:
    with operate.service() as url:
        command = [sys.executable, "-c", LOADED, *operate.arguments(url)]
        done = subprocess.run(command, env=operate.variables(), cwd=children.ROOT, capture_output=True, text=True, check=True)  # noqa: S603
    loaded = set(done.stderr.splitlines()[-1].split())
    assert len(done.stdout.splitlines()) == operate.NODES + 1
    assert "botocore" in loaded
    assert loaded & {"aws_cdk", "boto3", "jsii", "rich", "s3transfer"} == set(), done.stderr
