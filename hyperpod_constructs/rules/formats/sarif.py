"""Findings as SARIF 2.1.0, which code scanning and editors read.

https://docs.oasis-open.org/sarif/sarif/v2.1.0/sarif-v2.1.0.html
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from importlib import metadata
from typing import Any

from hyperpod_constructs.rules.finding import Finding
from hyperpod_constructs.rules.formats.places import Place, Places
from hyperpod_constructs.rules.rule import Rule, load_catalogue
from hyperpod_constructs.rules.template.model import Model
from hyperpod_constructs.rules.wording import described

SCHEMA = "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json"
_PACKAGE = "hyperpod-constructs"


def render(findings: Sequence[Finding], model: Model) -> str:
    """A log with one run: all rules of the catalogue, and a result for each finding."""
    rules = sorted(load_catalogue().values(), key=lambda rule: rule.id)
    positions = {rule.id: position for position, rule in enumerate(rules)}
    places = Places(model)
    driver = {"name": _PACKAGE, "version": metadata.version(_PACKAGE), "rules": [_rule(rule) for rule in rules]}
    results = [_result(finding, positions, places.of(finding)) for finding in findings]
    log = {"$schema": SCHEMA, "version": "2.1.0", "runs": [{"tool": {"driver": driver}, "results": results}]}
    return json.dumps(log, indent=2)


def _rule(rule: Rule) -> dict[str, Any]:
    return {
        "id": rule.id,
        "shortDescription": {"text": rule.title},
        "fullDescription": {"text": rule.why},
        "help": {"text": rule.fix},
        **({"helpUri": rule.source} if rule.source.startswith("https://") else {}),
        "defaultConfiguration": {"level": str(rule.level)},
    }


def _result(finding: Finding, positions: dict[str, int], place: Place | None) -> dict[str, Any]:
    return {
        "ruleId": finding.rule,
        **({"ruleIndex": positions[finding.rule]} if finding.rule in positions else {}),
        "level": str(finding.level),
        "message": {"text": f"{described(finding)}. Fix: {finding.fix}"},
        "locations": [_location(finding, place)],
        "partialFingerprints": {"resource/v1": "/".join([finding.template, finding.resource, finding.path])},
    }


def _location(finding: Finding, place: Place | None) -> dict[str, Any]:
    names = [finding.template, finding.construct or finding.resource, *([finding.path] if finding.path else [])]
    logical = {"name": finding.resource, "fullyQualifiedName": ":".join(names), "kind": "resource"}
    location: dict[str, Any] = {"logicalLocations": [logical]}
    if place is not None:
        location["physicalLocation"] = {"artifactLocation": {"uri": place.uri}, "region": {"startLine": place.line}}
    return location
