"""Keeps a list of a cluster's nodes in parameters of Systems Manager.

The parameters are in the standard tier, which is free of charge and takes 4 KB, so a large group has several pages. Each holds the
mark of the resource that wrote it: nothing else is overwritten or deleted.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from botocore.exceptions import ClientError

from . import answers, resource
from .aws import CALL_SECONDS, Patient, code, transient, unsettled
from .errors import OperationError, describe, fit
from .inventory import CONTROLLER, LOGIN, Inventory, Node, NodeGroup, log_group, pages_of, summary_name
from .redaction import redact
from .resource import Done, Replace, Request, Resource, Undo, Waiting

# Time of one look; the function has five minutes.
LOOK_SECONDS = 240.0 - CALL_SECONDS

_DELETE_SECONDS = 180.0 - 2 * CALL_SECONDS

# Time in which a new policy may explain a refusal of Systems Manager within one call of the function.
_POLICY_SECONDS = 60.0

# Most nodes that one look asks about singly, for an address that the list of nodes does not tell.
MOST_DESCRIBED = 100

# Most parameters that one call deletes.
_AT_ONCE = 10

# Most login nodes in an attribute: all attributes share CloudFormation's 4096 bytes.
_LOGINS_SHOWN = 8

_MESSAGE_BYTES = 600
_MARK = "inventory"


@dataclass(frozen=True, kw_only=True, slots=True)
class InventoryProperties:
    """The cluster, its groups, and the path of the parameters.

    :param prefix: the path, such as `/hyperpod/demo`.
    """

    cluster_arn: str
    prefix: str
    groups: tuple[NodeGroup, ...] = ()


class NodeInventory(Resource[InventoryProperties]):
    """The parameters below a path.

    The mark in them is the stack and the resource's name in it, so that a rollback to an earlier path finds them. An update during
    a rollback never fails, because the stack would end in `UPDATE_ROLLBACK_FAILED`.
    """

    properties = InventoryProperties

    def create(self, request: Request[InventoryProperties], undo: Undo) -> str:
        """The physical id: the path and the mark. The parameters are written by `created`.

        :raises OperationError: for a path that another inventory or a stranger has.
        """
        physical_id = f"{request.properties.prefix}#{request.stack.rpartition('/')[2]}/{request.logical_id}"
        ssm = self._patient("ssm", min(request.deadline, undo.until - CALL_SECONDS))
        _check_owner(physical_id, [summary_name(request.properties.prefix)], _stored(ssm, request.properties.prefix))
        return physical_id

    def update(self, physical_id: str, request: Request[InventoryProperties]) -> str:
        """The physical id.

        :raises Replace: for another path: it is another inventory, and CloudFormation deletes the old one.
        """
        if _prefix(physical_id) != request.properties.prefix:
            raise Replace
        return physical_id

    def delete(self, physical_id: str) -> None:
        """Delete this inventory's own parameters; an unknown id is a success, because CloudFormation makes some itself."""
        prefix = _prefix(physical_id)
        if not prefix:
            return
        ssm = self._patient("ssm", self._clock() + _DELETE_SECONDS)
        there = _stored(ssm, prefix)
        _delete(ssm, [name for name, value in there.items() if value.get(_MARK) == _mark(physical_id)])

    def created(self, physical_id: str, request: Request[InventoryProperties]) -> Waiting | Done:
        """Write what differs; more looks follow while there is something left to write.

        :raises OperationError: for a parameter at this path that is not of this inventory, or if the time is over.
        """
        return Done(self._look(physical_id, request.properties, self._clock()))

    def updated(self, physical_id: str, request: Request[InventoryProperties]) -> Waiting | Done:
        """As `created`; during a rollback a failure is the attribute `Message`."""
        begun = self._clock()
        try:
            return self.created(physical_id, request)
        except Exception as failure:
            if resource.passes(request, begun, failure) or not self._rolls_back(request.stack):
                raise
            message = fit(redact(describe(failure)), _MESSAGE_BYTES)
            resource.logger.warning("the inventory is not up to date: %s", message)
            return Done(Inventory().attributes(message=message, logins=_LOGINS_SHOWN))

    def _rolls_back(self, stack: str) -> bool:
        cloudformation = self._patient("cloudformation", self._clock() + CALL_SECONDS)
        try:
            found = answers.structures(cloudformation.call("describe_stacks", StackName=stack), "Stacks")
        except Exception as failure:
            resource.logger.warning("the state of the stack cannot be read: %s", describe(failure))
            return False
        return any("ROLLBACK" in answers.text(one, "StackStatus") for one in found)

    def _look(self, physical_id: str, wanted: InventoryProperties, now: float) -> Mapping[str, str]:
        sagemaker, ssm = (self._patient(service, now + LOOK_SECONDS) for service in ("sagemaker", "ssm"))
        stored = _stored(ssm, wanted.prefix)
        cluster = sagemaker.call("describe_cluster", ClusterName=wanted.cluster_arn)
        inventory = _inventory(sagemaker, cluster, wanted, _known(stored, physical_id))
        pages = pages_of(inventory, wanted.prefix, {_MARK: _mark(physical_id)})
        _write(ssm, physical_id, pages, stored)
        return inventory.attributes(message="", logins=_LOGINS_SHOWN)

    def _patient(self, service: str, until: float) -> Patient:
        started = self._clock()

        def again(error: Exception) -> bool:
            return transient(error) or (service == "ssm" and unsettled(error) and self._clock() < started + _POLICY_SECONDS)

        return Patient(self._clients(service), until, self._clock, self._sleep, again)


def _prefix(physical_id: str) -> str:
    """The path in a physical id of this resource; empty for another id."""
    prefix, found, _ = physical_id.rpartition("#")
    return prefix if found and prefix.startswith("/") else ""


def _mark(physical_id: str) -> str:
    return physical_id.rpartition("#")[2]


def _inventory(sagemaker: Patient, cluster: Mapping[str, Any], wanted: InventoryProperties, known: Mapping[str, str]) -> Inventory:
    """The nodes, with the addresses that are known already, are in their host names, or are asked for: first those of controllers
    and login nodes."""
    nodes: list[Node] = []
    listing = answers.pages(
        lambda more: sagemaker.call("list_cluster_nodes", ClusterName=wanted.cluster_arn, MaxResults=100, **more)
    )
    for page, sound in listing:
        if not sound or not isinstance(page.get("ClusterNodeSummaries"), list):
            raise OperationError("ListClusterNodes: the list does not end, or is missing; deploy again, or ask AWS Support")
        summaries = answers.structures(page, "ClusterNodeSummaries")
        nodes += [Node.read(node, known) for node in summaries if node.get("InstanceId") != ""]
    types = {group.name: group.node_type for group in wanted.groups}
    nameless = sorted(
        (node for node in nodes if not node.address), key=lambda node: types.get(node.group) not in (CONTROLLER, LOGIN)
    )
    for node in nameless[:MOST_DESCRIBED]:
        node.address = _address(sagemaker, wanted.cluster_arn, node.id)
    name = answers.text(cluster, "ClusterName")
    return Inventory(arn=wanted.cluster_arn, name=name, log_group=log_group(name, wanted.cluster_arn), types=types, nodes=nodes)


def _address(sagemaker: Patient, arn: str, instance: str) -> str:
    """The address of a node; empty for one that is gone already."""
    try:
        answer = sagemaker.call("describe_cluster_node", ClusterName=arn, NodeId=instance)
    except ClientError as failure:
        if code(failure) not in ("ResourceNotFound", "ResourceNotFoundException"):
            raise
        return ""
    return answers.shown(answer, "NodeDetails", "PrivatePrimaryIp", otherwise="")


def _stored(ssm: Patient, prefix: str) -> dict[str, Mapping[str, Any]]:
    """The parameters below the path, by name; a value that is no JSON object counts as empty."""
    found: dict[str, Mapping[str, Any]] = {}
    listing = answers.pages(lambda more: ssm.call("get_parameters_by_path", Path=prefix, Recursive=True, MaxResults=10, **more))
    for page, sound in listing:
        if not sound or not isinstance(page.get("Parameters"), list):
            raise OperationError(f"GetParametersByPath: the list below {prefix} does not end, or is missing; deploy again")
        for parameter in answers.structures(page, "Parameters"):
            name, value = answers.text(parameter, "Name"), answers.text(parameter, "Value")
            if not name or not value:
                raise OperationError(f"GetParametersByPath: a parameter below {prefix} lacks its name or its value; deploy again")
            found[name] = _object(value)
    return found


def _object(text: str) -> Mapping[str, Any]:
    try:
        found = json.loads(text)
    except ValueError:
        return {}
    return found if isinstance(found, Mapping) else {}


def _known(stored: Mapping[str, Mapping[str, Any]], physical_id: str) -> dict[str, str]:
    """Addresses by instance id of this inventory's last state: a node keeps its address, and a new one has another id."""
    known: dict[str, str] = {}
    for value in stored.values():
        if value.get(_MARK) == _mark(physical_id):
            known |= {id: address for id, address in answers.structure(value, "nodes").items() if isinstance(address, str)}
    return known


def _write(ssm: Patient, physical_id: str, pages: Mapping[str, Mapping[str, Any]], stored: Mapping[str, Mapping[str, Any]]) -> None:
    """Write the pages that differ, then delete this inventory's others.

    :raises OperationError: for a page whose name a stranger's parameter has; then nothing is written.
    """
    _check_owner(physical_id, pages, stored)
    for name, page in pages.items():
        if stored.get(name) != page:
            value = json.dumps(page, separators=(",", ":"))
            ssm.call("put_parameter", Name=name, Value=value, Type="String", Tier="Standard", Overwrite=name in stored)
    _delete(ssm, [name for name, value in stored.items() if name not in pages and value.get(_MARK) == _mark(physical_id)])


def _check_owner(physical_id: str, names: Iterable[str], stored: Mapping[str, Mapping[str, Any]]) -> None:
    for name in names:
        if name in stored and stored[name].get(_MARK) != _mark(physical_id):
            raise OperationError(
                f"the parameter {name} exists and was not written by this inventory; give the inventory another prefix, "
                "or delete the parameter"
            )


def _delete(ssm: Patient, names: Iterable[str]) -> None:
    ordered = sorted(names)
    for start in range(0, len(ordered), _AT_ONCE):
        ssm.call("delete_parameters", Names=ordered[start : start + _AT_ONCE])


INVENTORY = NodeInventory()


def on_event(event: dict[str, Any], context: object) -> dict[str, Any]:
    """Lambda entry: start an operation."""
    return resource.on_event(INVENTORY, event, context=context)


def is_complete(event: dict[str, Any], _: object) -> dict[str, Any]:
    """Lambda entry: look whether an operation is complete."""
    return resource.is_complete(INVENTORY, event)
