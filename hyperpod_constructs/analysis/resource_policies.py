"""Policies of resources, such as buckets, topics and keys: what they let a role do, and what they deny.

Within one account a policy that names the role is enough; one for the account's root allows a role nothing by itself, but for keys
and other roles: the permissions of roles count only where the policy there lets the account in.
https://docs.aws.amazon.com/IAM/latest/UserGuide/reference_policies_evaluation-logic.html
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property

from hyperpod_constructs.analysis.answers import all_of, any_of
from hyperpod_constructs.analysis.arns import Arn, arn_matches, bucket_arn
from hyperpod_constructs.analysis.policy_document import Call, Layer, Statement, layer_of, listed
from hyperpod_constructs.facts.policies import SESSIONS
from hyperpod_constructs.templates.globs import matches
from hyperpod_constructs.templates.model import Model, Resource, resource_of
from hyperpod_constructs.templates.values import (
    ABSENT,
    Account,
    Reference,
    Text,
    Value,
    as_items,
    as_str,
    at,
    joined,
    of_alternatives,
    parts_of,
)

KEY, _ALIAS = "AWS::KMS::Key", "AWS::KMS::Alias"
ACCESS_POINT, BUCKET_POLICY = "AWS::S3::AccessPoint", "AWS::S3::BucketPolicy"
_ROLE = "AWS::IAM::Role"
SECRET_POLICY = "AWS::SecretsManager::ResourcePolicy"
_SEPARATE: Mapping[str, tuple[tuple[str, str, str], ...]] = {
    "kinesis": (("AWS::Kinesis::ResourcePolicy", "ResourcePolicy", "ResourceArn"),),
    "secretsmanager": ((SECRET_POLICY, "ResourcePolicy", "SecretId"),),
    "sns": (
        ("AWS::SNS::TopicInlinePolicy", "PolicyDocument", "TopicArn"),
        ("AWS::SNS::TopicPolicy", "PolicyDocument", "Topics"),
    ),
    "sqs": (("AWS::SQS::QueueInlinePolicy", "PolicyDocument", "Queue"), ("AWS::SQS::QueuePolicy", "PolicyDocument", "Queues")),
}
"""Policies that are resources of their own, by service: type, and the properties with the document and with what it is for."""
_OWN: Mapping[str, tuple[str, tuple[str, ...]]] = {
    "dynamodb": ("AWS::DynamoDB::Table", ("ResourcePolicy", "PolicyDocument")),
    "ecr": ("AWS::ECR::Repository", ("RepositoryPolicyText",)),
    "elasticfilesystem": ("AWS::EFS::FileSystem", ("FileSystemPolicy",)),
    "kms": (KEY, ("KeyPolicy",)),
    "sts": (_ROLE, ("AssumeRolePolicyDocument",)),
}
"""Policies that are properties of what they are for, by service."""
_DEMANDING = ("stringequals", "stringlike")
"""Operators that hold only for a key that is there."""
_KEYS = {
    "AWS::Kinesis::Stream": ("StreamEncryption", "KeyId"),
    "AWS::SNS::Topic": ("KmsMasterKeyId",),
    "AWS::SQS::Queue": ("KmsMasterKeyId",),
}
"""The places of keys by type; of others it is `KmsKeyId`."""


@dataclass(frozen=True)
class ResourcePolicy:
    """The policy of a resource, or one that may be its policy."""

    resource: Resource
    """Where it is written."""
    path: tuple[str, ...]
    sure: bool
    """Whether it is surely the policy of the resource that is called."""
    whole: bool = False
    """Whether it speaks of one resource alone, so that its patterns for resources do not matter."""

    @cached_property
    def layer(self) -> Layer:
        """What it says; a statement without principals is one that AWS refuses."""
        layer = layer_of(self.resource.get(*self.path))
        principals = all({"Principal", "NotPrincipal"} & one.raw.keys() for one in layer.statements)
        return Layer(layer.statements, layer.complete and principals)

    def denies(self, role: Resource, call: Call) -> bool | None:
        """Whether it denies a call of a role: to the role, or to everybody in its account."""
        return self._answer("Deny", role, call, of_account=True)

    def gives(self, role: Resource, call: Call) -> bool | None:
        """Whether it lets a role make a call, whatever the role's own policies say."""
        return self._answer("Allow", role, call, of_account=False)

    def frees(self, role: Resource, call: Call) -> bool | None:
        """Whether it lets a role make a call, whatever its boundary: a statement for the role's own ARN does not.

        Source: https://docs.aws.amazon.com/IAM/latest/UserGuide/access_policies_boundaries.html
        """
        given = self.gives(role, call)
        return given if given is False or any(_is_beyond(one) for one in self.layer.statements) else False

    def opens(self, role: Resource, call: Call) -> bool | None:
        """Whether it lets a role make a call that the role's own policies allow."""
        return self._answer("Allow", role, call, of_account=True)

    def _answer(self, effect: str, role: Resource, call: Call, *, of_account: bool) -> bool | None:
        asked = Call(call.action, None, call.context) if self.whole else call
        speaking = (one for one in self.layer.statements if one.effect in (effect, "?"))
        found = any_of(
            all_of((names_role(one, role, of_account=of_account), one.applies(asked), None if one.effect == "?" else True))
            for one in speaking
        )
        if not self.layer.complete and not found:
            return None
        return found if self.sure or found is False else None


def policies_on(role: Resource, call: Call) -> Iterator[ResourcePolicy]:
    """The policies, sure and possible, of the resource that a role calls."""
    service, model = call.action.partition(":")[0], role.template.model
    if call.resource is None or call.arn is None:
        return
    if service == "s3":
        for policy in model.resources(BUCKET_POLICY):
            name = policy.get("Bucket")
            of_bucket = any_of(Arn(bucket_arn(name, key)).covers(call.arn) for key in (None, "*"))
            if of_bucket is not False:
                yield ResourcePolicy(policy, ("PolicyDocument",), sure=bool(of_bucket))
        yield from _of_points(model, call.arn)
    type_, path = _OWN.get(service, ("", ()))
    called = resource_of(call.resource, type_) if type_ else None
    if called is not None and called.get(*path) is not ABSENT:
        yield ResourcePolicy(called, path, sure=True, whole=True)
    for type_, document, place in _SEPARATE.get(service, ()):
        for policy in model.resources(type_):
            answer = any_of(_is_called(name, call.resource) for name in as_items(policy.get(place)) or (policy.get(place),))
            if answer is not False:
                yield ResourcePolicy(policy, (document,), sure=bool(answer), whole=True)


def _of_points(model: Model, called: Arn) -> Iterator[ResourcePolicy]:
    """The policies of access points through which objects are called."""
    for point in model.resources(ACCESS_POINT):
        arn = Reference(point, "Arn")
        through = any_of(Arn(one).covers(called) for one in (arn, joined([arn, "/*"])))
        if through is not False and point.get("Policy") is not ABSENT:
            yield ResourcePolicy(point, ("Policy",), sure=bool(through))


def _is_called(name: Value, called: Value) -> bool | None:
    """Whether a policy that names a resource, by its ARN, its address or its name, is that of the called one."""
    here, there = resource_of(name), resource_of(called)
    if here is not None and there is not None and here.type == there.type:
        return here is there
    by_name = not (as_str(name) or "arn:").startswith("arn:")
    return None if by_name else arn_matches(name, called)


def key_named(value: Value) -> Resource | None:
    """The key of the model that a value names, by itself or by its alias."""
    alias = resource_of(value, _ALIAS)
    return resource_of(value if alias is None else alias.get("TargetKeyId"), KEY)


def key_of(resource: Resource | None) -> Resource | None:
    """The customer managed key of the model with which a bucket's objects, messages, records or a secret are encrypted."""
    if resource is None:
        return None
    if resource.type == "AWS::S3::Bucket":
        rules = as_items(resource.get("BucketEncryption", "ServerSideEncryptionConfiguration")) or ()
        default = at(rules[0], "ServerSideEncryptionByDefault") if rules else None
        return key_named(at(default, "KMSMasterKeyID"))
    return key_named(resource.get(*_KEYS.get(resource.type, ("KmsKeyId",))))


def _is_beyond(statement: Statement) -> bool:
    """Whether a statement is, or may be, for others than roles by their ARNs: everybody, or a session."""
    found = None if statement.effect == "Deny" else statement.principals("AWS")
    return statement.effect != "Deny" and (found is None or any(not _is_named_role(one) for one in found))


def _is_named_role(principal: Value) -> bool:
    return (isinstance(principal, Reference) and principal.resource.type == _ROLE) or ":role/" in (as_str(principal) or "")


def names_role(statement: Statement, role: Resource, *, of_account: bool) -> bool | None:
    """Whether a role is among the principals of a statement.

    :param of_account: whether the account's root stands for all its roles.
    """
    if _is_for_service(statement):
        return False
    if "NotPrincipal" in statement.raw:
        others = listed(at(statement.raw, "NotPrincipal", "AWS"))
        named = any_of(_is_role(one, role, of_account=True) for one in others)
        return True if named is False else None
    principals = statement.principals("AWS")
    return None if principals is None else any_of(_is_role(one, role, of_account=of_account) for one in principals)


def _is_for_service(statement: Statement) -> bool:
    """Whether a statement asks for the sessions of a role that only a service of AWS has."""
    conditions = at(statement.raw, "Condition")
    asked = [
        as_str(value)
        for operator, keys in (conditions.items() if isinstance(conditions, Mapping) else ())
        for key, values in (keys.items() if isinstance(keys, Mapping) and operator.lower() in _DEMANDING else ())
        for value in (listed(values) if key.lower() == "aws:userid" else ())
    ]
    return bool(asked) and all(one in SESSIONS for one in asked)


def _is_role(principal: Value, role: Resource, *, of_account: bool) -> bool | None:
    return of_alternatives(principal, lambda one: _is_one_role(one, role, of_account=of_account))


def _is_one_role(principal: Value, role: Resource, *, of_account: bool) -> bool | None:
    if isinstance(principal, Reference):
        return principal.resource is role if principal.resource.type.startswith("AWS::IAM::") else None
    if not isinstance(principal, str | Text | Account):
        return None
    if principal == "*":
        return True
    if _is_account(principal):
        return _is_own(principal, role) if of_account else False
    if ":assumed-role/" in str(principal):
        return None
    return False if ":user/" in str(principal) else arn_matches(principal, Reference(role, "Arn"))


def _is_account(principal: str | Text | Account) -> bool:
    if isinstance(principal, Text):
        return principal.endswith(":root") is True
    return isinstance(principal, Account) or principal.endswith(":root") or principal.isdecimal()


def _is_own(principal: str | Text | Account, role: Resource) -> bool | None:
    """Whether an account is that of a role."""
    own = parts_of(role.template.owner)
    return any_of(matches(form, parts_of(principal)) for form in (own, ("arn:*:iam::", *own, ":root")))
