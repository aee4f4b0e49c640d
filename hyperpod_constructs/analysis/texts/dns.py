"""Names and records of DNS, and names of services that endpoints lead to.

Sources: https://docs.aws.amazon.com/Route53/latest/DeveloperGuide/ResourceRecordTypes.html,
https://docs.aws.amazon.com/Route53/latest/DeveloperGuide/DomainNameFormat.html and
https://docs.aws.amazon.com/vpc/latest/privatelink/aws-services-privatelink-support.html
"""

from __future__ import annotations

import ipaddress
import re
from collections.abc import Callable, Mapping
from difflib import get_close_matches
from functools import cache

from hyperpod_constructs.analysis.schema.violation import listed, nearest, quoted
from hyperpod_constructs.analysis.texts.reading import HOLE, known, spelled
from hyperpod_constructs.analysis.texts.slip import Judge, Slip, Slips, WholeJudge, entries, mapping, rivals
from hyperpod_constructs.analysis.typo import typo_of
from hyperpod_constructs.facts import text_words
from hyperpod_constructs.facts.regions import REGIONS
from hyperpod_constructs.facts.texts import Language
from hyperpod_constructs.templates.model import Resource, resource_of, target_of
from hyperpod_constructs.templates.values import ABSENT, UNKNOWN, Reference, Value, as_int

_LABEL = re.compile(r"[\w!\"#$%&'()*+,/:;<=>?@\[\\\]^`{|}~-]{1,63}")
_ZONE, _ELASTIC = "AWS::Route53::HostedZone", "AWS::EC2::EIP"


def domain_name(value: Value) -> Slips:
    """A domain name: labels of 1 to 63 characters, 255 together."""
    text = known(value)
    if text and (len(text) > 255 or not all(_LABEL.fullmatch(label) for label in text.rstrip(".").split("."))):
        yield Slip(
            f"{quoted(text)} is no domain name",
            "labels of 1 to 63 characters between dots, such as training.example.com",
            found=text,
        )


def _is_address(version: int) -> Callable[[str], bool]:
    def check(text: str) -> bool:
        try:
            return ipaddress.ip_address(text).version == version
        except ValueError:
            return False

    return check


def _is_name(text: str) -> bool:
    return bool(text) and len(text) <= 255 and all(_LABEL.fullmatch(label) for label in text.rstrip(".").split("."))


def _matches(pattern: str) -> Callable[[str], bool]:
    return lambda text: bool(re.fullmatch(pattern, text))


def _is_host(text: str) -> bool:
    """A domain name that is no address."""
    return _is_name(text) and not _is_address(4)(text) and not _is_address(6)(text)


_QUOTED = r'(?:"(?:[^"\\]|\\.){0,255}"\s*)+'
_RECORDS: Mapping[str, tuple[Callable[[str], bool], str]] = {
    "A": (_is_address(4), "IPv4 addresses such as 10.0.0.8"),
    "AAAA": (_is_address(6), "IPv6 addresses such as 2001:db8::8"),
    "CNAME": (_is_host, "one domain name"),
    "NS": (_is_name, "domain names of name servers"),
    "PTR": (_is_name, "a domain name"),
    "MX": (_matches(r"\d{1,5}\s+\S{1,255}"), "a priority and a host, such as 10 mail.example.com"),
    "SRV": (
        _matches(r"\d{1,5}\s+\d{1,5}\s+\d{1,5}\s+\S{1,255}"),
        "priority, weight, port and host, such as 1 10 5269 xmpp.example.com",
    ),
    "TXT": (_matches(_QUOTED), 'texts in double quotes, such as "v=spf1 -all"'),
    "SPF": (_matches(_QUOTED), 'texts in double quotes, such as "v=spf1 -all"'),
    "CAA": (_matches(r'\d{1,3}\s+\w{1,30}\s+"[^"]*"'), 'flags, tag and value, such as 0 issue "amazon.com"'),
}
_ROUTING = ("Weight", "Region", "Failover", "GeoLocation", "MultiValueAnswer", "CidrRoutingConfig", "GeoProximityLocation")


def record_set(resource: Resource) -> Slips:
    """A record set of Route 53."""
    return _record(resource.properties, _zone_of(resource.properties))


def record_sets(resource: Resource) -> Slips:
    """A group of record sets."""
    for index, one in entries(resource.get("RecordSets")):
        zone = _zone_of(resource.properties) or _zone_of(mapping(one))
        for slip in _record(mapping(one), zone):
            yield slip.below("RecordSets", index)


def _zone_of(properties: Mapping[str, Value]) -> str | None:
    """The domain of the hosted zone."""
    zone = resource_of(properties.get("HostedZoneId", ABSENT), _ZONE)
    name = known(zone.get("Name") if zone is not None else properties.get("HostedZoneName", ABSENT))
    return name.rstrip(".").lower() if name else None


def _record(record: Mapping[str, Value], zone: str | None) -> Slips:
    kind, name = known(record.get("Type", ABSENT)), known(record.get("Name", ABSENT))
    records, alias = record.get("ResourceRecords", ABSENT), record.get("AliasTarget", ABSENT)
    yield from (slip.below("Name") for slip in domain_name(record.get("Name", ABSENT)))
    zone = zone if zone and _is_name(zone) else None
    if name and zone and not f".{name.rstrip('.').lower()}".endswith(f".{zone}"):
        yield Slip(f"the name {name} is not in the zone {zone}", f"a name that ends with .{zone}", ("Name",), name)
    if kind == "CNAME" and name and zone and name.rstrip(".").lower() == zone:
        yield Slip(f"a CNAME at the top of the zone {zone}", "a name below it, or an alias of type A", ("Type",), kind)
    if records is not ABSENT and alias is not ABSENT and UNKNOWN is not records and UNKNOWN is not alias:
        yield rivals("ResourceRecords", "AliasTarget")
    if records is ABSENT and alias is ABSENT and record.get("HealthCheckId", ABSENT) is ABSENT and record:
        yield Slip("the record set has neither ResourceRecords nor AliasTarget", "one of the two", ("ResourceRecords",))
    if isinstance(records, tuple) and record.get("TTL", ABSENT) is ABSENT:
        yield Slip("the record set has ResourceRecords and no TTL", "seconds, such as 300", ("TTL",))
    if isinstance(alias, Mapping) and as_int(record.get("TTL", ABSENT)) is not None:
        yield Slip("an alias has no TTL of its own", "no TTL", ("TTL",), record["TTL"])
    given = [name for name in _ROUTING if record.get(name, ABSENT) is not ABSENT]
    if given and record.get("SetIdentifier", ABSENT) is ABSENT:
        yield Slip(f"{given[0]} needs a SetIdentifier", "an identifier that differs among sets of one name", ("SetIdentifier",))
    yield from _values(kind, records)


def _values(kind: str | None, records: Value) -> Slips:
    if kind is None or not isinstance(records, tuple):
        return
    if kind not in _RECORDS:
        if kind not in text_words.RECORD_TYPES:
            near = nearest(kind, text_words.RECORD_TYPES)
            yield Slip(
                f"no record has the type {kind}{f'; the nearest is {near}' if near else ''}",
                listed(text_words.RECORD_TYPES),
                ("Type",),
                kind,
            )
        return
    fits, words = _RECORDS[kind]
    for index, one in enumerate(records):
        text = known(one)
        gives = _gives(one)
        if kind in _RECORDS_OF_HOSTS and _is_arn(one):
            yield Slip(f"a record of the type {kind} is {one}, which is an ARN", words, ("ResourceRecords", index), one)
        if gives is not None and kind in _TAKEN_BY[not gives]:
            what, other = ("a name", "CNAME for a name") if gives is _NAME else ("an address", "A for an address")
            message = f"a record of the type {kind} is {one}, which is {what}"
            yield Slip(message, f"{words}; {other}", ("ResourceRecords", index), one)
        if text is not None and len(text) < 4000 and not fits(text.strip()):
            yield Slip(f"a record of the type {kind} is {quoted(text)}", words, ("ResourceRecords", index), text)
    if kind == "CNAME" and len(records) > 1:
        yield Slip(f"a CNAME has {len(records)} records", "one", ("ResourceRecords",), records)


_NAME, _ADDRESS = True, False
_TAKEN_BY: Mapping[bool, tuple[str, ...]] = {_NAME: ("CNAME", "NS", "PTR"), _ADDRESS: ("A", "AAAA")}
"""The types of records that take names, and those that take addresses."""
_RECORDS_OF_HOSTS = (*_TAKEN_BY[True], *_TAKEN_BY[False])
_NAMES = ("dnsname", "domainname", "endpoint.address", "endpointaddress")
_ADDRESSES = ("privateip", "publicip", "primaryprivateipaddress", "privateipaddress")
"""The ends of attributes that are the name of a host, and its address."""


def _gives(value: Value) -> bool | None:
    """Whether a reference gives the name of a host or its address; `None` for another value."""
    attribute = (value.attribute or "").lower() if isinstance(value, Reference) else ""
    if attribute.endswith(_NAMES):
        return _NAME
    if attribute.endswith(_ADDRESSES):
        return _ADDRESS
    return _ADDRESS if isinstance(value, Reference) and not attribute and target_of(value).type == _ELASTIC else None


def _is_arn(value: Value) -> bool:
    """Whether a reference surely gives an ARN."""
    return isinstance(value, Reference) and (value.attribute or "").lower().endswith("arn")


def endpoint(resource: Resource) -> Slips:
    """The name of the service of an endpoint, if it is surely misspelled."""
    return (slip.below("ServiceName") for slip in _service(resource.get("ServiceName")))


def _service(value: Value) -> Slips:
    text = spelled(value)
    if not text or text.startswith(HOLE):
        return
    match = re.fullmatch(rf"(?:cn\.)?com\.amazonaws\.([a-z]{{2}}(?:-[a-z]+)+-\d|{HOLE})\.(.+)", text)
    turned = _TURNED.fullmatch(text)
    if match is None and turned is not None and turned[2] in text_words.ENDPOINT_SERVICES:
        allowed = f"{turned[1]}.{turned[3]}.{turned[2]}".replace(HOLE, "${?}")
        yield Slip(f"in {quoted(value)} the service comes before the region", allowed, found=value)
        return
    if match is None:
        if not text.startswith(_PREFIXES) and HOLE not in text[:14]:
            yield Slip(f"no service is named {quoted(value)}", "com.amazonaws.REGION.SERVICE", found=value)
        return
    service = match[2]
    if match[1] != HOLE and match[1] not in REGIONS:
        yield Slip(f"there is no region {match[1]}", "a region of AWS, or ${AWS::Region}", found=value)
        return
    if service in text_words.ENDPOINTS_APART:
        yield Slip(f"no service is named {service}", text_words.ENDPOINTS_APART[service], found=value)
        return
    if HOLE not in service and service not in text_words.ENDPOINT_SERVICES and not service.startswith(("vpce", "vpce-svc")):
        near = text_words.ENDPOINT_NAMES.get(service) or typo_of(service, text_words.ENDPOINT_SERVICES) or _as_a_host(service)
        near = near or _of_family(service) or _squeezed().get(_squeeze(service))
        if near:
            yield Slip(
                f"no service is named {service}; the nearest is {near}",
                f"{text.removesuffix(service)}{near}".replace(HOLE, "${?}"),
                found=value,
            )


def _as_a_host(service: str) -> str | None:
    """The endpoint whose name has the parts of a host: turned, or with the part `api`."""
    first, _, rest = service.rpartition(".")
    found = (f"{rest}.{first}" if service.count(".") == 1 else "", first if rest == "api" else "", rest if first == "api" else "")
    return next((one for one in found if one in text_words.ENDPOINT_SERVICES), None)


def _squeeze(service: str) -> str:
    """The letters of a name, without those that divide it and an s at its end."""
    return "".join(one for one in service.lower() if one.isalnum()).removesuffix("s")


@cache
def _squeezed() -> dict[str, str]:
    return {_squeeze(one): one for one in text_words.ENDPOINT_SERVICES}


def _of_family(service: str) -> str | None:
    """The endpoint that was probably meant, of a service whose endpoints are all known."""
    family = text_words.ENDPOINT_FAMILIES.get(service.partition(".")[0], ())
    is_kind_of = any(service.startswith(f"{one}-") for one in family)
    return None if is_kind_of else next(iter(get_close_matches(service, family, n=1, cutoff=0)), None)


_TURNED = re.compile(rf"((?:cn\.)?com\.amazonaws)\.([a-z0-9.-]+)\.([a-z]{{2}}(?:-[a-z]+)+-\d|{HOLE})")
"""A name with its service before its region."""
_PREFIXES = ("com.amazonaws.", "cn.com.amazonaws.", "aws.", "eu.", "vpce", "amazonaws.")


JUDGES: Mapping[Language, Judge] = {Language.DOMAIN: domain_name}
WHOLES: Mapping[str, WholeJudge] = {
    "AWS::EC2::VPCEndpoint": endpoint,
    "AWS::Route53::RecordSet": record_set,
    "AWS::Route53::RecordSetGroup": record_sets,
}
