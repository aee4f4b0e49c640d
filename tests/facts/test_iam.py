"""The facts of IAM are those that their generator writes."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

from hyperpod_constructs.facts.role_users import role_users
from hyperpod_constructs.facts.schema import type_facts

ROOT = Path(__file__).parents[2]


def test_the_tables_are_current() -> None:
    command = [sys.executable, str(ROOT / "tools" / "generate_iam_facts.py"), "--check"]
    assert subprocess.run(command, check=False).returncode == 0  # noqa: S603


def test_roles_are_given_by_types_that_cloudformation_has() -> None:
    for one in role_users():
        assert one.type.startswith("Custom::") or type_facts(one.type) is not None, one.type
        assert one.service.endswith(".amazonaws.com")
        assert all(action.startswith("sts:") for action in one.actions)
