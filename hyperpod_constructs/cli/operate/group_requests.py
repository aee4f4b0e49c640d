"""The groups of a cluster as `UpdateCluster` takes them: all of them as they are, with one count changed.

An update names every group with everything that it has. A member that this machine's botocore does not know would be dropped on
the way, so the newest model reads the answer too, and a difference is refused. The image that a group got from the service is left
out, which would tie the group to it; an image of the group's own stays.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from hyperpod_constructs.cli.console import CliError
from hyperpod_constructs.cli.operate.place import Place
from hyperpod_constructs.cli.operate.reading import Cluster
from hyperpod_constructs.custom_resources.handlers.errors import OperationError
from hyperpod_constructs.custom_resources.handlers.group_specs import IMAGES, group_requests, leaves, with_fields
from hyperpod_constructs.custom_resources.handlers.wire.connections import Answer
from hyperpod_constructs.custom_resources.handlers.wire.models import model
from hyperpod_constructs.custom_resources.handlers.wire.replies import reply
from hyperpod_constructs.facts.software_updates import CUSTOM_IMAGE

Specs = dict[str, list[dict[str, Any]]]


def with_count(place: Place, cluster: Cluster, group: str, count: int, now: float) -> dict[str, Any]:
    """The members of an `UpdateCluster` request that gives a group another count.

    The cluster is read anew, so that nothing older than this is written back.

    :param now: seconds since the epoch; a date of the next patch that has passed is left out.
    :raises CliError: if the group is gone, or if a member of a group cannot be kept.
    """
    try:
        known, whole = _read(place, cluster)
    except OperationError as error:
        raise CliError(str(error)) from None
    lost = sorted(_lost(known, whole))
    if lost:
        from botocore import __version__

        raise CliError(
            f"botocore {__version__} does not know {', '.join(lost)}, and the update would drop it: "
            "install a newer one (pip install --upgrade boto3)"
        )
    for kind, specs in known.items():
        if any(spec["InstanceGroupName"] == group for spec in specs):
            return {kind: [_changed(spec, group, count, now) for spec in specs]}
    raise CliError(f"there is no instance group {group!r} in {cluster.name} any more")


def _read(place: Place, cluster: Cluster) -> tuple[Specs, Specs]:
    """The groups by this machine's model and by the newest."""
    client, bodies = place.client("sagemaker"), list[Mapping[str, Any]]()

    def keep(response_dict: Mapping[str, Any], **_: object) -> None:
        bodies.append(response_dict)

    client.meta.events.register("before-parse.sagemaker.DescribeCluster", keep)
    try:
        answer = client.describe_cluster(ClusterName=cluster.arn)
    finally:
        client.meta.events.unregister("before-parse.sagemaker.DescribeCluster", keep)
    here: Any = client.meta.service_model.operation_model("UpdateCluster").input_shape
    known = group_requests(here, answer)
    if not bodies:
        return known, known
    newest, got = model("sagemaker"), bodies[-1]
    read = reply(newest, newest.operations["DescribeCluster"], Answer(got["status_code"], got["headers"], got["body"]))
    return known, group_requests(newest.operations["UpdateCluster"].input_shape, read)


def _lost(known: Specs, whole: Specs) -> set[str]:
    """The members that the newest model has and this machine's has not."""
    found = set()
    for kind, specs in whole.items():
        mine = {spec["InstanceGroupName"]: leaves(spec) for spec in known.get(kind, ())}
        for spec in specs:
            here = mine.get(spec["InstanceGroupName"], {})
            found |= {".".join(path) for path, value in leaves(spec).items() if here.get(path) != value}
    return found


def _changed(spec: Mapping[str, Any], group: str, count: int, now: float) -> dict[str, Any]:
    mine = {name: value for name, value in spec.items() if name not in IMAGES or _own(name, value)}
    fields = {"InstanceCount": count} if spec["InstanceGroupName"] == group else {}
    return with_fields(mine, fields, now)


def _own(name: str, value: object) -> bool:
    return name == "ImageId" and str(value).startswith(CUSTOM_IMAGE)
