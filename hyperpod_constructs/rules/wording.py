"""A finding in words, the same wherever it is printed."""

from __future__ import annotations

from hyperpod_constructs.rules.finding import Finding
from hyperpod_constructs.rules.rule import CATALOGUE


def described(finding: Finding) -> str:
    """What is wrong, what may stand there if that is not said already, and what happens otherwise."""
    rule = CATALOGUE.get(finding.rule)
    parts = [finding.message]
    if finding.allowed and finding.allowed not in finding.message:
        parts.append(f"allowed: {finding.allowed}")
    if rule is not None and not finding.fatal:
        parts.append(rule.why)
    return "; ".join(part.rstrip(".") for part in parts)
