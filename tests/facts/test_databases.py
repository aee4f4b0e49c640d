"""Engines of RDS: the table is not stale, and versions and classes are told from others."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from hyperpod_constructs.facts.databases import engine_of, family_of, foreign_parameter

ROOT = Path(__file__).parents[2]


def test_the_table_is_what_the_generator_makes() -> None:
    command = [sys.executable, str(ROOT / "tools" / "generate_database_facts.py"), "--check"]
    assert subprocess.run(command, check=False).returncode == 0  # noqa: S603


@pytest.mark.parametrize(
    ("engine", "version", "answer"),
    [
        ("mysql", "8.4", True),
        ("mysql", "8.4.2", False),
        ("mysql", "8.4.13", None),
        ("mysql", "8.4.99", False),
        ("aurora-mysql", "8.0.43", False),
        ("aurora-mysql", "8.0.mysql_aurora.3.08.2", True),
        ("postgres", "19.1", None),
    ],
)
def test_versions(engine: str, version: str, answer: bool | None) -> None:
    found = engine_of(engine)
    assert found is not None
    assert found.has_version(version) is answer


@pytest.mark.parametrize(
    ("name", "answer"), [("db.serverless", True), ("db.t3.micro", False), ("db.m6g.large", False), ("db.z9.large", None)]
)
def test_classes_of_aurora(name: str, answer: bool | None) -> None:
    found = engine_of("aurora-mysql")
    assert found is not None
    assert found.has_class(name) is answer


def test_families() -> None:
    assert family_of("aurora-mysql", "8.0.mysql_aurora.3.08.2") == "aurora-mysql8.0"
    assert family_of("postgres", "16.4") == "postgres16"
    assert family_of("mysql", "8") is None


@pytest.mark.parametrize(
    ("family", "name", "engine"),
    [
        ("postgres16", "sql_mode", "MySQL"),
        ("postgres16", "transaction_isolation", None),
        ("postgres16", "max_connections", None),
        ("mysql8.0", "shared_buffers", "PostgreSQL"),
        ("mysql8.0", "transaction_isolation", None),
    ],
)
def test_parameters_of_the_other_engine(family: str, name: str, engine: str | None) -> None:
    assert foreign_parameter(family, name) == engine
