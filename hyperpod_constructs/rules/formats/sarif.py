"""Findings as SARIF 2.1.0, for code scanning and editors.

https://docs.oasis-open.org/sarif/sarif/v2.1.0/sarif-v2.1.0.html
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from importlib import metadata
from typing import Any

from hyperpod_constructs.rules.checking import load_catalogue
from hyperpod_constructs.rules.finding import Finding
from hyperpod_constructs.rules.formats.lines import Line, Lines
from hyperpod_constructs.rules.rule import Rule
from hyperpod_constructs.templates.model import Model

_SCHEMA = "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json"
_PACKAGE = "hyperpod-constructs"


def render(findings: Sequence[Finding], model: Model) -> str:
    """A log with one run: all rules of the catalogue, and a result for each finding."""
    rules = sorted(load_catalogue().values(), key=lambda rule: rule.id)
    positions = {rule.id: position for position, rule in enumerate(rules)}
    lines = Lines(model)
    driver = {"name": _PACKAGE, "version": metadata.version(_PACKAGE), "rules": [_rule(rule) for rule in rules]}
    results = [_result(finding, positions, lines.of(finding)) for finding in findings]
    log = {"$schema": _SCHEMA, "version": "2.1.0", "runs": [{"tool": {"driver": driver}, "results": results}]}
    return json.dumps(log, indent=2)


def _rule(rule: Rule) -> dict[str, Any]:
    return {
        "id": rule.id,
        **({"deprecatedIds": list(rule.aliases)} if rule.aliases else {}),
        "shortDescription": {"text": rule.title},
        "fullDescription": {"text": rule.why},
        "help": {"text": rule.fix},
        **({"helpUri": rule.source} if rule.source.startswith("https://") else {}),
        "defaultConfiguration": {"level": str(rule.level)},
    }


def _result(finding: Finding, positions: dict[str, int], line: Line | None) -> dict[str, Any]:
    return {
        "ruleId": finding.rule,
        **({"ruleIndex": positions[finding.rule]} if finding.rule in positions else {}),
        "level": str(finding.level),
        "message": {"text": f"{finding.described()}. Fix: {finding.fix}"},
        "properties": {"why": finding.why},
        "locations": [_location(finding, line)],
        "partialFingerprints": {"resource/v1": "/".join([finding.template, finding.resource, finding.path])},
    }


def _location(finding: Finding, line: Line | None) -> dict[str, Any]:
    names = [finding.template, finding.construct or finding.resource, *([finding.path] if finding.path else [])]
    logical = {"name": finding.resource, "fullyQualifiedName": ":".join(names), "kind": "resource"}
    location: dict[str, Any] = {"logicalLocations": [logical]}
    if line is not None:
        location["physicalLocation"] = {"artifactLocation": {"uri": line.uri}, "region": {"startLine": line.number}}
    return location
