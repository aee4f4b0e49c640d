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
from collections.abc import Sequence
from dataclasses import replace
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

from hyperpod_constructs._printable import printable
from hyperpod_constructs.rules.failure import CHECKING, LOADING, PREVIOUS, REPORTING, UsageError, guarded
from hyperpod_constructs.rules.finding import Finding, Level
from hyperpod_constructs.rules.validation_report import PLUGIN
from hyperpod_constructs.rules.wording import described

if TYPE_CHECKING:
    from hyperpod_constructs.rules.template.model import Model

SWITCH, PREVIOUS_TEMPLATE = "hyperpod:rules", "hyperpod:previous-template"

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
        try:
            return metadata.version("hyperpod-constructs")
        except metadata.PackageNotFoundError:  # copied into another project, and not installed
            return "unknown"

    @property
    def rule_ids(self) -> list[str]:
        """The ids of the catalogue."""
        from hyperpod_constructs.rules.rule import load_catalogue

        return sorted(load_catalogue())

    def validate(self, context: IPolicyValidationContext) -> PolicyValidationPluginReport:
        """The findings on the app's templates; whatever goes wrong on the way is one too, for CDK ignores a plug-in that raises."""
        findings: list[Finding] = []
        models: list[Model] = []
        with guarded(LOADING, findings):
            models.append(_model(context))
        for model in models:
            with guarded(CHECKING, findings):
                findings += _findings(model)
            with guarded(PREVIOUS, findings):
                findings += _losses(context, model)
        violations = _violations(findings, models)
        harmless = all(violation.severity == str(Level.WARNING) for violation in violations)
        return PolicyValidationPluginReport(success=harmless, plugin_version=self.version, violations=violations)


def _model(context: IPolicyValidationContext) -> Model:
    from hyperpod_constructs.rules.template.model import load

    return load([_assembly(context)])


def _assembly(context: IPolicyValidationContext) -> Path:
    return Path(str(cast(App, App.of(context.app_construct)).outdir))


def _findings(model: Model) -> list[Finding]:
    from hyperpod_constructs.rules.rule import check

    return check(model)


def _losses(context: IPolicyValidationContext, model: Model) -> list[Finding]:
    """What the change loses, if there is a previous template."""
    given = context.app_construct.node.try_get_context(PREVIOUS_TEMPLATE)
    if given is None:
        return []
    if not isinstance(given, str) or not given.strip():
        raise UsageError(f"context {PREVIOUS_TEMPLATE} is {given!r}; allowed: the path of a template or an assembly")
    previous, assembly = Path(given), _assembly(context)
    # What is in the new assembly is written by now, and would be compared with itself.
    if previous.resolve().is_relative_to(assembly.resolve()):
        raise UsageError(f"the previous template {given} is what this synthesis has just written: copy what is deployed first")
    return _lost(previous, model)


def _lost(previous: Path, model: Model) -> list[Finding]:
    from hyperpod_constructs.rules.data_loss import data_loss_violations
    from hyperpod_constructs.rules.previous import previous_model

    return data_loss_violations(previous_model(previous, model), model)


def _violations(findings: Sequence[Finding], models: Sequence[Model]) -> list[PolicyViolation]:
    """The findings as CDK takes them; one that it does not take is replaced by one that says so."""
    lost: list[Finding] = []
    files: _Files = {}
    with guarded(REPORTING, lost):
        files = _files(models)
    found: list[PolicyViolation] = []
    for finding in findings:
        with guarded(replace(REPORTING, title=f"{REPORTING.title} ({finding.rule})"), lost):
            found.append(_violation(finding, files))
    return [*found, *(_violation(finding, {}) for finding in lost)]


_Files = dict[tuple[str, str], str]
"""The file of a template, by its name and the logical id of a resource in it: two stacks can have one name."""


def _files(models: Sequence[Model]) -> _Files:
    templates = [template for model in models for template in model.templates if template.file is not None]
    return {(template.name, id): str(template.file) for template in templates for id in template.by_id}


def _violation(finding: Finding, files: _Files) -> PolicyViolation:
    return PolicyViolation(
        rule_name=finding.rule,
        description=printable(_placed(finding)),
        severity="fatal" if finding.fatal else str(finding.level),
        fix=printable(finding.fix),
        rule_metadata={"source": printable(finding.source), "allowed": printable(finding.allowed)},
        violating_resources=[
            PolicyViolatingResource(
                resource_logical_id=finding.resource or None,
                construct_path=finding.construct,
                template_path=files.get((finding.template, finding.resource)),
                locations=[finding.path] if finding.path else [],
            )
        ],
    )


def _placed(finding: Finding) -> str:
    """The finding in words, after the property that it is about: CDK prints the construct, but not the property."""
    place = finding.path.removeprefix("Properties/")
    return f"{place}: {described(finding)}" if place else described(finding)
