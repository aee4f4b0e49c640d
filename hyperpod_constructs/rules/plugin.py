"""The rules at every synthesis: a validation plug-in, which the constructs of this library register by themselves.

A finding is printed with its construct, its fix and its id, and is in `validation-report.json`; an error fails the synthesis. To
accept one, write the reason on the construct, or on any above it:

    Validations.of(cluster).acknowledge(Acknowledgment(id="hyperpod::HP-NET-004", reason="..."))

Context keys:

- `hyperpod:rules`: `false` switches the plug-in off, for a test of a stack that is not deployed on its own.
- `hyperpod:previous-template`: the path of the deployed template or assembly, outside the output. A change that loses data fails,
  unless the permission is written on the resource (`allow_data_loss`).
"""

from __future__ import annotations

import weakref
from collections.abc import Iterator, Sequence
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
from constructs import Construct, IConstruct, IValidation

from hyperpod_constructs._support.printable import printable
from hyperpod_constructs.rules.ahead import CheckAhead, Checked
from hyperpod_constructs.rules.failure import CHECKING, LOADING, PREVIOUS, REPORTING, UsageError, guarded
from hyperpod_constructs.rules.finding import Finding, Level
from hyperpod_constructs.rules.validation_report import PLUGIN

if TYPE_CHECKING:
    from hyperpod_constructs.templates.model import Model

SWITCH, PREVIOUS_TEMPLATE = "hyperpod:rules", "hyperpod:previous-template"

_registered: weakref.WeakSet[IConstruct] = weakref.WeakSet()
"""Apps with the plug-in, and constructs in them: the root of a construct is a call into jsii."""


def register_rules(construct: Construct, scope: Construct) -> None:
    """Register the rules with the app of a construct: once for an app, and not if `hyperpod:rules` is false.

    :param scope: the parent of the construct.
    :raises ValueError: if `hyperpod:rules` is neither true nor false.
    """
    if scope in _registered or _registers(construct):
        _registered.update((construct, scope))


def _registers(construct: Construct) -> bool:
    """Whether the app of a construct has the plug-in now."""
    node = construct.node
    root = node.root
    if root in _registered:
        return True
    switch = node.try_get_context(SWITCH)
    if switch not in (None, True, False, "true", "false"):
        raise ValueError(f"context {SWITCH} is {switch!r}; allowed: true, false")
    if switch in (False, "false") or not isinstance(root, App):
        return False
    _registered.add(root)
    plugin = RulesPlugin()
    Validations.of(root).add_plugins(plugin)
    node.add_validation(_Ahead(root, plugin))
    return True


@jsii.implements(IValidation)
class _Ahead:
    """Starts the check when CDK validates the constructs: the templates are written next."""

    def __init__(self, root: App, plugin: RulesPlugin) -> None:
        self._root, self._plugin = root, plugin

    def validate(self) -> list[str]:
        """No errors: the plug-in says what fails."""
        with guarded(CHECKING, []):
            self._plugin.ahead = CheckAhead(_assembly(self._root), _checked)
        return []


@jsii.implements(IPolicyValidationPlugin)
class RulesPlugin:
    """Every rule of the catalogue, on the whole assembly of an app: all stacks, in stages and nested too."""

    def __init__(self) -> None:
        """A plug-in that checks when it is asked, unless a check began before."""
        self.ahead: CheckAhead | None = None

    @property
    def name(self) -> str:
        """The namespace of its ids in acknowledgements."""
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
        from hyperpod_constructs.rules.checking import load_catalogue

        return sorted(load_catalogue())

    def validate(self, context: IPolicyValidationContext) -> PolicyValidationPluginReport:
        """The findings on the app's templates; a failure on the way is one too, because CDK ignores an exception of a plug-in."""
        findings: list[Finding] = []
        models: list[Model] = []
        with guarded(LOADING, findings):
            root = context.app_construct
            ready = self.ahead and self.ahead.take()
            models.append(ready.model if ready else _model(_assembly(root)))
        for model in models:
            with guarded(CHECKING, findings):
                findings += ready.findings if ready else _findings(model)
            with guarded(PREVIOUS, findings):
                findings += _losses(root, model)
        violations = _violations(findings, models, context)
        harmless = all(violation.severity == str(Level.WARNING) for violation in violations)
        return PolicyValidationPluginReport(success=harmless, plugin_version=self.version, violations=violations)


def _model(assembly: Path) -> Model:
    from hyperpod_constructs.templates.model import load

    return load([assembly])


def _checked(assembly: Path) -> Checked:
    model = _model(assembly)
    return Checked(model, _findings(model))


def _assembly(root: IConstruct) -> Path:
    return Path(str((root if isinstance(root, App) else cast(App, App.of(root))).outdir))


def _findings(model: Model) -> list[Finding]:
    from hyperpod_constructs.rules.checking import check

    return check(model, validated=True)


def _losses(root: IConstruct, model: Model) -> list[Finding]:
    """The losses of the change, if there is a previous template."""
    given = root.node.try_get_context(PREVIOUS_TEMPLATE)
    if given is None:
        return []
    if not isinstance(given, str) or not given.strip():
        raise UsageError(f"context {PREVIOUS_TEMPLATE} is {given!r}; allowed: the path of a template or an assembly")
    previous, assembly = Path(given), _assembly(root)
    # The new assembly is written by now, and would be compared with itself.
    if previous.resolve().is_relative_to(assembly.resolve()):
        raise UsageError(f"the previous template {given} is what this synthesis has just written: copy the deployed template first")
    from hyperpod_constructs.plan.previous import previous_model
    from hyperpod_constructs.rules.data_loss import data_loss_violations

    return data_loss_violations(previous_model(previous, model), model)


def _violations(findings: Sequence[Finding], models: Sequence[Model], context: IPolicyValidationContext) -> list[PolicyViolation]:
    """The findings for CDK; a refused one is replaced by a finding on the refusal."""
    lost: list[Finding] = []
    files: _Files = {}
    with guarded(REPORTING, lost):
        files = _files(models)
    found: list[PolicyViolation] = []
    for finding in findings:
        with guarded(replace(REPORTING, title=f"{REPORTING.title} ({finding.rule})"), lost):
            found.append(_violation(replace(finding, rule=_reported_id(finding, context)), files))
    return [*found, *(_violation(finding, {}) for finding in lost)]


def _reported_id(finding: Finding, context: IPolicyValidationContext) -> str:
    """The id in the report: a former one if it is acknowledged on the construct or above, because CDK compares ids."""
    from hyperpod_constructs.rules.rule import CATALOGUE

    rule = CATALOGUE.get(finding.rule)
    former = [] if rule is None or finding.fatal else [alias for alias in rule.aliases if _is_acknowledged(alias, finding, context)]
    return former[0] if former else finding.rule


def _is_acknowledged(id: str, finding: Finding, context: IPolicyValidationContext) -> bool:
    key = Validations.ACKNOWLEDGED_RULES_METADATA_KEY
    entries = [entry for construct in _above(finding, context) for entry in construct.node.metadata if entry.type == key]
    return any(f"{PLUGIN}::{id}" in entry.data for entry in entries)


def _above(finding: Finding, context: IPolicyValidationContext) -> Iterator[IConstruct]:
    """The constructs on the path of a finding, from the app on."""
    construct: IConstruct | None = context.app_construct
    for name in (*(finding.construct or "").split("/"), ""):
        if construct is not None:
            yield construct
            construct = construct.node.try_find_child(name)


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
    """The finding in words, after its property: CDK prints the construct, but not the property."""
    place = finding.path.removeprefix("Properties/")
    return f"{place}: {finding.described()}" if place else finding.described()
