"""Looks before a file system or a cluster is made whether quotas, network, training plan, role and bucket allow it."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

from . import answers, resource
from .aws import CALL_SECONDS, Patient, code, transient, unsettled
from .checks import access, network, plans, quotas
from .checks.cluster_use import ClusterUse, missing, other_clusters, own_cluster, physical_id
from .checks.findings import Finding, as_warnings, guarded
from .checks.network import Subnet
from .checks.wanted import Wanted
from .errors import MESSAGE_LIMIT, OperationError, describe, fit
from .redaction import redact
from .resource import Done, Request, Resource, Undo

# Time for all looks together: the function's three minutes less two calls.
LOOK_SECONDS = 180.0 - 2 * CALL_SECONDS

# Time in which a new policy or resource may explain a refusal.
SETTLE_SECONDS = 60.0

# Most bytes of the attribute `Warnings`, as of the whole error.
_WARNINGS_BYTES = 1500

_YOUNG = frozenset({"InvalidSubnetID.NotFound", "NoSuchEntity", "404"})


class Preflight(Resource[Wanted]):
    """The gate before a cluster. A proven mistake fails the creation or the update; anything else is a warning.

    An update during a rollback only warns, because its failure would leave the stack in `UPDATE_ROLLBACK_FAILED`. A deletion does
    nothing.
    """

    properties = Wanted
    at_once = True

    def create(self, request: Request[Wanted], undo: Undo) -> str:
        """The physical id, from the stack and the resource; there is nothing to create."""
        return f"preflight|{request.stack}|{request.logical_id}"

    def update(self, physical_id: str, request: Request[Wanted]) -> str:
        """The physical id, which stays."""
        return physical_id

    def delete(self, physical_id: str) -> None:
        """Nothing to delete."""

    def created(self, physical_id: str, request: Request[Wanted]) -> Done:
        """The warnings.

        :raises OperationError: with every proven mistake.
        """
        return _decided(self._look(request).findings())

    def updated(self, physical_id: str, request: Request[Wanted]) -> Done:
        """The warnings; during a rollback, or if the stack's state cannot be read, the mistakes too.

        :raises OperationError: with every proven mistake.
        """
        look = self._look(request)
        return _decided(as_warnings(look.findings()) if look.rolls_back() else look.findings())

    def _look(self, request: Request[Wanted]) -> Look:
        until, settled = request.started + LOOK_SECONDS, request.started + SETTLE_SECONDS

        def patient(service: str) -> Patient:
            return Patient(self._clients(service), until, self._clock, self._sleep, again)

        def again(error: Exception) -> bool:
            return transient(error) or (_young(error) and self._clock() < settled)

        return Look(request.properties, request.stack, patient, self._clock())


@dataclass
class Look:
    """One look at the account.

    :param stack: name or id of the stack of the cluster; empty for one that does not exist.
    :param patient: a client by the name of its service.
    :param now: the time, in epoch seconds.
    """

    wanted: Wanted
    stack: str
    patient: Callable[[str], Patient]
    now: float
    use: ClusterUse = field(default_factory=ClusterUse)
    own_known: bool = True
    found: Mapping[str, Subnet] = field(default_factory=dict)

    def rolls_back(self) -> bool:
        """Whether the stack returns to its old state, or may do so for all that is known."""
        try:
            stacks = self._cloudformation.call("describe_stacks", StackName=self.stack)
        except Exception as failure:
            if missing(failure):
                return False
            resource.logger.warning("the stack cannot be read, so mistakes are warnings: %s", describe(failure))
            return True
        statuses = [answers.text(stack, "StackStatus") for stack in answers.structures(stacks, "Stacks")]
        return not statuses or "ROLLBACK" in statuses[0]

    def findings(self) -> list[Finding]:
        """All findings, the proven ones first."""
        wanted = self.wanted
        found = guarded("the stack's own cluster", self._read_own)
        found += guarded("existing clusters", self._read_others)
        checked = guarded("quotas of SageMaker", self._quotas)
        checked += guarded("subnets", self._read_subnets)
        checked += guarded("file systems", self._file_systems)
        checked += guarded("network interfaces", self._interfaces)
        checked += guarded("zones of the instance types", self._offers)
        for group in wanted.groups:
            if group.training_plan and (more := self.use.more(group)):
                plan = plans.check_plan(self._sagemaker, group, more, self.found, self.now)
                checked += guarded(f"training plan of group {group.name!r}", lambda plan=plan: plan)  # type: ignore[misc]
        found += checked if self.own_known else as_warnings(checked)
        for arn in wanted.roles:
            found += guarded(f"role {arn}", lambda arn=arn: access.check_role(self.patient("iam"), arn))  # type: ignore[misc]
        if wanted.bucket:
            found += guarded(f"bucket {wanted.bucket}", lambda: access.check_bucket(self.patient("s3"), wanted.bucket))
        return sorted(found, key=lambda finding: not finding.proven)

    @cached_property
    def _cloudformation(self) -> Patient:
        return self.patient("cloudformation")

    @cached_property
    def _sagemaker(self) -> Patient:
        return self.patient("sagemaker")

    @cached_property
    def _ec2(self) -> Patient:
        return self.patient("ec2")

    def _read_own(self) -> Iterable[Finding]:
        self.own_known = False
        cluster = own_cluster(self._cloudformation, self._sagemaker, self.stack, self.wanted)
        self.own_known = True
        if cluster is not None:
            self._own_arn = answers.text(cluster, "ClusterArn")
            self.use.add(cluster, own=True)
        return ()

    _own_arn = ""

    def _read_others(self) -> Iterable[Finding]:
        for cluster in other_clusters(self._sagemaker, self._own_arn):
            self.use.add(cluster, own=False)
        return ()

    def _quotas(self) -> Iterable[Finding]:
        names = quotas.names(self.wanted, self.use)
        return quotas.check(self._read_quotas("sagemaker", names), self.wanted, self.use)

    def _read_subnets(self) -> Iterable[Finding]:
        self.found = network.subnets(self._ec2, self.wanted)
        return ()

    def _file_systems(self) -> Iterable[Finding]:
        new = [
            system for system in self.wanted.file_systems if not physical_id(self._cloudformation, self.stack, system.logical_id)
        ]
        if self.found:
            yield from network.check_addresses(self.found, self.wanted, self.use, new)
        if names := quotas.file_system_names(new):
            read = self._read_quotas("fsx", names)
            yield from quotas.check_file_systems(read, new, self._capacities(), self.wanted.region)

    def _capacities(self) -> Mapping[str, list[int]]:
        """The capacity of each Lustre file system, by the name of its kind in Service Quotas."""
        fsx, capacities = self.patient("fsx"), dict[str, list[int]]()
        for page, _ in answers.pages(lambda more: fsx.call("describe_file_systems", **more)):
            for system in answers.structures(page, "FileSystems"):
                kind = answers.text(system, "LustreConfiguration", "DeploymentType")
                capacities.setdefault(f"Lustre {kind.capitalize()}", []).append(answers.number(system, "StorageCapacity") or 0)
        return capacities

    def _interfaces(self) -> Iterable[Finding]:
        more = network.interfaces_needed(self.wanted, self.use)
        if not more:
            return ()
        quota = self._read_quotas("vpc", {quotas.INTERFACES}).get(quotas.INTERFACES)
        return network.check_interfaces(self._ec2, quota, more, self.wanted.region)

    def _offers(self) -> Iterable[Finding]:
        groups = network.asked_types(self.wanted, self.use) if self.found else []
        return network.check_offers(self._ec2, groups, self.found) if groups else ()

    def _read_quotas(self, service: str, names: Iterable[str]) -> quotas.Quotas:
        read = quotas.Quotas(self.patient("service-quotas"), service)
        read.read(names)
        return read


def _decided(findings: list[Finding]) -> Done:
    """The warnings as an attribute; all of them are in the log too.

    :raises OperationError: with every proven mistake.
    """
    warnings = [redact(finding.text) for finding in findings if not finding.proven]
    for text in warnings:
        resource.logger.warning("preflight: %s", text)
    proven = [redact(finding.text) for finding in findings if finding.proven]
    if proven:
        for text in proven:
            resource.logger.error("preflight: %s", text)
        count = f"{len(proven)} thing{'s' * (len(proven) > 1)} would stop this deployment"
        raise OperationError(_together(f"preflight: {count}, before anything was made", proven, MESSAGE_LIMIT - 200))
    return Done({"Warnings": _together("", warnings, _WARNINGS_BYTES)})


def _together(head: str, texts: list[str], limit: int) -> str:
    """The texts as lines, as many as fit; the number of the others is the last line."""
    lines = [head] if head else []
    for index, text in enumerate(texts):
        line = f"- {text}"
        rest = f"- {len(texts) - index} more in the log"
        if fit("\n".join([*lines, line, rest]), limit) != "\n".join([*lines, line, rest]):
            return "\n".join([*lines, rest] if len(lines) > bool(head) else [*lines, fit(line, limit - 200)])
        lines.append(line)
    return "\n".join(lines)


def _young(error: Exception) -> bool:
    """Whether a new policy or resource may explain an error."""
    return unsettled(error) or code(error) in _YOUNG


PREFLIGHT = Preflight()


def on_event(event: dict[str, Any], context: object) -> dict[str, Any]:
    """Lambda entry: a whole operation."""
    return resource.on_event(PREFLIGHT, event, context=context)
