"""The rules at every synthesis: a validation plug-in, which the constructs of this library register by themselves.

A finding is printed with its construct, its fix and its id, and is in ``validation-report.json``; an error fails the synthesis. To
accept one, say so with the reason on the construct, or on any above it::

    Validations.of(cluster).acknowledge(Acknowledgment(id="hyperpod::HP-NET-001", reason="..."))

Context keys:

==============================  ====================================================================================
``hyperpod:rules``              ``false`` switches the plug-in off: for a test of a part that is no deployable whole
``hyperpod:previous-template``  what is deployed, as the path of a template or an assembly, which is not the
                                output: a change that loses data fails, unless the permission is written on the
                                resource (``allow_data_loss``)
==============================  ====================================================================================
"""

from __future__ import annotations

import weakref
from importlib import metadata
from pathlib import Path
from typing import TYPE_CHECKING, cast

import jsii
from aws_cdk import (
    App,
    IPolicyValidationContext,
    IPolicyValidationPlugin,
    PolicyValidationPluginReport,
    PolicyViolatingResource,
    PolicyViolation,
    Validations,
)
from constructs import Construct, IConstruct

from hyperpod_constructs.rules.finding import Finding, Level
from hyperpod_constructs.rules.validation_report import PLUGIN
from hyperpod_constructs.rules.wording import described

if TYPE_CHECKING:
    from hyperpod_constructs.rules.template.model import Model

SWITCH, PREVIOUS = "hyperpod:rules", "hyperpod:previous-template"

_registered: weakref.WeakSet[IConstruct] = weakref.WeakSet()


def register_rules(scope: Construct) -> None:
    """Have the rules run when the app of a construct is synthesized: once for an app, and not where `hyperpod:rules` is false.

    :raises ValueError: if `hyperpod:rules` is neither true nor false.
    """
    switch = scope.node.try_get_context(SWITCH)
    if switch in (False, "false"):
        return
    if switch not in (None, True, "true"):
        raise ValueError(f"context {SWITCH} is {switch!r}; allowed: true, false")
    root = scope.node.root
    if App.is_app(root) and root not in _registered:
        _registered.add(root)
        Validations.of(root).add_plugins(RulesPlugin())


@jsii.implements(IPolicyValidationPlugin)
class RulesPlugin:
    """Every rule of the catalogue, on the whole assembly of an app: all stacks, in stages and nested too."""

    @property
    def name(self) -> str:
        """What an id to be acknowledged begins with."""
        return PLUGIN

    @property
    def version(self) -> str:
        """The version of this library."""
        return metadata.version("hyperpod-constructs")

    @property
    def rule_ids(self) -> list[str]:
        """The ids of the catalogue."""
        from hyperpod_constructs.rules.rule import load_catalogue

        return sorted(load_catalogue())

    def validate(self, context: IPolicyValidationContext) -> PolicyValidationPluginReport:
        """The findings on the app's templates.

        :raises TemplateError: if the previous template cannot be read, or is of none of the app's stacks.
        :raises ValueError: if it is what this synthesis wrote.
        """
        from hyperpod_constructs.rules.rule import check
        from hyperpod_constructs.rules.template.model import load

        app = context.app_construct
        assembly = Path(str(cast(App, App.of(app)).outdir))
        model = load([assembly])
        violations = [_violation(finding, model, str(finding.level)) for finding in check(model)]
        previous = app.node.try_get_context(PREVIOUS)
        if previous:
            # Only what is fatal cannot be acknowledged for a whole app: this permission belongs on the resource.
            lost = _lost(_elsewhere(Path(str(previous)), assembly), model)
            violations += [_violation(finding, model, "fatal") for finding in lost]
        harmless = all(violation.severity == str(Level.WARNING) for violation in violations)
        return PolicyValidationPluginReport(success=harmless, plugin_version=self.version, violations=violations)


def _lost(previous: Path, model: Model) -> list[Finding]:
    from hyperpod_constructs.rules.data_loss import data_loss_violations
    from hyperpod_constructs.rules.previous import previous_model

    return data_loss_violations(previous_model(previous, model), model)


def _violation(finding: Finding, model: Model, severity: str) -> PolicyViolation:
    files = {template.name: template.file for template in model.templates if finding.resource in template.by_id}
    file = files.get(finding.template)
    return PolicyViolation(
        rule_name=finding.rule,
        description=_placed(finding),
        severity=severity,
        fix=finding.fix,
        rule_metadata={"source": finding.source, "allowed": finding.allowed},
        violating_resources=[
            PolicyViolatingResource(
                resource_logical_id=finding.resource,
                construct_path=finding.construct,
                template_path=None if file is None else str(file),
                locations=[finding.path] if finding.path else [],
            )
        ],
    )


def _placed(finding: Finding) -> str:
    """The finding in words, after the property that it is about: CDK prints the construct, but not the property."""
    place = finding.path.removeprefix("Properties/")
    return f"{place}: {described(finding)}" if place else described(finding)


def _elsewhere(previous: Path, assembly: Path) -> Path:
    """The path, which must not be in the new assembly: that is written by now, and would be compared with itself."""
    if previous.resolve().is_relative_to(assembly.resolve()):
        raise ValueError(f"the previous template {previous} is what this synthesis has just written: copy what is deployed first")
    return previous
