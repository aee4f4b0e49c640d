"""Refuses templates as CloudFormation does before it creates anything; the errors are cfn-lint's."""

from __future__ import annotations

import threading
from functools import cached_property, lru_cache
from typing import Any

from hyperpod_constructs.facts.governance import COMPUTE_QUOTA, SCHEDULER_CONFIG

SHOWN = 5
"""Errors of one template that the refusal lists."""
CLUSTER = "AWS::SageMaker::Cluster"
HOME = "us-east-1"
"""A region where every type is listed."""


class TemplateCheck:
    """Judges templates for one region; the verdict on a template is remembered. Thread-safe."""

    def __init__(self, region: str) -> None:
        self._region = region
        self._lock = threading.Lock()
        self._lint = lru_cache(maxsize=64)(self._lint_anew)

    def check(self, template: str) -> str | None:
        """None, or the message of the ValidationError with which the template is refused."""
        with self._lock:
            errors = self._lint(template)
        if not errors:
            return None
        shown = "; ".join(errors[:SHOWN])
        rest = f"; and {len(errors) - SHOWN} more" if len(errors) > SHOWN else ""
        return f"Template error: {shown}{rest}"

    def load(self) -> None:
        """Load the linter and its rules before the first template needs them."""
        self.check('{"Resources": {"Bucket": {"Type": "AWS::S3::Bucket"}}}')

    def _lint_anew(self, template: str) -> tuple[str, ...]:
        from cfnlint.decode.decode import decode_str  # type: ignore[import-untyped]

        decoded, found = decode_str(template)
        if not found and decoded is not None:
            found = self._runner.validate_template(decoded)
        return tuple(f"{_path(match)}: {match.message} ({match.rule.id})" for match in found)

    @cached_property
    def _runner(self) -> Any:
        """The linter with its rules: `cfnlint.api.lint` would make them again for each template, which takes half a second."""
        from cfnlint.config import ConfigMixIn, ManualArgs  # type: ignore[import-untyped]
        from cfnlint.runner import Runner  # type: ignore[import-untyped]
        from cfnlint.schema.manager import PROVIDER_SCHEMA_MANAGER  # type: ignore[import-untyped]

        _list_governance(PROVIDER_SCHEMA_MANAGER, self._region)
        return Runner(ConfigMixIn(**ManualArgs(regions=[self._region], ignore_checks=["W", "I"])))


def _path(match: Any) -> str:
    """The place of a finding; empty for a text that is no JSON or YAML."""
    return "/".join(str(part) for part in getattr(match, "path", None) or ())


def _list_governance(schemas: Any, region: str) -> None:
    """Add the types of task governance where clusters are: most regions' lists lack one of the two, which the service has there."""
    listed = schemas._load_provider_module(region)  # nothing public adds a type to a region
    if CLUSTER in listed:
        for name in (SCHEDULER_CONFIG, COMPUTE_QUOTA):
            listed.setdefault(name, schemas._load_provider_module(HOME)[name])
