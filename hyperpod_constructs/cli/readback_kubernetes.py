"""Kubernetes after a deployment: add-ons, teams and queues, as EKS, SageMaker and the Kubernetes API describe them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from hyperpod_constructs.cli.console import is_aws_error, say
from hyperpod_constructs.cli.kubernetes_api import KubernetesApi, KubernetesError
from hyperpod_constructs.cli.kubernetes_token import token
from hyperpod_constructs.cli.tables import table
from hyperpod_constructs.cli.target import Target
from hyperpod_constructs.custom_resources.handlers.redaction import one_line
from hyperpod_constructs.facts.governance import namespace

_KUEUE = "/apis/kueue.x-k8s.io"
_MESSAGE_CHARACTERS = 300


def show_kubernetes(target: Target, name: str, cluster_arn: str, role: str | None) -> None:
    """Print the EKS cluster, its add-ons, and how the nodes are shared.

    :param target: the account.
    :param name: the name of the EKS cluster.
    :param cluster_arn: the ARN of the HyperPod cluster.
    :param role: the ARN of the role that reads the Kubernetes API; the caller unless given.
    """
    kubernetes = target.client("eks").describe_cluster(name=name)["cluster"]
    say()
    say(f"kubernetes  {name}", style="bold")
    say(f"version     {kubernetes['version']}")
    say(f"status      {kubernetes['status']}")
    say()
    table(("add-on", "version", "status"), list(_addons(target, name)))
    _show_policy(target, cluster_arn)
    teams = list(_teams(target, cluster_arn))
    if teams:
        say()
        table(("team", "namespace", "has at least", "weight", "status"), teams)
    _show_queues(target, kubernetes, role)


def _pages(client: Any, operation: str, key: str, **request: Any) -> Iterator[Any]:
    for page in client.get_paginator(operation).paginate(**request):
        yield from page[key]


def _addons(target: Target, name: str) -> Iterator[tuple[str, str, str]]:
    client = target.client("eks")
    for addon in _pages(client, "list_addons", "addons", clusterName=name):
        found = client.describe_addon(clusterName=name, addonName=addon)["addon"]
        issues = "; ".join(str(issue.get("message", issue.get("code"))) for issue in found.get("health", {}).get("issues", ()))
        status = f"{found['status']}: {one_line(issues, _MESSAGE_CHARACTERS)}" if issues else found["status"]
        yield addon, found.get("addonVersion", ""), status


def _show_policy(target: Target, cluster_arn: str) -> None:
    client = target.client("sagemaker")
    found = _pages(client, "list_cluster_scheduler_configs", "ClusterSchedulerConfigSummaries", ClusterArn=cluster_arn)
    for summary in found:
        policy = client.describe_cluster_scheduler_config(ClusterSchedulerConfigId=summary["ClusterSchedulerConfigId"])
        classes = policy.get("SchedulerConfig", {}).get("PriorityClasses", [])
        ordered = [f"{entry['Name']} {entry['Weight']}" for entry in sorted(classes, key=lambda entry: -int(entry["Weight"]))]
        say()
        say(f"priorities  {', '.join(ordered) or 'none'} ({policy['Status']})")


def _teams(target: Target, cluster_arn: str) -> Iterator[tuple[str, ...]]:
    for quota in _pages(target.client("sagemaker"), "list_compute_quotas", "ComputeQuotaSummaries", ClusterArn=cluster_arn):
        goal = quota["ComputeQuotaTarget"]
        shares = quota.get("ComputeQuotaConfig", {}).get("ComputeQuotaResources", [])
        weight = str(goal.get("FairShareWeight", 0))
        yield goal["TeamName"], namespace(goal["TeamName"]), ", ".join(map(_share, shares)), weight, quota["Status"]


def _share(resource: Mapping[str, Any]) -> str:
    amounts = {"Count": "", "Accelerators": " accelerators", "VCpu": " vCPUs", "MemoryInGiB": " GiB"}
    found = [f"{_number(resource[key])}{unit}" for key, unit in amounts.items() if key in resource]
    return f"{' '.join(found)} x {resource['InstanceType']}"


def _number(value: float) -> str:
    return f"{value:g}"


def _show_queues(target: Target, kubernetes: Mapping[str, Any], role: str | None) -> None:
    """Print the queues as the Kubernetes API has them. A deployment does not fail because it cannot be asked."""
    try:
        rows = list(_queues(KubernetesApi(kubernetes, token(target, kubernetes["name"], role))))
    except KubernetesError as error:
        rows, reason = [], str(error)
    except Exception as error:
        if not is_aws_error(error):
            raise
        rows, reason = [], str(error)
    else:
        reason = "there are none"
    say()
    if rows:
        table(("queue", "namespace", "quota", "waiting", "running"), rows, numbers=2)
    else:
        say(f"queues      not shown: {one_line(reason, _MESSAGE_CHARACTERS)}")


def _queues(api: KubernetesApi) -> Iterator[tuple[str, ...]]:
    version = api.get(_KUEUE)["preferredVersion"]["groupVersion"]
    quotas = {queue["metadata"]["name"]: _quota(queue) for queue in _items(api, f"/apis/{version}/clusterqueues")}
    for queue in _items(api, f"/apis/{version}/localqueues"):
        metadata, status = queue["metadata"], queue.get("status", {})
        waiting, running = (str(status.get(key, 0)) for key in ("pendingWorkloads", "admittedWorkloads"))
        yield metadata["name"], metadata["namespace"], quotas.get(queue["spec"]["clusterQueue"], ""), waiting, running


def _items(api: KubernetesApi, path: str) -> Sequence[Mapping[str, Any]]:
    found: Sequence[Mapping[str, Any]] = api.get(path)["items"]
    return found


def _quota(queue: Mapping[str, Any]) -> str:
    """What a queue guarantees: accelerators where there are some, else everything."""
    flavors = [flavor for group in queue["spec"].get("resourceGroups", ()) for flavor in group["flavors"]]
    found = [(resource["name"], resource["nominalQuota"]) for flavor in flavors for resource in flavor["resources"]]
    scarce = [pair for pair in found if pair[0] not in ("cpu", "memory")]
    return ", ".join(f"{amount} {name}" for name, amount in scarce or found)
