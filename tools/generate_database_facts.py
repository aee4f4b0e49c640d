"""Writes `hyperpod_constructs/facts/databases.tsv`: versions and instance classes of the engines of RDS, versions of Valkey.

The source is cfn-lint (MIT-0), which reads what RDS offers in each region; a class counts if one region has it.

    python tools/generate_database_facts.py           # writes the facts
    python tools/generate_database_facts.py --check   # exits 1 if the facts are stale
"""

from __future__ import annotations

import sys
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from tools.generate_update_facts import CFN_LINT_VERSION, FACTS, check_version, package, read, write_or_check

TABLE = FACTS.with_name("databases.tsv")
CACHES = ("valkey",)
ENGINES = ("aurora-mysql", "aurora-postgresql", "mariadb", "mysql", "postgres")


def render() -> dict[Path, str]:
    """The table by its file."""
    check_version()
    extensions = package("cfnlint") / "data" / "schemas" / "extensions"
    folder, caches = extensions / "aws_rds_dbinstance", extensions / "aws_elasticache_cachecluster"
    versions, classes = _of_engine((*_versions(folder), *_versions(caches))), _of_engine(_classes(folder))
    lines = (
        f"# Engines of RDS, and Valkey, with versions and instance classes, as cfn-lint {CFN_LINT_VERSION} knows them (MIT-0).",
        "# tools/generate_database_facts.py writes this file: engine, versions, families of classes with their sizes.",
        *(
            f"{engine}\t{' '.join(sorted(versions[engine]))}\t{' '.join(_families(classes[engine]))}"
            for engine in (*ENGINES, *CACHES)
        ),
    )
    return {TABLE: "\n".join(lines) + "\n"}


def _of_engine(pairs: Iterable[tuple[str, Iterable[str]]]) -> Mapping[str, set[str]]:
    found: dict[str, set[str]] = defaultdict(set)
    for engine, words in pairs:
        found[engine].update(words)
    return found


def _versions(folder: Path) -> Iterator[tuple[str, Iterable[str]]]:
    for branch in read(folder / "engine_version.json")["allOf"]:
        yield _engine(branch), branch["then"]["properties"].get("EngineVersion", {}).get("enum", ())


def _classes(folder: Path) -> Iterator[tuple[str, Iterable[str]]]:
    for region in read(folder / "dbinstanceclass_enum.json").values():
        for branch in region["allOf"]:
            yield _engine(branch), branch["then"]["properties"]["DBInstanceClass"]["enum"]


def _engine(branch: Mapping[str, Any]) -> str:
    return str(branch["if"]["properties"]["Engine"].get("const", ""))


def _families(classes: Iterable[str]) -> Iterator[str]:
    sizes: dict[str, list[str]] = defaultdict(list)
    for name in sorted(classes):
        family, _, size = name.removeprefix("db.").partition(".")
        sizes[family] += [size] if size else []
    return (f"{family}:{','.join(found)}" for family, found in sizes.items())


def main(arguments: Sequence[str] | None = None) -> int:
    """The command line; gives its exit code."""
    return write_or_check(render, str(__doc__), Path(__file__), arguments)


if __name__ == "__main__":
    sys.exit(main())
