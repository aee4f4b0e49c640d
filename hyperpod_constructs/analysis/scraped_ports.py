"""The ways of scrapers to the ports of pods that their configuration keeps.

A port is judged beside another one that the nodes do open to the scraper: which nodes have which exporters is not known.

Sources: https://docs.aws.amazon.com/prometheus/latest/userguide/AMP-collector-how-to.html and
https://prometheus.io/docs/prometheus/latest/configuration/configuration/#kubernetes_sd_config (as of 2026-12-01)
"""

from __future__ import annotations

import binascii
import re
from base64 import b64decode
from collections.abc import Iterator

from hyperpod_constructs.analysis.control_plane_ways import side_of_control_plane
from hyperpod_constructs.analysis.embedded import documents_in
from hyperpod_constructs.analysis.interface_ways import Stopped
from hyperpod_constructs.analysis.kubernetes import EksCluster, joined
from hyperpod_constructs.analysis.networks import SUBNET, network_facts
from hyperpod_constructs.analysis.placement import node_groups
from hyperpod_constructs.analysis.security_groups import SECURITY_GROUP, security_groups
from hyperpod_constructs.analysis.traffic import Side, Traffic
from hyperpod_constructs.analysis.ways import Way, inside
from hyperpod_constructs.facts.raw_parts import items, part
from hyperpod_constructs.templates.model import Model, Resource, resource_of
from hyperpod_constructs.templates.values import as_items, as_str

_SCRAPER, _SCRAPED = "AWS::APS::Scraper", ("Source", "EksConfiguration")
_BLOB = ("ScrapeConfiguration", "ConfigurationBlob")
_LABEL, _PORTS = "__meta_kubernetes_pod_container_port_number", re.compile(r"\(?\d{1,5}(?:\|\d{1,5}){0,50}\)?")
_NUMBER = re.compile(r"\d+")


def scraped_ports(model: Model) -> Iterator[Stopped]:
    """The ways to a port that all nodes surely close to a scraper, while they open another one to it."""
    for scraper in model.resources(_SCRAPER):
        eks, source = EksCluster.of(scraper.get(*_SCRAPED, "ClusterArn")), _side(scraper)
        ports = sorted({port for job in _jobs(scraper) for port in _kept(job)})
        if eks is None or source is None or len(ports) < 2:
            continue
        nodes = list(_nodes(model, eks))
        ways = {port: [_way(source, one, port) for one in nodes] for port in ports}
        is_scraped = any(way.passes for some in ways.values() for way in some)
        for port, some in ways.items() if is_scraped else ():
            if all(way.end is not None for way in some):
                yield Stopped(scraper, (*_SCRAPED, "SecurityGroupIds"), f"port {port} of {nodes[0].name}", some[0])


def _way(source: Side, target: Side, port: int) -> Way:
    traffic = Traffic("tcp", range(port, port + 1))
    return Way.of(source.name, target.name, traffic, inside(source, target, traffic))


def _side(scraper: Resource) -> Side | None:
    """The scraper with its groups and subnets; `None` if some are not known."""
    model = scraper.template.model
    groups = [resource_of(one, SECURITY_GROUP) for one in as_items(scraper.get(*_SCRAPED, "SecurityGroupIds")) or ()]
    subnets = [resource_of(one, SUBNET) for one in as_items(scraper.get(*_SCRAPED, "SubnetIds")) or ()]
    if not groups or not subnets or None in groups or None in subnets:
        return None
    facts, network = security_groups(model), network_facts(model)
    return Side(
        scraper.logical_id,
        tuple(facts.of(one) for one in groups if one is not None),
        tuple(network.subnet(one) for one in subnets if one is not None),
    )


def _nodes(model: Model, eks: EksCluster) -> Iterator[Side]:
    """The nodes of a cluster: those of HyperPod, and those that have the group of the control plane."""
    clusters = [cluster.resource for cluster, its in joined(model) if its == eks]
    for group in node_groups(model):
        if group.resource in clusters:
            known = group.security_groups is not None and group.subnets is not None
            yield Side(group.label, group.security_group_facts() if known else None, group.subnet_facts() or None)
    if eks.node_groups:
        yield side_of_control_plane(eks)


def _jobs(scraper: Resource) -> Iterator[object]:
    text = as_str(scraper.get(*_BLOB))
    try:
        plain = b64decode("".join((text or "").split()), validate=True).decode()
    except (binascii.Error, ValueError):
        return
    for document in documents_in(plain):
        yield from items(part(document, "scrape_configs"))


def _kept(job: object) -> Iterator[int]:
    """The ports of pods that a job keeps, if it names them one by one."""
    for one in items(part(job, "relabel_configs")):
        regex = str(part(one, "regex"))
        if part(one, "action") == "keep" and items(part(one, "source_labels")) == [_LABEL] and _PORTS.fullmatch(regex):
            yield from map(int, _NUMBER.findall(regex))
