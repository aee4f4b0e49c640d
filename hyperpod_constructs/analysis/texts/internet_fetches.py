"""What scripts of nodes fetch from the internet where the network of the nodes is closed.

Source: https://docs.aws.amazon.com/sagemaker/latest/dg/sagemaker-hyperpod-prerequisites.html
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from hyperpod_constructs.analysis.closed_networks import closed_subnet
from hyperpod_constructs.analysis.clusters import CLUSTER
from hyperpod_constructs.analysis.embedded import marked
from hyperpod_constructs.analysis.internet_fetches import fetches
from hyperpod_constructs.analysis.networks import Subnet
from hyperpod_constructs.analysis.node_programs import LIFE_CYCLE, programs_of
from hyperpod_constructs.analysis.placement import NodeGroup, node_groups
from hyperpod_constructs.analysis.schema.violation import Path
from hyperpod_constructs.analysis.scripts import Script, scripts_for
from hyperpod_constructs.analysis.texts.slip import Judge, Slip, Slips, WholeJudge
from hyperpod_constructs.facts.texts import Language
from hyperpod_constructs.templates.model import Resource


def fetched(cluster: Resource) -> Slips:
    """The first thing that each script of a cluster fetches in vain."""
    said: set[tuple[Resource, Path]] = set()
    for group in (one for one in node_groups(cluster.template.model) if one.resource is cluster):
        subnet = closed_subnet(group)
        for script, says in _in_vain(group, subnet) if subnet is not None else ():
            if (script.resource, script.path) not in said:
                said.add((script.resource, script.path))
                message = f"the script of instance group {group.label!r} of {cluster.logical_id} {says}"
                beside = ((cluster, (*group.path, LIFE_CYCLE)),)
                allowed = "what a bucket or a mirror in the VPC has"
                yield Slip(message, allowed, script.path, dead=True, beside=beside, at=script.resource)


def _in_vain(group: NodeGroup, subnet: Subnet) -> Iterator[tuple[Script, str]]:
    """The scripts that nodes run, maybe those of one group, and that fetch something from the internet, with words for it."""
    texts = [marked(one.text)[0] or "" for one in programs_of(group).files.values()]
    for script in (one for one in scripts_for(group) if one.entry or one.starts):
        for found in fetches(script.run, texts) if script.run is not None else ():
            says = f"fetches from {found.host} in line {found.line} by {found.what}"
            yield script, f"{says}, and {subnet.resource.logical_id} has no route to the internet"


JUDGES: Mapping[Language, Judge] = {}
WHOLES: Mapping[str, WholeJudge] = {CLUSTER: fetched}
