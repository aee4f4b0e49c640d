"""The reference app as a whole."""

from __future__ import annotations

import subprocess
import sys
from functools import cache
from typing import Any

import pytest

from app_kubernetes import LOCK
from hyperpod_constructs.rules.checking import check
from tests.presets import PRESETS, ROOT, build, templates
from tests.test_closed_network import model_of

READ_BY_HYP = {
    "OutputVpcId",
    "OutputPrivateSubnetIds",
    "OutputSecurityGroupId",
    "OutputEKSClusterArn",
    "OutputEKSClusterName",
    "OutputSageMakerIAMRoleArn",
    "OutputS3BucketName",
    "OutputHyperPodClusterName",
    "OutputHyperPodClusterArn",
}


def test_nothing_is_kept_when_the_data_may_go() -> None:
    app = build("announcement", retain_data="false", confirm_data_loss="true")
    policies = {
        resource.get(policy, "Delete")
        for template in templates(app).values()
        for resource in template["Resources"].values()
        for policy in ("DeletionPolicy", "UpdateReplacePolicy")
    }
    assert policies == {"Delete"}


def test_the_context_gives_groups_names_threads_checks_and_recovery() -> None:
    app = build(
        "announcement",
        worker_groups="gpus:ml.p5.48xlarge:4,neurons:ml.trn1.32xlarge:8",
        controller_group_name="head",
        login_instance_type="ml.m5.xlarge",
        login_group_name="front",
        threads_per_core="1",
        deep_health_checks="InstanceStress",
        node_recovery="None",
    )
    found = templates(app)["Cluster"]["Resources"].values()
    (cluster,) = (resource["Properties"] for resource in found if resource["Type"] == "AWS::SageMaker::Cluster")
    assert [
        (
            group["InstanceGroupName"],
            group["InstanceType"],
            group["InstanceCount"],
            group["ThreadsPerCore"],
            group.get("OnStartDeepHealthChecks"),
        )
        for group in cluster["InstanceGroups"]
    ] == [
        ("head", "ml.m5.xlarge", 1, 1, None),
        ("front", "ml.m5.xlarge", 1, 1, None),
        ("gpus", "ml.p5.48xlarge", 4, 1, ["InstanceStress"]),
        ("neurons", "ml.trn1.32xlarge", 8, 1, ["InstanceStress"]),
    ]
    assert cluster["NodeRecovery"] == "None"


def _by_type(preset: str, **given: Any) -> dict[str, tuple[str, dict[str, Any]]]:
    """The one resource of each type that the stack of the cluster has once: logical id and definition."""
    found = list(templates(build(preset, **given))["Cluster"]["Resources"].items())
    types = [resource["Type"] for _, resource in found]
    return {resource["Type"]: (id, resource) for id, resource in found if types.count(resource["Type"]) == 1}


@pytest.mark.parametrize("preset", PRESETS)
def test_a_cluster_awaits_the_look_at_the_account_and_its_inventory_awaits_the_nodes(preset: str) -> None:
    found = _by_type(preset)
    preflight, look = found["Custom::HyperPodPreflight"]
    _, cluster = found["AWS::SageMaker::Cluster"]
    readiness, gate = found["Custom::HyperPodReadinessGate"]
    _, inventory = found["Custom::HyperPodNodeInventory"]
    assert preflight in cluster["DependsOn"]
    assert readiness in inventory["DependsOn"]
    names = [group["InstanceGroupName"] for group in cluster["Properties"]["InstanceGroups"]]
    assert [group["Name"] for group in look["Properties"]["Groups"]] == names
    assert sorted(group["Name"] for group in inventory["Properties"]["Groups"]) == sorted(names)
    assert {group["Name"] for group in gate["Properties"]["Groups"]} == set(names)


def test_the_look_at_the_account_can_be_left_out() -> None:
    found = _by_type("announcement", preflight="false")
    assert "Custom::HyperPodPreflight" not in found
    assert "Custom::HyperPodNodeInventory" in found


@cache
@pytest.mark.parametrize(("capacity", "there"), [(None, False), ("0", False), ("256", True)])
def test_homes_have_a_file_system_if_it_has_a_capacity(capacity: str | None, there: bool) -> None:
    given: dict[str, Any] = {} if capacity is None else {"home_capacity_gib": capacity}
    found = templates(build("announcement", **given))
    systems = [one["Properties"] for one in found["Foundation"]["Resources"].values() if one["Type"] == "AWS::FSx::FileSystem"]
    sizes = {one["FileSystemType"]: one["StorageCapacity"] for one in systems}
    assert sizes == {"LUSTRE": 1200, **({"OPENZFS": 256} if there else {})}
    (cluster,) = (one for one in found["Cluster"]["Resources"].values() if one["Type"] == "AWS::SageMaker::Cluster")
    mounts = [[next(iter(entry)) for entry in group["InstanceStorageConfigs"]] for group in cluster["Properties"]["InstanceGroups"]]
    assert all(("FsxOpenZfsConfig" in kinds) is there for kinds in mounts)


@pytest.mark.parametrize("closed", [False, True])
def test_accounting_is_a_database_in_the_foundation_that_the_cluster_uses(closed: bool) -> None:
    internet, zone = str(not closed), "usw2-az1"
    app = build("slurm", accounting="true", accounting_zone_id=zone, customer_managed_key="true", internet=internet)
    found = templates(app)
    (database,) = [one for one in found["Foundation"]["Resources"].values() if one["Type"] == "AWS::RDS::DBInstance"]
    assert database["Properties"]["DeletionProtection"] is True
    subnets = [one["Properties"] for one in found["Foundation"]["Resources"].values() if one["Type"] == "AWS::EC2::Subnet"]
    own = {one["CidrBlock"]: one["AvailabilityZoneId"] for one in subnets if one["CidrBlock"].startswith("10.0.1.")}
    assert own == {"10.0.1.0/28": "usw2-az4", "10.0.1.16/28": "usw2-az1"}
    (cluster,) = [one["Properties"] for one in found["Cluster"]["Resources"].values() if one["Type"] == "AWS::SageMaker::Cluster"]
    assert cluster["Orchestrator"]["Slurm"]["AccountingDatabase"]["Name"] == "slurm_acct_db"
    assert check(model_of(found)) == []


def test_fails_without_room_for_the_database() -> None:
    with pytest.raises(ValueError, match=r"'10\.0\.0\.0/24' has no room for the database's subnets behind the public one"):
        build("slurm", accounting="true", accounting_zone_id="usw2-az1", cidr="10.0.0.0/24", node_cidr="10.1.0.0/16")


def _kubernetes(**given: Any) -> dict[str, dict[str, Any]]:
    return templates(build("kubernetes", **given))


def _of_type(kind: str, stack: str = "Cluster", **given: str) -> list[dict[str, Any]]:
    found = _kubernetes(**given)[stack]["Resources"].values()
    return [resource["Properties"] for resource in found if resource["Type"] == kind]


def test_teams_share_the_nodes_of_kubernetes_by_quotas_and_priorities() -> None:
    quotas = _of_type("AWS::SageMaker::ComputeQuota")
    shares = {quota["Name"]: quota["ComputeQuotaConfig"]["ComputeQuotaResources"] for quota in quotas}
    assert shares == {
        "research": [{"InstanceType": "ml.p5.48xlarge", "Count": 5}],
        "product": [{"InstanceType": "ml.p5.48xlarge", "Count": 3}],
    }
    (policy,) = _of_type("AWS::SageMaker::ClusterSchedulerConfig")
    assert [entry["Name"] for entry in policy["SchedulerConfig"]["PriorityClasses"]] == ["high", "normal", "low"]


def test_the_control_plane_has_two_subnets_behind_the_public_one() -> None:
    found = _of_type("AWS::EC2::Subnet", "Foundation", cidr="10.2.0.0/20")
    subnets = {part["CidrBlock"]: part["AvailabilityZoneId"] for part in found}
    assert subnets["10.2.1.0/28"] == "usw2-az1"
    assert subnets["10.2.1.16/28"] == "usw2-az2"


def test_fails_for_a_block_without_room_for_the_control_plane() -> None:
    with pytest.raises(ValueError, match=r"'10\.0\.0\.0/24' has no room for the control plane's subnets behind the public one"):
        build("kubernetes", cidr="10.0.0.0/24")


def test_the_settings_reach_the_cluster_on_kubernetes() -> None:
    given = {
        "kubernetes_version": "1.33",
        "worker_groups": "a:ml.p5.48xlarge:4,b:ml.g5.48xlarge:2",
        "teams": "research:4",
        "threads_per_core": "1",
        "node_recovery": "None",
        "deep_health_checks": "InstanceStress",
        "system_node_count": "2",
        "cluster_name": "big",
    }
    (cluster,) = _of_type("AWS::SageMaker::Cluster", **given)
    assert (cluster["ClusterName"], cluster["NodeRecovery"]) == ("big", "None")
    assert [
        (group["InstanceGroupName"], group["InstanceCount"], group["ThreadsPerCore"], group["OnStartDeepHealthChecks"])
        for group in cluster["InstanceGroups"]
    ] == [("a", 4, 1, ["InstanceStress"]), ("b", 2, 1, ["InstanceStress"])]
    (control_plane,) = _of_type("AWS::EKS::Cluster", **given)
    assert control_plane["Version"] == "1.33"
    assert [group["ScalingConfig"]["DesiredSize"] for group in _of_type("AWS::EKS::Nodegroup", **given)] == [2]


@pytest.mark.parametrize(("given", "awaited"), [({}, 1), ({"min_running_workers": "3"}, 3)])
def test_the_add_ons_of_kubernetes_await_a_worker(given: dict[str, str], awaited: int) -> None:
    (gate,) = _of_type("Custom::HyperPodReadinessGate", **given)
    assert gate["Groups"] == [{"Name": "workers", "Minimum": awaited, "Count": 8}]


def test_an_administrator_is_a_new_role_or_the_given_one() -> None:
    def admins(**given: Any) -> list[Any]:
        entries = _of_type("AWS::EKS::AccessEntry", **given)
        policies = [(entry["PrincipalArn"], str(entry.get("AccessPolicies"))) for entry in entries]
        return [arn for arn, text in policies if "AmazonEKSClusterAdminPolicy" in text]

    arn = "arn:aws:iam::123456789012:role/operators"
    kubectl, new = admins()
    assert arn not in (kubectl, new)
    assert arn in admins(admin_role_arn=arn)
    assert len(_of_type("AWS::IAM::Role")) == len(_of_type("AWS::IAM::Role", admin_role_arn=arn)) + 1


def test_outputs_are_those_that_hyp_reads_and_a_command() -> None:
    outputs = _kubernetes()["Cluster"]["Outputs"]
    assert outputs.keys() >= READ_BY_HYP
    assert "aws eks update-kubeconfig --name " in str(outputs["AdminKubeconfig"]["Value"])
    assert outputs["OutputHyperPodClusterName"]["Value"]["Fn::GetAtt"][1] == "ClusterName"


def test_fails_without_the_chart_with_the_command() -> None:
    assert not (ROOT / LOCK).exists()
    with pytest.raises(ValueError, match=r"cache, as hyperpod-chart.lock is missing; run `hyperpod chart fetch`"):
        build("kubernetes", chart="cache")


def test_slurm_loads_nothing_of_kubernetes() -> None:
    script = (
        "import sys; from tests.presets import build; build('announcement'); "
        "print([name for name in sys.modules if name in ('app_kubernetes', 'aws_cdk.aws_eks_v2') "
        "or name.startswith('hyperpod_constructs.eks')])"
    )
    done = subprocess.run([sys.executable, "-c", script], cwd=ROOT, capture_output=True, text=True, check=True)  # noqa: S603
    assert done.stdout.strip() == "[]"


@pytest.mark.parametrize(("cloudwatch", "prometheus"), [(True, False), (False, True), (True, True)])
def test_nodes_tell_their_figures_where_the_settings_say_so(cloudwatch: bool, prometheus: bool) -> None:
    given: dict[str, Any] = {"node_metrics": str(cloudwatch), "prometheus": str(prometheus), "metrics_interval_seconds": "30"}
    made = templates(build("announcement", customer_managed_key="true", **given))
    kinds = [resource["Type"] for resource in made["Foundation"]["Resources"].values()]
    assert kinds.count("AWS::APS::Workspace") == kinds.count("AWS::APS::RuleGroupsNamespace") == int(prometheus)
    (upload,) = [one for one in made["Cluster"]["Resources"].values() if one["Type"] == "Custom::HyperPodScriptsUpload"]
    text = upload["Properties"]["Configuration"]
    told = "".join(part if isinstance(part, str) else "?" for part in text["Fn::Join"][1])
    assert ('"cloudwatch"' in told, '"remote_write"' in told) == (cloudwatch, prometheus)
    assert '"interval_seconds":30' in told
