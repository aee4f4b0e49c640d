"""The inventory of a cluster's nodes: parameters below a path at which others have some too."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from aws_cdk import App, Stack
from constructs import Construct

from hyperpod_constructs.custom_resources.node_inventory import NodeInventory
from tests.custom_resources.case import Case, Variant
from tests.custom_resources.engine import STACK_ID
from tests.custom_resources.l1_cluster import Listed, l1_cluster, l1_group
from tests.custom_resources.world import World

PLACES = {Variant.RENAMED: "/nodes/two", Variant.BROKEN: "/nodes/taken"}


class NodeInventoryCase(Case):
    failure = "the parameter /nodes/taken/cluster exists and was not written by this inventory"
    unneeded = {  # noqa: RUF012  # a reason, never changed
        "cloudformation:DescribeStacks": "only after a failed update, to see whether the stack rolls back",
        "sagemaker:DescribeClusterNode": "only for nodes with a host name that does not hold their address",
    }

    rare = (("cloudformation", "DescribeStacks", {"StackName": STACK_ID}),)

    def prepare(self, world: World) -> None:
        world.names["cluster"] = world.cluster("listed")
        for name in ("/nodes/taken/cluster", "/nodes/one/mine", "/nodes/one-more/cluster"):
            world.client("ssm").put_parameter(Name=name, Value="of others", Type="String")

    def build(self, scope: Construct, world: World, variant: Variant) -> None:
        cluster = l1_cluster(Stack(App(), "Elsewhere"), l1_group("workers", 2), name="listed")
        cluster.given_arn = world.names["cluster"]
        cluster.instance_groups = [Listed("controller", "Controller", 1), Listed("workers", "Compute", 2)]
        if variant is Variant.CHANGED:
            cluster.instance_groups.append(Listed("later", "Compute", 1))
        NodeInventory(scope, "Inventory", cluster=cluster, prefix=PLACES.get(variant, "/nodes/one"))

    def read(self, world: World) -> Mapping[str, Any]:
        found: dict[str, str] = {}
        more: dict[str, str] = {}
        while True:
            page = world.client("ssm").get_parameters_by_path(Path="/nodes", Recursive=True, **more)
            found |= {parameter["Name"]: parameter["Value"] for parameter in page["Parameters"]}
            if not page.get("NextToken"):
                return {name: _content(value) for name, value in found.items()}
            more = {"NextToken": page["NextToken"]}


def _content(value: str) -> Any:
    """The content without generated ids: of a page, the group and the number of its nodes."""
    if not value.startswith("{"):
        return value
    found = json.loads(value)
    return found["groups"] if "groups" in found else (found["group"], len(found["nodes"]), all(found["nodes"].values()))
