"""A finding in words, the same wherever it is printed."""

from __future__ import annotations

from hyperpod_constructs.rules.finding import Finding


def described(finding: Finding) -> str:
    """The mistake, the allowed values unless the message has them, and the harm."""
    allowed = f"allowed: {finding.allowed}" if finding.allowed and finding.allowed not in finding.message else ""
    return "; ".join(part.rstrip(".") for part in (finding.message, allowed, finding.why) if part)
