"""Properties and attributes by type, from the registry's schemas: `property_schemas.tsv`, `regions_without.tsv`, `attributes.tsv`.

`more_property_schemas.tsv` has the services that are seldom beside a cluster, and is read only for a type that is not in the first
table. `tools/generate_property_schemas.py` writes the tables. A schema has the words of JSON Schema and of cfn-lint, but:

- `$ref` is the name of a definition.
- An object with `properties` takes no others, unless `additionalProperties` says so.
- A `pattern` is Python's, for the whole text, with `re.ASCII`.
- `readOnly` marks a property that only the service sets, and `ref` names the property that `Ref` gives.
- `extensions` are schemas for the values at a path, each with its demand.
- `ascending` names properties whose numbers do not fall, `timesAtMost` numbers that are at most so many times one beside them,
  `uniqueKeys` the property by which the items of a list differ, `sameValues` two groups of paths with the same texts,
  `countAtMost` lists that have as many items as a number beside them says, `asMany` lists with an item for each of
  the others, `namedIn` names that items of a list have,
  `beginsWith` the beginnings of a text, `without` what no text has, and `classes` the families of machines with their sizes.

`demands.tsv` has what neither the schemas nor the models of requests say, row by row with its source; `together.tsv` has the
settings among them that go together, in a shorter form.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from functools import cache
from typing import Any, TypeAlias

from hyperpod_constructs.facts.data import rows
from hyperpod_constructs.facts.together import demands_together
from hyperpod_constructs.facts.zones import ZONE_NAME

Schema: TypeAlias = Mapping[str, Any]

FORMATS: Mapping[str, tuple[str, str]] = {
    "AWS::ACM::Certificate.Arn": (r"arn:aws[a-z-]*:acm:[a-z0-9-]+:\d{12}:certificate/.+", "the ARN of a certificate"),
    "AWS::EC2::AvailabilityZone.Name": (ZONE_NAME.pattern, "the name of a zone, such as us-west-2a"),
    "AWS::EC2::Image.Id": (r"ami-([0-9a-z]{8}|[0-9a-z]{17})|resolve:ssm:.+", "the id of an image, such as ami-0123456789abcdef0"),
    "AWS::EC2::Instance.Id": (r"i-([0-9a-f]{8}|[0-9a-f]{17})", "the id of an instance, such as i-0123456789abcdef0"),
    "AWS::EC2::SecurityGroup.Id": (
        r"sg-([0-9a-fA-F]{8}|[0-9a-fA-F]{17})",
        "the id of a security group, such as sg-0123456789abcdef0",
    ),
    "AWS::EC2::SecurityGroup.Name": (r"[a-zA-Z0-9 ._\-:/()#,@\[\]+=&;{}!$*]{1,255}", "the name of a security group"),
    "AWS::EC2::Subnet.Id": (r"subnet-([0-9a-fA-F]{8}|[0-9a-fA-F]{17})", "the id of a subnet, such as subnet-0123456789abcdef0"),
    "AWS::EC2::VPC.Id": (r"vpc-([0-9a-fA-F]{8}|[0-9a-fA-F]{17})", "the id of a VPC, such as vpc-0123456789abcdef0"),
    "AWS::EC2::Volume.Id": (r"vol-([0-9a-f]{8}|[0-9a-f]{17})", "the id of a volume, such as vol-0123456789abcdef0"),
    "AWS::IAM::Role.Arn": (r"arn:aws[a-z-]*:iam::\d{12}:role/.+", "the ARN of a role, arn:aws:iam::ACCOUNT:role/NAME"),
    "AWS::KMS::Alias.AliasName": (r"alias/[a-zA-Z0-9:/_-]+", "the alias of a key, alias/NAME"),
    "AWS::KMS::Key.Arn": (r"arn:aws[a-z-]*:kms:[a-z0-9-]+:\d{12}:(key|alias)/.+", "the ARN of a key"),
    "AWS::KMS::Key.Id": (
        r"[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}|mrk-[0-9a-f]{32}|alias/[a-zA-Z0-9/_-]+",
        "the id of a key",
    ),
    "AWS::Lambda::Function.Arn": (r"arn:aws[a-z-]*:lambda:[a-z0-9-]+:\d{12}:function:.+", "the ARN of a function"),
    "AWS::Logs::LogGroup.Name": (
        r"[.\-_/#A-Za-z0-9]{1,512}",
        "the name of a log group: letters, digits, '.', '-', '_', '/' and '#'",
    ),
    "AWS::S3::Bucket.Name": (
        r"(?!.*\.\.)[a-z0-9][a-z0-9.\-]{1,61}[a-z0-9]",
        "the name of a bucket: 3 to 63 small letters, digits, '.' and '-'",
    ),
    "AWS::SNS::Topic.Arn": (r"arn:aws[a-z-]*:sns:[a-z0-9-]+:\d{12}:.+", "the ARN of a topic"),
}
"""Formats of identifiers: the pattern of the whole text, and the text in words (as of 2026-11-24).

Source: https://docs.aws.amazon.com/IAM/latest/UserGuide/reference-arns.html and the API reference of each service.
"""

LONGEST: Mapping[str, int] = {"AWS::S3::Bucket.Name": 63}
"""Characters of the longest identifier of a format (as of 2026-11-27).

Source: https://docs.aws.amazon.com/AmazonS3/latest/userguide/bucketnamingrules.html
"""

_NAME = "letters, digits and hyphens, with a letter or digit first and last"
FORMS: Mapping[str, str] = {
    "[-0-9a-zA-Z]+": "letters, digits and hyphens",
    "^[0-9A-Za-z][A-Za-z0-9\\-_]*": "letters, digits, '-' and '_', with a letter or digit first",
    "^[a-zA-Z0-9](-*[a-zA-Z0-9])*$": _NAME,
    "^[a-zA-Z0-9](-*[a-zA-Z0-9]){0,62}": f"1 to 63 {_NAME}",
    "^[a-zA-Z0-9](-*[a-zA-Z0-9]){0,62}$": f"1 to 63 {_NAME}",
    r"^\d{12}$": "12 digits",
}
"""Patterns in words, where a reader needs them often."""

_LIMITS = " limits"

_FOLLOWS = dict.fromkeys(("AWS::SageMaker::ClusterSchedulerConfig", "AWS::SageMaker::ComputeQuota"), "AWS::SageMaker::Cluster")
"""Types that the schemas of regions receive late: a region with the other type counts as one with these (as of 2026-11-21).

The guide has task governance in all regions of HyperPod on EKS, among them us-west-2, us-east-2 and eu-west-1, whose schemas lack
the first.

Source: https://docs.aws.amazon.com/sagemaker/latest/dg/sagemaker-hyperpod-eks-operate-console-ui-governance.html
"""


@cache
def property_schema(resource_type: str) -> Schema | None:
    """The schema of a type's properties; `None` for a type of another service, or of none."""
    text = _text_of(resource_type)
    return None if text is None else _parsed(text)


def _text_of(name: str) -> str | None:
    found = _table("property_schemas.tsv").get(name)
    seldom = found is None and name.startswith("AWS::") and name.rpartition("::")[0] not in _services()
    return _table("more_property_schemas.tsv").get(name) if seldom else found


@cache
def request_limits(resource_type: str) -> Schema | None:
    """What the service's request demands beyond the schema of a type: limits of its model, and the rows of `demands.tsv`."""
    limits, demands = property_schema(f"{resource_type}{_LIMITS}"), list(_demands_of(resource_type))
    return {**(limits or {}), "extensions": demands} if limits or demands else None


def _demands_of(resource_type: str) -> Iterator[tuple[str, str, Any]]:
    """The demands of a type: paths, words and schemas of the values there."""
    kinds = (resource_type, f"{resource_type.partition('::')[0]}::*", "*")
    for path, words, schema in (one for kind in kinds for one in _demands().get(kind, ())):
        yield path, words, opened(json.loads(schema) if isinstance(schema, str) else schema)


@cache
def _demands() -> Mapping[str, list[tuple[str, str, str | Schema]]]:
    found: dict[str, list[tuple[str, str, str | Schema]]] = {}
    for types, path, words, schema in _written():
        for name in types.split(","):
            found.setdefault(name, []).append((path, words, schema))
    return found


def _written() -> Iterator[tuple[str, str, str, str | Schema]]:
    for types, path, words, schema, _ in rows("demands.tsv"):
        yield types, path, words, schema
    yield from demands_together()


def opened(node: Any) -> Any:
    """A schema whose objects take other properties too: a demand is about some of them."""
    if isinstance(node, list):
        return [opened(one) for one in node]
    if not isinstance(node, dict):
        return node
    found = {name: opened(one) for name, one in node.items()}
    return {"additionalProperties": True, **found} if isinstance(node.get("properties"), dict) else found


def known_types() -> Iterator[str]:
    """The types with a schema, of all services."""
    return (name for name in (*_table("property_schemas.tsv"), *_table("more_property_schemas.tsv")) if not name.endswith(_LIMITS))


def has_schema(resource_type: str) -> bool:
    """Whether a type has a schema."""
    return _text_of(resource_type) is not None


@cache
def regions_without(name: str) -> frozenset[str]:
    """The regions that lack a type of resource, or a type of nodes such as `ml.p5.48xlarge`."""
    return frozenset(_table("regions_without.tsv").get(_FOLLOWS.get(name, name), "").split(",")) - {""}


@cache
def attributes(resource_type: str) -> frozenset[str] | None:
    """The attributes that `Fn::GetAtt` takes from a type; `None` for one that is unknown, or whose attributes are free."""
    found = _table("attributes.tsv").get(resource_type)
    return None if found is None else frozenset(found.split(",")) - {""}


@cache
def _table(name: str) -> Mapping[str, str]:
    return {row[0]: row[1] for row in rows(name)}


@cache
def _services() -> frozenset[str]:
    """The services of the first table, and that of the types which every template may have."""
    return frozenset({"AWS::CDK", *(name.rpartition("::")[0] for name in _table("property_schemas.tsv"))})


def _parsed(text: str) -> Schema:
    found: Schema = json.loads(text)
    return found
