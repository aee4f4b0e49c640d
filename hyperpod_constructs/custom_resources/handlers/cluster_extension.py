"""An extension of a cluster: software that the service installs on every node.

The physical id is the cluster's ARN, a bar, and the extension's ARN. A tag names the stack and the resource that made an extension.
So a creation finds what an earlier one of the same resource has left when its function was stopped, and nothing of others.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import partial
from hashlib import sha256
from typing import Any

from . import answers, extension_settings, resource
from .aws import LOOK_SECONDS, SETTLE_SECONDS, Patient, code, transient, unsettled
from .errors import OperationError, describe, fit
from .redaction import one_line
from .resource import Done, Replace, Request, Resource, Undo, Waiting

OWNER = "hyperpod-constructs:owner"
"""The key of the tag with the stack's name and the resource's."""

DEGRADED_SECONDS = 600.0
"""Time in which a new or changed extension becomes Active; after it, a Degraded one counts as complete and says so."""

# Times in which the start of an operation repeats calls. Lambda stops the function after 180 seconds, and the last call may take
# 35; the clean-up after a failed creation needs a part too.
_START_SECONDS = 60.0
_ADOPT_SECONDS = 40.0
_UPDATE_SECONDS = 100.0
_BUSY_SECONDS = 60.0

_BUSY = ("ConflictException", "ResourceInUse")
_FAILED = ("CreateFailed", "UpdateFailed", "DeleteFailed")
_TAG_CHARACTERS = 256
_ISSUES_SHOWN = 5
_ISSUES_BYTES = 1200


@dataclass(frozen=True, kw_only=True, slots=True)
class ExtensionProperties:
    """The wanted extension; without a version the newest when it is created, and without settings the service's own."""

    cluster_arn: str
    name: str
    version: str = ""
    configuration: str = "{}"
    tags: Mapping[str, Any] = field(default_factory=dict)

    @property
    def settings(self) -> dict[str, Any]:
        """The settings.

        :raises OperationError: for a text that is no JSON object.
        """
        return extension_settings.parsed(self.configuration)


class ClusterExtension(Resource[ExtensionProperties]):
    """Creates, changes and deletes the extension, and waits until it is Active on the nodes."""

    properties = ExtensionProperties

    def create(self, request: Request[ExtensionProperties], undo: Undo) -> str:
        """Create the extension. The request's id is the client token, so a repeated event makes nothing new.

        :raises OperationError: if the cluster has an extension of the name that another stack or resource has made.
        """
        wanted, sagemaker = request.properties, self._patient(self._clock() + _START_SECONDS)
        tags = {**wanted.tags, OWNER: _owner(request)}
        change = {
            **({"ExtensionVersion": wanted.version} if wanted.version else {}),
            **extension_settings.rendered(wanted.settings),
        }
        uncertain = partial(self._remove_new, wanted, _owner(request), request.started, undo.until)
        try:
            answer = sagemaker.call(
                "create_cluster_extension",
                ClusterArn=wanted.cluster_arn,
                ExtensionName=wanted.name,
                Tags=[{"Key": key, "Value": value} for key, value in sorted(tags.items())],
                ClientToken=request.request_id[:64],
                **change,
            )
        except Exception as error:
            if code(error) in _BUSY:
                return self._adopt(request, error)
            if transient(error):
                undo.push(f"extension {wanted.name}", uncertain)
            raise
        arn = answers.text(answer, "ExtensionArn")
        if not arn:
            undo.push(f"extension {wanted.name}", uncertain)
            raise OperationError("CreateClusterExtension: the answer has no ExtensionArn")
        return f"{wanted.cluster_arn}|{arn}"

    def update(self, physical_id: str, request: Request[ExtensionProperties]) -> str:
        """Change version, settings and tags. A setting that the properties no longer have goes back to its default.

        :raises Replace: for another cluster or name, or if somebody has deleted the extension.
        :raises OperationError: for a lower version, unless the stack rolls back: then the version stays.
        """
        wanted, (cluster, arn) = request.properties, _parts(physical_id)
        if cluster != wanted.cluster_arn or arn.split("/")[-2:-1] != [wanted.name]:
            raise Replace
        sagemaker = self._patient(self._clock() + _UPDATE_SECONDS, patient_with_new=False)
        found = self._described(sagemaker, physical_id)
        if found is None:
            raise Replace
        before = request.previous
        if before is not None and (before.cluster_arn, before.name) != (wanted.cluster_arn, wanted.name):
            self._remove_renamed(before, request)
        self._tag(sagemaker, arn, request)
        change = self._raised(found, request)
        reset = {} if before is None else extension_settings.removed(before.settings, wanted.settings)
        change |= extension_settings.rendered(extension_settings.merged(reset, wanted.settings))
        same = before is not None and (before.version, before.settings) == (wanted.version, wanted.settings)
        if same and "ExtensionVersion" not in change and answers.text(found, "ExtensionDetails", "Status") == "Active":
            return physical_id
        self._send(sagemaker, physical_id, request.request_id, change)
        return physical_id

    def delete(self, physical_id: str) -> None:
        """Start the deletion. An unknown id is a success: CloudFormation makes one for a creation without an answer."""
        self._ask_for_deletion(self._patient(self._clock() + _START_SECONDS, patient_with_new=False), physical_id)

    def created(self, physical_id: str, request: Request[ExtensionProperties]) -> Waiting | Done:
        """Whether the extension is Active, or Degraded for a while: it works on some nodes then.

        :raises OperationError: with the problems on the nodes, if it failed or the time is over.
        """
        now = self._clock()
        found = self._described(self._patient(now + LOOK_SECONDS, patient_with_new=False), physical_id)
        if found is None:
            if now < request.started + SETTLE_SECONDS:
                return Waiting("the service does not show the extension yet")
            raise OperationError(f"DescribeClusterExtension: extension {request.properties.name} is gone: somebody has deleted it")
        return self._judged(found, request, now)

    def ended(self, physical_id: str, request: Request[ExtensionProperties] | None) -> bool:
        """Whether the extension is gone; a deletion that the service refused for a while is asked for again.

        :raises OperationError: with the problems on the nodes, if the deletion failed or the time is over.
        """
        if not _parts(physical_id)[1]:
            return True
        now = self._clock()
        sagemaker = self._patient(now + LOOK_SECONDS, patient_with_new=False)
        found = self._described(sagemaker, physical_id)
        status = answers.text(found, "ExtensionDetails", "Status")
        if status == "DeleteFailed":
            raise OperationError(_summary(found))
        if found is not None and status != "Deleting":
            self._ask_for_deletion(sagemaker, physical_id)
        if found is not None and request is not None and now >= request.deadline:
            raise OperationError(_summary(found))
        return found is None

    def _patient(self, until: float, *, patient_with_new: bool = True) -> Patient:
        """A client that repeats calls. The policy and the cluster of a creation may be so new that a service does not know them."""

        def again(error: Exception) -> bool:
            return transient(error) or (patient_with_new and (unsettled(error) or code(error) == "ConflictException"))

        return Patient(self._clients("sagemaker"), until, self._clock, self._sleep, again)

    def _described(self, sagemaker: Patient, physical_id: str) -> Mapping[str, Any] | None:
        """The description; none of an extension, or a cluster, that does not exist."""
        cluster, arn = _parts(physical_id)
        try:
            return sagemaker.call("describe_cluster_extension", ClusterArn=cluster, ExtensionArn=arn)
        except Exception as error:
            if not code(error).startswith("ResourceNotFound"):
                raise
            return None

    def _judged(self, found: Mapping[str, Any], request: Request[ExtensionProperties], now: float) -> Waiting | Done:
        status = answers.text(found, "ExtensionDetails", "Status")
        late = status == "Degraded" and now >= request.started + DEGRADED_SECONDS
        if status == "Active" or late:
            if late:
                resource.logger.warning("%s", _summary(found))
            return Done(_attributes(found))
        if status in _FAILED or now >= request.deadline:
            raise OperationError(f"{_summary(found)} (after {round((now - request.started) / 60)} min)")
        return Waiting(_summary(found))

    def _adopt(self, request: Request[ExtensionProperties], refusal: Exception) -> str:
        """The extension that an earlier creation of this very resource has left, with the wanted settings.

        :raises OperationError: for an extension of others.
        """
        wanted = request.properties
        sagemaker = self._patient(self._clock() + _ADOPT_SECONDS, patient_with_new=False)
        arn = next(iter(self._own(sagemaker, wanted, _owner(request))), None)
        if arn is None:
            raise OperationError(
                f"{describe(refusal)}; if the cluster has an extension {wanted.name} that this stack did not make, delete it "
                f"first: aws sagemaker list-cluster-extensions --cluster-arn {wanted.cluster_arn}"
            ) from refusal
        physical_id = f"{wanted.cluster_arn}|{arn}"
        found = self._described(sagemaker, physical_id) or {}
        change = {**self._raised(found, request), **extension_settings.rendered(wanted.settings)}
        self._send(sagemaker, physical_id, request.request_id, change)
        return physical_id

    def _own(self, sagemaker: Patient, wanted: ExtensionProperties, owner: str, since: float = 0.0) -> list[str]:
        """The ARNs of the cluster's extensions of the name with the owner's tag, created since then."""
        found = []
        for page, _ in answers.pages(partial(sagemaker.listed, "list_cluster_extensions", ClusterArn=wanted.cluster_arn)):
            for item in answers.structures(page, "Extensions"):
                arn, made = answers.text(item, "ExtensionArn"), answers.moment(item, "CreationTime")
                if answers.text(item, "ExtensionName") != wanted.name or not arn:
                    continue
                tags = answers.structures(sagemaker.call("list_tags", ResourceArn=arn), "Tags")
                mine = any((answers.text(tag, "Key"), answers.text(tag, "Value")) == (OWNER, owner) for tag in tags)
                if mine and (made is None or made.timestamp() >= since):
                    found.append(arn)
        return found

    def _remove_new(self, wanted: ExtensionProperties, owner: str, since: float, until: float) -> None:
        """Remove the extension that a creation without an answer may have made.

        :raises OperationError: if it is still there at the end of the time.
        """
        sagemaker = self._patient(until, patient_with_new=False)
        for arn in self._own(sagemaker, wanted, owner, since):
            physical_id = f"{wanted.cluster_arn}|{arn}"
            while (found := self._described(sagemaker, physical_id)) is not None:
                if self._clock() >= until:
                    raise OperationError(_summary(found))
                if answers.text(found, "ExtensionDetails", "Status") != "Deleting":
                    self._ask_for_deletion(sagemaker, physical_id)
                self._sleep(5.0)

    def _remove_renamed(self, before: ExtensionProperties, request: Request[ExtensionProperties]) -> None:
        """Remove what a renaming has made whose function was stopped: this update rolls it back, and nobody else knows it.

        The rollback may have taken the permission away, and must go on without it.
        """
        try:
            self._remove_new(before, _owner(request), 0.0, self._clock() + _ADOPT_SECONDS)
        except Exception as error:
            resource.logger.warning("extension %s may be left on %s: %s", before.name, before.cluster_arn, describe(error))

    def _raised(self, found: Mapping[str, Any], request: Request[ExtensionProperties]) -> dict[str, Any]:
        """The version, if it is to rise.

        :raises OperationError: for a lower one, except in a rollback, which cannot bring the old one back.
        """
        wanted, current = request.properties.version, answers.text(found, "ExtensionDetails", "ExtensionVersion")
        if not wanted:
            return {}
        if not current:
            raise OperationError("DescribeClusterExtension: the answer has no ExtensionVersion")
        if _order(wanted) == _order(current):
            return {}
        if _order(wanted) > _order(current):
            return {"ExtensionVersion": wanted}
        text = (
            f"extension {request.properties.name} has version {current}, and {wanted} is lower: versions only rise; keep "
            f"{current}, or remove the extension and add it again with the lower one"
        )
        if not self._rolls_back(request.stack, text):
            raise OperationError(text)
        resource.logger.warning("the stack rolls back and the version stays: %s", text)
        return {}

    def _rolls_back(self, stack: str, text: str) -> bool:
        cloudformation = Patient(self._clients("cloudformation"), self._clock() + LOOK_SECONDS, self._clock, self._sleep)
        try:
            answer = cloudformation.call("describe_stacks", StackName=stack)
        except Exception as error:
            raise OperationError(f"{text}; whether the stack rolls back cannot be read: {describe(error)}") from error
        return any("ROLLBACK" in answers.text(item, "StackStatus") for item in answers.structures(answer, "Stacks"))

    def _send(self, sagemaker: Patient, physical_id: str, token: str, change: Mapping[str, Any]) -> None:
        """Ask for a change, again and again while the service is at work on the extension."""
        until, (cluster, arn) = self._clock() + _BUSY_SECONDS, _parts(physical_id)
        while True:
            try:
                sagemaker.call("update_cluster_extension", ClusterArn=cluster, ExtensionArn=arn, ClientToken=token[:64], **change)
                return
            except Exception as error:
                if code(error) not in _BUSY or self._clock() >= until:
                    raise
            self._sleep(5.0)

    def _tag(self, sagemaker: Patient, arn: str, request: Request[ExtensionProperties]) -> None:
        """Change the extension's tags, as far as they are this resource's."""
        before, after = {} if request.previous is None else request.previous.tags, request.properties.tags
        changed = {key: value for key, value in after.items() if before.get(key) != value}
        gone = sorted(before.keys() - after.keys())
        if changed:
            tags = [{"Key": key, "Value": value} for key, value in sorted(changed.items())]
            sagemaker.call("add_tags", ResourceArn=arn, Tags=tags)
        if gone:
            sagemaker.call("delete_tags", ResourceArn=arn, TagKeys=gone)

    def _ask_for_deletion(self, sagemaker: Patient, physical_id: str) -> None:
        """Ask for the deletion; `deleted` asks again if the service is at work."""
        cluster, arn = _parts(physical_id)
        if not arn:
            return
        try:
            sagemaker.call("delete_cluster_extension", ClusterArn=cluster, ExtensionArn=arn)
        except Exception as error:
            if not code(error).startswith(("ResourceNotFound", *_BUSY)):
                raise


def _parts(physical_id: str) -> tuple[str, str]:
    """The ARNs of the cluster and of the extension; empty for an id of another form."""
    cluster, _, arn = physical_id.partition("|")
    return (cluster, arn) if ":extension/" in arn else ("", "")


def _owner(request: Request[Any]) -> str:
    """The stack's name and the resource's; a stack that is created again after a failure has another ARN."""
    stack = request.stack.partition(":stack/")[2].partition("/")[0]
    name = f"{stack}/{request.logical_id}"
    return name if len(name) <= _TAG_CHARACTERS else sha256(name.encode()).hexdigest()


def _order(version: str) -> tuple[int, ...]:
    return tuple(int(part) for part in version.split(".") if part.isdigit())


def _issues(found: Mapping[str, Any] | None) -> str:
    issues = answers.structures(found, "Health", "Issues")
    shown = []
    for issue in issues[:_ISSUES_SHOWN]:
        count = answers.number(issue, "NodeCount")
        nodes = "some nodes" if count is None else f"{count} node{'' if count == 1 else 's'}"
        message = one_line(answers.text(issue, "Message"), 300) or "no message"
        shown.append(f"{answers.shown(issue, 'Code', otherwise='Other')} on {nodes}: {message}")
    return "; ".join([*shown, *([f"and {len(issues) - len(shown)} more"] if len(issues) > len(shown) else [])])


def _summary(found: Mapping[str, Any] | None) -> str:
    name = answers.shown(found, "ExtensionDetails", "ExtensionName", otherwise="of unknown name")
    status = answers.shown(found, "ExtensionDetails", "Status", otherwise="of unknown status")
    active, total = (answers.number(found, "NodeSummary", key) for key in ("ActiveCount", "TotalCount"))
    nodes = f"{'?' if active is None else active} of {'?' if total is None else total} nodes run it"
    return f"DescribeClusterExtension: extension {name} is {status}; {nodes}; {_issues(found) or 'no problem is reported'}"


def _attributes(found: Mapping[str, Any]) -> dict[str, str]:
    active, total = (answers.number(found, "NodeSummary", key) for key in ("ActiveCount", "TotalCount"))
    return {
        "ExtensionArn": answers.text(found, "ExtensionDetails", "ExtensionArn"),
        "Version": answers.text(found, "ExtensionDetails", "ExtensionVersion"),
        "Status": answers.text(found, "ExtensionDetails", "Status"),
        "ActiveNodes": "" if active is None else str(active),
        "TotalNodes": "" if total is None else str(total),
        "Issues": fit(_issues(found), _ISSUES_BYTES),
    }


EXTENSION = ClusterExtension()


def on_event(event: dict[str, Any], context: object) -> dict[str, Any]:
    """Lambda entry: start an operation."""
    return resource.on_event(EXTENSION, event, context=context)


def is_complete(event: dict[str, Any], _: object) -> dict[str, Any]:
    """Lambda entry: look whether an operation is complete."""
    return resource.is_complete(EXTENSION, event)
