"""moto's modules import each other in circles: two threads that load it at once both fail, on a slow machine only."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

from tests.patience import PATIENCE

ROOT = Path(__file__).parents[2]
PROGRAM = """
import sys
from hyperpod_constructs.local import managed_policies
from hyperpod_constructs.local.aws_service import Caller
from hyperpod_constructs.local.ec2.service import Ec2

ec2, unguarded = Ec2(lambda: Caller("000000000000", "us-west-2", "http://127.0.0.1")), []

def watch(event, arguments):
    if event == "import" and arguments[0].startswith("moto") and not ec2._lock.locked():
        unguarded.append(arguments[0])

sys.addaudithook(watch)
assert managed_policies.documents()
for step in sys.argv[1:]:
    {
        "load": ec2.load,
        "reset": ec2.reset,
        "answer": lambda: ec2.answer(("POST", "/", {}, b"Action=DescribeVpcs&Version=2016-11-15", {})),
    }[step]()
print(unguarded, "moto.core" in sys.modules)
"""


def test_one_lock_guards_each_import_of_moto() -> None:
    for steps in (["reset", "load"], ["answer"]):
        done = subprocess.run([sys.executable, "-c", PROGRAM, *steps], cwd=ROOT, capture_output=True, text=True, timeout=PATIENCE)  # noqa: S603
        assert done.stdout.strip() == "[] True", (steps, done.stdout, done.stderr)
