"""Keys that services use as themselves: the permissions of roles do not count for them, so the key's policy must name the service.

Sources: https://docs.aws.amazon.com/kms/latest/developerguide/key-policy-services.html and those of `facts.policies.KEY_USERS` and
`facts.senders`
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from hyperpod_constructs.analysis.answers import all_of, any_of
from hyperpod_constructs.analysis.conditions import ENCRYPTION_CONTEXT, Context
from hyperpod_constructs.analysis.contexts import OF_SERVICE
from hyperpod_constructs.analysis.deliveries import Caller, deliveries
from hyperpod_constructs.analysis.encryption_contexts import BUCKET_RULES, has_bucket_key
from hyperpod_constructs.analysis.links import links
from hyperpod_constructs.analysis.node_places import arn_at
from hyperpod_constructs.analysis.paths import place_in
from hyperpod_constructs.analysis.policy_document import Call, Statement, layer_of
from hyperpod_constructs.analysis.regions import region_of
from hyperpod_constructs.analysis.resource_policies import key_named, key_of
from hyperpod_constructs.facts.policies import (
    AUTO_SCALING,
    AUTO_SCALING_MAY,
    EXPORTS_MAY,
    KEY_USERS,
    LINKS,
    LINKS_MAY,
    NOTIFIERS_MAY,
    TEMPLATES_OF_INSTANCES,
    WRITERS_MAY,
)
from hyperpod_constructs.facts.senders import RECEIVERS, SOURCES, WITHOUT_SOURCE
from hyperpod_constructs.templates.model import Model, Resource, resource_of
from hyperpod_constructs.templates.values import ABSENT, UNKNOWN, Reference, Value, as_items, as_str, at, joined, parts_of

_LAUNCH_TEMPLATE, _KEYS_OF_DISKS = "AWS::EC2::LaunchTemplate", "LaunchTemplateData/BlockDeviceMappings/*/Ebs/KmsKeyId"
_GRANTS: Context = {"aws:principalarn": UNKNOWN, "kms:grantisforawsresource": "true"}
_DEFAULT = "ServerSideEncryptionByDefault"

Path = tuple[str | int, ...]


class KeyUse(NamedTuple):
    """What services do with the key of a resource.

    :param key: the key; `None` for one that AWS manages.
    :param at_once: whether the service tries the key when the resource is made.
    :param chosen: the place of the key, if that is in another resource.
    """

    resource: Resource
    path: Path
    key: Resource | None
    services: tuple[str, ...]
    actions: tuple[str, ...]
    context: Context
    at_once: bool
    chosen: tuple[tuple[Resource, Path], ...] = ()

    @property
    def lacking(self) -> dict[str, list[str]]:
        """The services that the policy of the key surely does not let in, each with the actions."""
        found = {one: self._lacking(one, self._context_of(one)) for one in self.services}
        return {service: actions for service, actions in found.items() if actions}

    def is_limited_to_a_source(self, service: str) -> bool:
        """Whether the policy lets a service in only where its calls name their source, which they do not."""
        return self._names_no_source(service) and not self._lacking(service, self.context)

    def _lacking(self, service: str, context: Context) -> list[str]:
        return [] if self.key is None else _lacking(self.key, Caller(service, region_of(self.resource)), self.actions, context)

    def _context_of(self, service: str) -> Context:
        return {**self.context, **dict.fromkeys(SOURCES, ABSENT)} if self._names_no_source(service) else self.context

    def _names_no_source(self, service: str) -> bool:
        return (service, self.resource.type) in WITHOUT_SOURCE


def key_uses(model: Model) -> tuple[KeyUse, ...]:
    """The uses of keys by services; computed once."""
    return model.cached(key_uses, lambda: (*_of_resources(model), *_of_receivers(model), *_of_disks(model), *_of_links(model)))


def _of_resources(model: Model) -> Iterator[KeyUse]:
    for type_, use in KEY_USERS.items():
        for resource in model.resources(type_):
            key = key_named(resource.get(*use.key.split("/")))
            if key is not None:
                yield KeyUse(resource, tuple(use.key.split("/")), key, (use.service,), use.actions, _context(resource), True)


def _context(resource: Resource) -> Context:
    """The encryption context of a log group or a trail, and the place from which the service comes."""
    owner = {"aws:sourceaccount": resource.template.owner}
    if resource.type == "AWS::Logs::LogGroup":
        group = arn_at(resource, "logs", joined(["log-group:", Reference(resource)]))
        return {**owner, "kms:encryptioncontext:aws:logs:arn": group}
    if resource.type == "AWS::CloudTrail::Trail":
        arn = Reference(resource, "Arn")
        return {**owner, "kms:encryptioncontext:aws:cloudtrail:arn": arn, "aws:sourcearn": arn}
    return owner


def _of_receivers(model: Model) -> Iterator[KeyUse]:
    """The keys of topics, queues and buckets for logs, with the services that send to them."""
    senders: dict[Resource, dict[str, bool]] = {}
    kinds = {kind.type: kind for kind in RECEIVERS.values()}
    for one in deliveries(model):
        own = one.sender.get("KMSKeyId")
        if one.facts.to in ("sns", "sqs") or (one.facts.to == "s3" and own is ABSENT):
            services = senders.setdefault(one.receiver, {})
            services[one.facts.service] = services.get(one.facts.service, False) or one.facts.tested
    for receiver, services in senders.items():
        kind = kinds[receiver.type]
        path, value, managed = _of_bucket(receiver) if not kind.key else ((kind.key,), receiver.get(kind.key), kind.managed_key)
        key = key_named(value)
        if key is not None or (as_str(value) or "").endswith(managed or "alias/aws/s3"):
            may = NOTIFIERS_MAY if kind.key else WRITERS_MAY
            owner = {"aws:sourceaccount": receiver.template.owner}
            yield KeyUse(receiver, path, key, tuple(services), may, owner, any(services.values()))


def _of_disks(model: Model) -> Iterator[KeyUse]:
    """The keys of the disks of instances that Auto Scaling starts."""
    for type_, paths in TEMPLATES_OF_INSTANCES.items():
        for resource in model.resources(type_):
            for place, value in (one for path in paths for one in place_in(resource.get(), path)):
                template = resource_of(value, _LAUNCH_TEMPLATE)
                disks = () if template is None else place_in(template.get(), _KEYS_OF_DISKS)
                for key in dict.fromkeys(key for _, one in disks if (key := key_named(one)) is not None):
                    yield KeyUse(resource, place, key, (AUTO_SCALING,), AUTO_SCALING_MAY, _GRANTS, True)


def _of_links(model: Model) -> Iterator[KeyUse]:
    """The keys of buckets that Lustre reads and writes."""
    for link in links(model):
        key, region = key_of(link.bucket), region_of(link.resource)
        if key is not None:
            via: Value = f"s3.{region}.amazonaws.com" if region else UNKNOWN
            encrypted = {"kms:encryptioncontext:aws:s3:arn": link.arns[0] if has_bucket_key(link.bucket) else link.arns[1]}
            context = {**link.context, **encrypted, "kms:viaservice": via, "kms:calleraccount": link.resource.template.owner}
            chosen = ((link.bucket, (*_of_bucket(link.bucket)[0], "KMSMasterKeyID")),)
            may = EXPORTS_MAY if link.exports else LINKS_MAY
            yield KeyUse(link.resource, link.path, key, (LINKS,), may, context, True, chosen)


def _of_bucket(bucket: Resource) -> tuple[Path, Value, str]:
    """The place of the key of a bucket, and the key; without one, KMS takes that of AWS."""
    for index, rule in enumerate(as_items(bucket.get(*BUCKET_RULES)) or ()):
        algorithm, key = (at(rule, _DEFAULT, name) for name in ("SSEAlgorithm", "KMSMasterKeyID"))
        if (as_str(algorithm) or "").startswith("aws:kms"):
            return (*BUCKET_RULES, index, _DEFAULT), "alias/aws/s3" if key is ABSENT else key, "alias/aws/s3"
    return BUCKET_RULES, ABSENT, "alias/aws/s3"


def _lacking(key: Resource, caller: Caller, actions: Sequence[str], context: Context) -> list[str]:
    """The actions that the policy of a key surely does not allow a service; the default policy allows it none."""
    layer = layer_of(key.get("KeyPolicy"))
    if not layer.complete and key.get("KeyPolicy") is not ABSENT:
        return []
    allowing = [one for one in layer.statements if one.effect != "Deny"]
    known = {one: value for one, value in OF_SERVICE.items() if one != "sts:externalid"} | {**_closed(context)}
    return [
        action
        for action in actions
        if any_of(all_of((_names(one, caller), one.applies(Call(action, None, known)))) for one in allowing) is False
    ]


def _closed(context: Context) -> Context:
    """A context in which calls have no other pairs of an encryption context, where one of it is known."""
    return {ENCRYPTION_CONTEXT: ABSENT, **context} if any(key.startswith(ENCRYPTION_CONTEXT) for key in context) else context


def _names(statement: Statement, caller: Caller) -> bool | None:
    """Whether a statement is for a service, or for a role of a service."""
    if "." in caller.service:
        return statement.names_service(caller.service, caller.region)
    people = statement.principals("AWS")
    return None if people is None else any_of(_is_role(one, caller.service) for one in people)


def _is_role(principal: Value, role: str) -> bool | None:
    parts = list(parts_of(principal))
    if principal == "*" or any(isinstance(one, str) and role in one for one in parts):
        return True
    whole = all(isinstance(one, str) for one in parts) or (isinstance(parts[-1], str) and ":root" in parts[-1])
    return False if whole or isinstance(principal, Reference) else None
