"""The policy documents of the templates, statement by statement, and what IAM would say of each."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from typing import NamedTuple

from hyperpod_constructs._support.words import enumerated
from hyperpod_constructs.analysis.arn_fields import misplaced_fields
from hyperpod_constructs.analysis.arns import Arn
from hyperpod_constructs.analysis.conditions import is_operator
from hyperpod_constructs.analysis.embedded import values_in
from hyperpod_constructs.analysis.ends import ends
from hyperpod_constructs.analysis.fitting_actions import (
    VARIABLE,
    are_of_no_resource,
    strangers,
    unfit_actions,
    unknown_action,
)
from hyperpod_constructs.analysis.idle_names import idle_names
from hyperpod_constructs.analysis.instance_sessions import mistaken_targets
from hyperpod_constructs.analysis.longer_names import longer_names
from hyperpod_constructs.analysis.paths import place_in
from hyperpod_constructs.analysis.policy_document import Statement, listed
from hyperpod_constructs.analysis.policy_grammar import mistaken_elements
from hyperpod_constructs.analysis.principals import mistaken_principals, never_asked
from hyperpod_constructs.analysis.regions import own_region_of
from hyperpod_constructs.facts.arn_forms import FORMS, ArnForm
from hyperpod_constructs.facts.policies import ACTIONS_OF, DOCUMENTS, POLICIES_OF, Kind
from hyperpod_constructs.facts.regions import PARTITIONS, partition
from hyperpod_constructs.templates.globs import glob
from hyperpod_constructs.templates.model import Model, Resource, resource_of, target_of
from hyperpod_constructs.templates.values import ABSENT, UNKNOWN, Reference, Text, Value, as_str, at, joined, parts_of, shown

_BUS, _ENDPOINT = "AWS::Events::EventBus", "AWS::EC2::VPCEndpoint"
_UNKNOWN = "\0"
_WITH_VARIABLES = "2012-10-17"
_OF_OBJECTS = ("AWS::S3::AccessPoint", "AWS::S3::BucketPolicy")
_SID = re.compile(r"[A-Za-z0-9]*")
_PARTITION = re.compile(r"arn:(aws[a-z-]*):")
_OPEN = re.compile(r"[*?$]")
_DOUBLED = re.compile(r"arn:[^:]*:s3:::(?:s3://|https://|arn:|\$\{\w+\.(?:Arn|\w*DomainName|WebsiteURL)\})")
_BUCKET_ARN = re.compile(r"arn:[^:]*:s3:(?!:)[^:]*:[^:]*:|arn:[^:]*:s3::[^:]+:")
"""The beginning of an ARN of S3 with a region or an account, which those of buckets and objects have not."""
_OF_AWS = re.compile(
    r"arn:[^:]*:ssm:[^:]*:(\d{12}|\0):(parameter/aws/service/.*|document/("
    r"AWS|AWSCodeDeployAgent|AWSConfigRemediation|AWSConformancePacks|AWSDisasterRecovery|AWSDistroOTel|AWSDocs|AWSEC2|"
    r"AWSEC2Launch|AWSFIS|AWSFleetManager|AWSIncidents|AWSKinesisTap|AWSMigration|AWSNVMe|AWSNitroEnclavesWindows|"
    r"AWSObservabilityExporter|AWSPVDriver|AWSQuickSetupType|AWSQuickStarts|AWSRefactorSpaces|AWSResilienceHub|AWSSAP|"
    r"AWSSAPTools|AWSSQLServer|AWSSSO|AWSSupport|AWSSystemsManagerSAP|AmazonCloudWatch|AmazonCloudWatchAgent|AmazonECS|"
    r"AmazonEFSUtils|AmazonEKS|AmazonInspector2?|AmazonInternal|AwsEnaNetworkDriver|AwsVssComponents)-.*)"
)
"""Documents and public parameters of AWS, behind an account. Services of AWS make others in the account itself, and parameters
below /aws/reference/secretsmanager are secrets of the account.

Sources: https://docs.aws.amazon.com/drs/latest/userguide/security-iam-awsmanpol-AWSElasticDisasterRecoveryLaunchActionsPolicy.html,
https://docs.aws.amazon.com/systems-manager/latest/userguide/parameter-store-public-parameters.html and
https://docs.aws.amazon.com/systems-manager/latest/userguide/integration-ps-secretsmanager.html (as of 2026-11-28)
"""


class Written(NamedTuple):
    """A statement where it is written."""

    resource: Resource
    path: tuple[str | int, ...]
    kind: Kind
    statement: Statement


def written(model: Model) -> tuple[Written, ...]:
    """All known statements of the model; computed once."""
    return model.cached(written, lambda: tuple(_written(model)))


def documents(model: Model) -> Iterator[tuple[Resource, tuple[str | int, ...], Kind]]:
    """All policy documents of the model, by their places."""
    for type_, found in DOCUMENTS.items():
        for resource in model.resources(type_):
            for path, kind in found:
                for place, value in place_in(resource.get(), path):
                    if value is not ABSENT:
                        yield resource, place, kind


def _written(model: Model) -> Iterator[Written]:
    for resource, place, kind in documents(model):
        document = resource.get(*place)
        raw, is_text = at(values_in(document), "Statement"), isinstance(document, str | Text)
        for index, item in enumerate(raw if isinstance(raw, tuple) else (raw,)):
            if isinstance(item, Mapping):
                path = (*place, "Statement", *((index,) if isinstance(raw, tuple) else ()))
                yield Written(resource, place if is_text else path, kind, Statement(item))


def refused_words(one: Written) -> Iterator[tuple[str, tuple[str | int, ...]]]:
    """What IAM refuses in a statement, beside its grammar: in words, with the place."""
    statement = one.statement
    for operator in _keys(at(statement.raw, "Condition")):
        if not is_operator(operator):
            yield f"{operator!r} is no operator of conditions", ("Condition", operator)
        for name in _spelled_twice(_keys(at(statement.raw, "Condition", operator))):
            yield f"{operator} has the key {name} twice: case does not count", ("Condition", operator, name)
    if one.kind is Kind.TRUST:
        yield from _in_trust(statement)
    else:
        yield from _named_words(one)
    yield from mistaken_principals(statement, one.kind)
    sid = as_str(at(statement.raw, "Sid"))
    if sid is not None and one.kind is not Kind.RESOURCE and not _SID.fullmatch(sid):
        yield f"the Sid {sid!r} has other characters than letters and digits", ("Sid",)
    yield from mistaken_elements(one.resource, one.kind, statement)


def _named_words(one: Written) -> Iterator[tuple[str, tuple[str | int, ...]]]:
    """What IAM refuses of the actions and the resources that a statement names."""
    statement = one.statement
    word = "NotResource" if statement.excludes_resources else "Resource"
    for index, value in enumerate(statement.resources):
        mistake = _resource_mistake(value, one.resource) or _partition_mistake(value, one.resource)
        if mistake:
            yield mistake, (word, index) if isinstance(at(statement.raw, word), tuple) else (word,)
    for text in filter(None, map(as_str, statement.actions)):
        if text != "*" and ":" not in text:
            action = "NotAction" if statement.excludes_actions else "Action"
            yield f"{text!r} names no service; an action has the form SERVICE:ACTION", (action,)


def _resource_mistake(value: Value, resource: Resource) -> str | None:
    first = parts_of(value)[0]
    if isinstance(first, Reference):
        form = FORMS.get(first.resource.type, ArnForm())
        own = target_of(first).template is resource.template
        what = "a name" if first.attribute in form.names else "another value" if own and _is_no_arn(first, form) else ""
        return f"{value!r} begins with {what} and is no ARN; a resource is an ARN or *" if what else None
    begin = first if isinstance(first, str) else ""
    fields = begin.split(":")
    if fields[0] == "arn" and len(fields) > 2 and fields[1] not in ("", *PARTITIONS) and not _OPEN.search(fields[1]):
        return f"{shown(value)!r} has {fields[1]!r} in the place of the partition, which is aws in most regions"
    if _is_bucket_elsewhere(value):
        return f"{shown(value)!r} has a region or an account, and the ARN of a bucket has none"
    if _DOUBLED.match(str(shown(value))):
        return f"{shown(value)!r} has an address or an ARN in the place of the name of the bucket"
    formed = any(begin.startswith(stem) or stem.startswith(begin) for stem in ("arn:", "${", "*", "?"))
    return None if formed else f"{shown(value)!r} is no ARN; a resource is an ARN or *"


def _is_no_arn(reference: Reference, form: ArnForm) -> bool:
    """Whether a reference gives no ARN, of a type whose ARNs are known."""
    named = (reference.attribute or "").lower()
    return bool(form.arns) and reference.attribute not in {*form.arns, *form.others} and "arn" not in named


def _is_bucket_elsewhere(value: Value) -> bool:
    """Whether a pattern is for a bucket of the model, with a region or an account before its name."""
    buckets = (part for part in parts_of(value) if isinstance(part, Reference) and part.resource.type == "AWS::S3::Bucket")
    bucket = next(buckets, None)
    if bucket is None or bucket.attribute is not None:
        return False
    before, *_ = str(shown(value)).split(f"${{{bucket.resource.logical_id}}}")
    return _BUCKET_ARN.fullmatch(before) is not None


def _partition_mistake(value: Value, resource: Resource) -> str | None:
    """An ARN of another partition than that of its stack, which IAM refuses."""
    region, found = own_region_of(resource), _PARTITION.match(str(parts_of(value)[0]))
    own = None if region is None or found is None else partition(region)
    if own is None or found is None or found[1] == own.name:
        return None
    return f"{shown(value)!r} is of the partition {found[1]}, and the stack is in {own.name}"


def _in_trust(statement: Statement) -> Iterator[tuple[str, tuple[str | int, ...]]]:
    if {"Resource", "NotResource"} & statement.raw.keys():
        yield "the trust of a role names no resources", ("Resource",)
    for text in filter(None, map(as_str, statement.actions)):
        if not glob("sts:*", text.lower()) and text != "*":
            yield f"{text!r} is no action of sts; the trust of a role has only those", ("Action",)


def idle_words(one: Written) -> Iterator[str]:
    """The actions of a statement that do nothing: there are none of this name, or they do not work on its resources."""
    statement = one.statement
    for text in filter(None, map(as_str, statement.actions)):
        unknown = unknown_action(text)
        if unknown:
            yield unknown
        elif one.kind is Kind.RESOURCE and not _is_asked(one.resource.type, text):
            yield f"{text} is never asked of this policy, whose actions begin with {ACTIONS_OF[one.resource.type]}:"
    if one.kind is Kind.TRUST:
        yield from never_asked(statement)
    if one.kind is Kind.RESOURCE and one.resource.type in ACTIONS_OF and are_of_no_resource(statement):
        yield f"{', '.join(map(str, statement.actions))}: asked for no resource, and so of no policy of one"
    if _has_variables(one) and _is_old(one):
        yield f"only documents of the Version {_WITH_VARIABLES} have variables, and others take them for text"
    of_bucket = one.resource.type in _OF_OBJECTS
    judged = one.kind is Kind.IDENTITY or one.resource.type == _ENDPOINT
    if statement.resources and not statement.excludes_actions and (of_bucket or (statement.effect == "Allow" and judged)):
        unfit = unfit_actions(statement)
        if unfit:
            yield f"{', '.join(unfit)} {'works' if len(unfit) == 1 else 'work'} on none of these resources"
        else:
            yield from (
                f"{shown(pattern)!r} is of a service on which none of these actions work" for pattern in strangers(statement)
            )
    yield from (f"{shown(value)!r} is of AWS, whose ARN has no account" for value in statement.resources if _is_of_aws(value))
    if not of_bucket:
        yield from misplaced_fields(statement)
    if not of_bucket and one.resource.type not in POLICIES_OF:
        yield from longer_names(statement)
        yield from idle_names(one.resource, statement)
        yield from mistaken_targets(one.resource, statement)


def _is_of_aws(value: Value) -> bool:
    """Whether a pattern is for a document or a parameter of AWS in an account; nobody else's has such a name."""
    spelled = "".join(part if isinstance(part, str) else _UNKNOWN for part in parts_of(value))
    return _OF_AWS.fullmatch(spelled) is not None


def _is_old(one: Written) -> bool:
    """Whether a document has an old version, which it has too if it names none."""
    version = one.resource.get(*one.path[: one.path.index("Statement")], "Version")
    return version is ABSENT or as_str(version) not in (_WITH_VARIABLES, None)


def _has_variables(one: Written) -> bool:
    """Whether a resource or a condition of a statement has a variable, such as `${aws:username}`."""
    conditions = at(one.statement.raw, "Condition")
    keys = conditions.values() if isinstance(conditions, Mapping) else ()
    values = [value for each in keys if isinstance(each, Mapping) for found in each.values() for value in listed(found)]
    texts = [part for value in (*one.statement.resources, *values) for part in parts_of(value) if isinstance(part, str)]
    return "Statement" in one.path and any(VARIABLE.search(text) for text in texts)


def _is_asked(type_: str, action: str) -> bool:
    """Whether the policy of a type is asked for an action, or may be."""
    prefix, found, _ = action.lower().partition(":")
    return not found or type_ not in ACTIONS_OF or glob(prefix, ACTIONS_OF[type_])


def of_others(one: Written) -> Iterator[tuple[str, tuple[str | int, ...]]]:
    """That a statement is for other resources than those whose policy it is in: in words, with the place that says whose it is."""
    way, type_ = POLICIES_OF.get(one.resource.type, ("", ""))
    if one.kind is not Kind.RESOURCE or not way:
        return
    place = one.path if way == "." else (way.partition("/")[0],)
    found = list(ends(one.resource, way))
    owners = [owner for end in found if (owner := resource_of(end.value, type_)) is not None]
    patterns = [] if one.statement.excludes_resources else [Arn(pattern) for pattern in one.statement.resources]
    if not owners or len(owners) < len(found) or not patterns:
        return
    named = enumerated(owner.logical_id for owner in owners)
    others = [one.value for one in patterns if not any(map(partial(_may_be_of, one), owners))]
    if len(others) == len(patterns):
        yield f"the policy is of {named}, and the statement is for another resource", place
    elif others:
        yield f"the policy is of {named}, and the statement speaks of {enumerated(map(_called, others))} too", place


def _may_be_of(pattern: Arn, owner: Resource) -> bool:
    """Whether a pattern may cover a resource, or what lies below it: behind a slash, and the rules of a bus."""
    if owner.type == _BUS and ":rule/" in str(shown(pattern.value)):
        return True
    form = FORMS[owner.type]
    whole = Reference(owner, next(iter(sorted(form.arns, key=str))))
    below = joined([whole, "/", UNKNOWN])
    return any(pattern.covers(Arn(arn)) is not False for arn in (whole, below))


def _called(pattern: Value) -> str:
    """A resource of the model by its logical id, and any other pattern as it is written."""
    named = resource_of(pattern)
    return str(shown(pattern)) if named is None else named.logical_id


def repeated_sids(statements: Sequence[Value]) -> Iterator[tuple[int, str]]:
    """The names of statements that a document has twice, with the index of the second."""
    seen: set[str] = set()
    for index, item in enumerate(statements):
        sid = as_str(at(item, "Sid"))
        if sid and sid in seen:
            yield index, sid
        seen.update([sid] if sid else [])


def _spelled_twice(names: Sequence[str]) -> Iterator[str]:
    """The keys that stand in another case before."""
    return (name for index, name in enumerate(names) if name.lower() in {one.lower() for one in names[:index]})


def _keys(value: Value) -> list[str]:
    return list(value) if isinstance(value, Mapping) else []
