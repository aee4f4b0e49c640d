"""The region of each stack, by its environment or by what its resources name: zones, endpoints, ARNs, host names.

`region_of` is the region where nothing says another; `strangers` are the places that do.

Only places that AWS takes in the stack's own region count. Where no environment is known, stacks that take exports of each other
are in one region, and what most of their places name is theirs.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from hyperpod_constructs._support.grouping import grouped
from hyperpod_constructs.analysis.paths import place_in
from hyperpod_constructs.facts.zones import region_of as region_of_zone
from hyperpod_constructs.facts.zones import region_prefix, zone_prefix
from hyperpod_constructs.templates.dependencies import imported_from, parameter_at
from hyperpod_constructs.templates.model import Model, Resource, Template, resource_of
from hyperpod_constructs.templates.raw import Raw
from hyperpod_constructs.templates.values import ABSENT, Text, Value, as_str

_SUBNET = "AWS::EC2::Subnet"
_CLUSTER = "AWS::SageMaker::Cluster"
_GROUP = "InstanceGroups/*"
_STORAGE = f"{_GROUP}/InstanceStorageConfigs/*"
_PLACES: Mapping[str, tuple[str, ...]] = {
    "AWS::APS::Workspace": ("KmsKeyArn",),
    "AWS::Backup::BackupVault": ("EncryptionKeyArn", "Notifications/SNSTopicArn"),
    "AWS::CloudWatch::Alarm": ("AlarmActions/*", "OKActions/*", "InsufficientDataActions/*"),
    "AWS::DynamoDB::Table": ("SSESpecification/KMSMasterKeyId",),
    _SUBNET: ("AvailabilityZone", "AvailabilityZoneId"),
    "AWS::EC2::VPCEndpoint": ("ServiceName",),
    "AWS::ECR::Repository": ("EncryptionConfiguration/KmsKey",),
    "AWS::EFS::FileSystem": ("KmsKeyId",),
    "AWS::EKS::Cluster": ("EncryptionConfig/*/Provider/KeyArn",),
    "AWS::ElasticLoadBalancingV2::Listener": ("Certificates/*/CertificateArn",),
    "AWS::FSx::FileSystem": ("KmsKeyId",),
    "AWS::Lambda::EventSourceMapping": ("EventSourceArn",),
    "AWS::Lambda::Function": ("Code/ImageUri", "KmsKeyArn"),
    "AWS::Logs::LogGroup": ("KmsKeyId",),
    "AWS::Logs::SubscriptionFilter": ("DestinationArn",),
    "AWS::RDS::DBCluster": ("KmsKeyId",),
    "AWS::RDS::DBInstance": ("AvailabilityZone", "KmsKeyId"),
    "AWS::S3::Bucket": ("BucketEncryption/ServerSideEncryptionConfiguration/*/ServerSideEncryptionByDefault/KMSMasterKeyID",),
    "AWS::SageMaker::ClusterSchedulerConfig": ("ClusterArn",),
    "AWS::SageMaker::ComputeQuota": ("ClusterArn",),
    "AWS::SageMaker::ImageVersion": ("BaseImage",),
    "AWS::SageMaker::Model": ("PrimaryContainer/Image", "Containers/*/Image"),
    "AWS::SNS::Topic": ("KmsMasterKeyId",),
    "AWS::SQS::Queue": ("KmsMasterKeyId",),
    "AWS::SecretsManager::Secret": ("KmsKeyId",),
    _CLUSTER: (
        "Orchestrator/Eks/ClusterArn",
        "Orchestrator/Slurm/AccountingDatabase/SecretArn",
        f"{_GROUP}/TrainingPlanArn",
        f"{_STORAGE}/EbsVolumeConfig/VolumeKmsKeyId",
        f"{_STORAGE}/FsxLustreConfig/DnsName",
        f"{_STORAGE}/FsxOpenZfsConfig/DnsName",
    ),
}
"""The properties that name something of the stack's own region."""


@dataclass(frozen=True)
class Claim:
    """A place that tells the region of its stack."""

    resource: Resource
    path: tuple[str | int, ...]
    text: str
    region: str
    """As in the ids of zones: `usw2`."""
    name: str | None
    """By its name: `us-west-2`."""


@dataclass(frozen=True)
class Stranger:
    """A place of another region than its stack's."""

    claim: Claim
    home: str
    """The region of the stack in words."""
    parameter: tuple[Template, str] | None = None
    """The parameter that gives it, where nothing tells which of two regions is the stack's: its other places are said with it."""
    rule: tuple[Template, str] | None = None
    """The rule of the template that asserts another region than all of its places name."""


def region_of(resource: Resource) -> str | None:
    """The region of a resource; `None` if nothing tells."""
    model = resource.template.model
    return own_region_of(resource) or model.cached((region_of, model), lambda: _agreed(claims(model)))


def own_region_of(resource: Resource) -> str | None:
    """The region of a resource, by its own template alone."""
    template = resource.template
    own = template.environment.region
    return own or template.model.cached((region_of, template), lambda: _agreed(_of_template(template)))


def _agreed(found: Iterable[Claim]) -> str | None:
    """The region that all places tell; `None` if there is none, or several."""
    names = {one.name for one in found if not _is_outside(one)}
    return names.pop() if len(names) == 1 else None


def allowed_regions(template: Template) -> frozenset[str]:
    """The regions in which a stack can be, by its rules and by its mappings; empty where nothing limits it."""
    return template.model.cached((allowed_regions, template), lambda: _allowed(template))


def _allowed(template: Template) -> frozenset[str]:
    mappings, resources = (template.raw.get(name) for name in ("Mappings", "Resources"))
    raws = [one for one in resources.values() if isinstance(one, dict)] if isinstance(resources, dict) else []
    asked = {name for one in raws if "Condition" not in one for name in _asked(one.get("Properties"))}
    keys = [mappings.get(name) for name in asked] if isinstance(mappings, dict) else []
    found = [{key for key in one if _NAMED.fullmatch(key)} for one in keys if isinstance(one, dict)]
    found += [{*regions} for _, regions in _asserted(template)]
    return frozenset.intersection(*map(frozenset, found)) if found else frozenset()


def _asserted(template: Template) -> Iterator[tuple[str, frozenset[str]]]:
    """The rules of a template that assert its region, whatever its parameters are, each with the regions.

    Source: https://docs.aws.amazon.com/AWSCloudFormation/latest/UserGuide/rules-section-structure.html (as of 2026-11-30)
    """
    rules = template.raw.get("Rules")
    for name, rule in rules.items() if isinstance(rules, dict) else ():
        stated = rule.get("Assertions") if isinstance(rule, dict) and "RuleCondition" not in rule else None
        for one in stated if isinstance(stated, list) else ():
            regions = _compared(one.get("Assert") if isinstance(one, dict) else None)
            if regions:
                yield name, regions


def _compared(asserted: Raw) -> frozenset[str]:
    """The regions with one of which the region surely has to agree; empty for any other assertion."""
    function, given = next(iter(asserted.items()), ("", None)) if isinstance(asserted, dict) else ("", None)
    others = [item for item in given if item != {"Ref": "AWS::Region"}] if isinstance(given, list) and len(given) == 2 else []
    known = others[0] if function == "Fn::Contains" and len(others) == 1 else others if function == "Fn::Equals" else []
    texts = [one for one in known if isinstance(one, str) and _NAMED.fullmatch(one)] if isinstance(known, list) else []
    return frozenset(texts) if isinstance(known, list) and len(texts) == len(known) and len(others) == 1 else frozenset()


def _asked(raw: Raw) -> Iterator[str]:
    """The mappings in which properties surely look the region up."""
    if isinstance(raw, dict):
        call = raw.get("Fn::FindInMap")
        if isinstance(call, list) and len(call) == 3 and isinstance(call[0], str) and call[1] == {"Ref": "AWS::Region"}:
            yield call[0]
        yield from (name for key, one in raw.items() if key != "Fn::If" for name in _asked(one))
    elif isinstance(raw, list):
        yield from (name for one in raw for name in _asked(one))


def _is_outside(claim: Claim) -> bool:
    """Whether a place names a region in which its stack cannot be."""
    allowed = allowed_regions(claim.resource.template)
    return bool(allowed) and claim.name is not None and claim.name not in allowed


def _of_template(template: Template) -> list[Claim]:
    return [one for one in claims(template.model) if one.resource.template is template]


def strangers(model: Model) -> Iterator[Stranger]:
    """The places that name another region than that of their stacks."""
    found = [one for one in claims(model) if not _is_outside(one)]
    alone = {
        template: name for template in model.templates for name, regions in _asserted(template) if _is_alone(template, regions)
    }
    for template, name in alone.items():
        first = _of_template(template)[0]
        yield Stranger(first, f"that of {first.resource.logical_id} ({first.text})", rule=(template, name))
    for one in claims(model):
        if _is_outside(one) and one.resource.template not in alone:
            names = sorted(allowed_regions(one.resource.template))
            yield Stranger(one, f"which its rules or mappings have as {' or '.join(names)}")
    stacks = _together(model, found) if len({one.region for one in found}) > 1 or _has_regions(model) else {}
    for root, members in grouped(
        (stacks.get(one.resource.template.root, one.resource.template.root), one) for one in found
    ).items():
        home = _home(root, members)
        strange = [] if home is None else [Stranger(one, home[1]) for one in members if one.region != home[0]]
        yield from _by_parameter(strange) if root.environment.region is None and _is_tied(_counted(members)) else strange


def _by_parameter(strange: Sequence[Stranger]) -> Iterator[Stranger]:
    """Strangers of a tie: those that one parameter gives once, at the parameter."""
    found = grouped((parameter_at(one.claim.resource, one.claim.path) or id(one), one) for one in strange)
    for given, (first, *_) in found.items():
        yield first if isinstance(given, int) else replace(first, parameter=given)


def _is_alone(template: Template, regions: frozenset[str]) -> bool:
    """Whether all places of a template, of which there are several, name one region that a rule of it does not assert."""
    found = _of_template(template)
    named = {one.name for one in found}
    return len({one.resource for one in found}) > 1 and len(named) == 1 and named.isdisjoint({*regions, None})


def _has_regions(model: Model) -> bool:
    return any(template.environment.region for template in model.templates)


def _home(root: Template, found: list[Claim]) -> tuple[str, str] | None:
    """The region of a stack: of its environment, or of most of its places; where as many name another one, of a VPC's first."""
    own = root.environment.region
    if own is not None:
        return None if re.fullmatch(REGION, own) is None else (zone_prefix(own), own)
    count = _counted(found)
    most = count.most_common(1)[0][0]
    example = _first_of_two(found) if _is_tied(count) else next(one for one in found if one.region == most)
    return None if example is None else (example.region, f"that of {example.resource.logical_id} ({example.text})")


def _counted(found: Iterable[Claim]) -> Counter[str]:
    """How many resources name each region."""
    return Counter(one.region for one in {(one.resource, one.region): one for one in found}.values())


def _is_tied(count: Counter[str]) -> bool:
    """Whether no region is named more often than another one, and more than once."""
    (_, times), *others = count.most_common(2)
    return times < 2 or bool(others and others[0][1] >= times)


def _first_of_two(found: Iterable[Claim]) -> Claim | None:
    """The first subnet of a VPC that has subnets in two regions: one of them is wrong, whichever it is."""
    subnets = ((resource_of(one.resource.get("VpcId")), one) for one in found if one.resource.type == _SUBNET)
    for vpc, claimed in grouped(subnets).items():
        if vpc is not None and len({one.region for one in claimed}) == 2:
            return claimed[0]
    return None


REGION = r"(?:us-gov|us-iso[a-z]*|[a-z]{2})-(?:north|south|east|west|central)+-\d"
"""The name of a region, as a pattern."""
_NAMED = re.compile(rf"(?<![a-z0-9-]){REGION}(?!\d)")


def claims(model: Model) -> tuple[Claim, ...]:
    """The places of a model that tell a region; computed once."""
    return model.cached(claims, lambda: tuple(_claims(model)))


def _claims(model: Model) -> Iterator[Claim]:
    for resource in model.resources(*_PLACES):
        if resource.exists and resource.get("ServiceRegion") is ABSENT:
            for path in _PLACES[resource.type]:
                for place, value in place_in(resource.get(), path):
                    yield from _claim(resource, place, value)
    yield from _of_own_vpcs(model)
    yield from _of_keys(model)


def _of_keys(model: Model) -> Iterator[Claim]:
    """The one region of the services for which the policy of a key is: a key is used in its own region alone."""
    for key in model.resources("AWS::KMS::Key"):
        for path in _OF_KEYS if key.exists and key.get("MultiRegion") in (ABSENT, "false", False) else ():
            for place, value in place_in(key.get(), path):
                values = value if isinstance(value, tuple) else (value,)
                found = [claim for one in values for claim in _claim(key, place, one)]
                if len({one.name for one in found}) == 1 and all(as_str(one) is not None for one in values):
                    yield found[0]


_OF_KEYS = ("KeyPolicy/Statement/*/Principal/Service", "KeyPolicy/Statement/*/Condition/*/kms:ViaService")
"""The services for which statements of the policy of a key are."""


def _of_own_vpcs(model: Model) -> Iterator[Claim]:
    """The regions that hosted zones and peerings give for VPCs of their own stack."""
    for type_, (place, region) in _VPCS.items():
        for resource in model.resources(type_):
            for path, vpc in place_in(resource.get(), place):
                owner = resource_of(vpc)
                if resource.exists and owner is not None and owner.template.root is resource.template.root:
                    yield from _claim(resource, (*path[:-1], region), resource.get(*path[:-1], region))


_VPCS = {"AWS::EC2::VPCPeeringConnection": ("PeerVpcId", "PeerRegion"), "AWS::Route53::HostedZone": ("VPCs/*/VPCId", "VPCRegion")}
"""Places of a VPC, and the property beside it with its region."""


def _claim(resource: Resource, path: tuple[str | int, ...], value: Value) -> Iterator[Claim]:
    written = [part for part in value.parts if isinstance(part, str)] if isinstance(value, Text) else [as_str(value) or ""]
    text = next(filter(_NAMED.search, written), written[0] if written else "")
    named = _NAMED.search(text)
    region = zone_prefix(named[0]) if named is not None else region_prefix(text)
    if region is not None:
        yield Claim(resource, path, text, region, region_of_zone(text) if named is None else named[0])


def _together(model: Model, found: Sequence[Claim]) -> dict[Template, Template]:
    """The first of the stacks that take exports of each other, and have no known region; by stack."""
    first: dict[Template, Template] = {}
    for root in dict.fromkeys(one.resource.template.root for one in found):
        beside = [other for other in imported_from(root) if other.environment.region == root.environment.region]
        earliest = next((first[one] for one in (root, *beside) if one in first), root)
        for one in (root, *beside):
            first.setdefault(one, earliest)
    return first
