"""Refusals of HyperPod: by the request, or for missing surroundings."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import pytest

from hyperpod_constructs.local.aws_service import AwsError
from tests.local.hyperpod_requests import cluster, group, new_hyperpod
from tests.local.moto_cloud import Cloud, moto_cloud

Call = Callable[..., dict[str, Any]]
Change = Callable[[dict[str, Any]], None]

LUSTRE = {"FsxLustreConfig": {"DnsName": "fs-0123456789abcdef0.fsx.us-west-2.amazonaws.com", "MountName": "abcdefgh"}}
EKS = {"Eks": {"ClusterArn": "arn:aws:eks:us-west-2:123456789012:cluster/k"}}
DATABASE = {"Endpoint": "db", "SecretArn": "arn:aws:secretsmanager:us-west-2:123456789012:secret:a"}
RESTRICTED: dict[str, Any] = {
    "SharedEnvironmentConfig": {
        "FSxLustreDeletionPolicy": "Keep",
        "FSxLustreConfig": {"SizeInGiB": 1200, "PerUnitStorageThroughput": 125},
    }
}
OTHER_ROLE = "arn:aws:iam::123456789012:role/others"
NO_NETWORK = {"Subnets": ["subnet-1"], "SecurityGroupIds": ["sg-1"]}


@pytest.fixture
def cloud() -> Iterator[Cloud]:
    with moto_cloud() as account:
        yield account


@pytest.fixture
def call(cloud: Cloud) -> Call:
    return new_hyperpod(cloud)


def workers(**members: Any) -> Change:
    def change(request: dict[str, Any]) -> None:
        spec = request["InstanceGroups"][1] | members
        request["InstanceGroups"][1] = {key: value for key, value in spec.items() if value is not None}

    return change


def both(first: Change, second: Change) -> Change:
    def change(request: dict[str, Any]) -> None:
        first(request)
        second(request)

    return change


def controller(**members: Any) -> Change:
    return lambda request: request["InstanceGroups"][0].update(members)


def whole(**members: Any) -> Change:
    return lambda request: request.update(members)


def without(*path: Any) -> Change:
    def change(request: dict[str, Any]) -> None:
        target: Any = request
        for key in path[:-1]:
            target = target[key]
        del target[path[-1]]

    return change


def script(**members: Any) -> Change:
    return workers(LifeCycleConfig=members)


def storage(*entries: dict[str, Any]) -> Change:
    return workers(InstanceStorageConfigs=list(entries))


def ebs(**members: Any) -> dict[str, Any]:
    return {"EbsVolumeConfig": members}


def scheduled(expression: str) -> Change:
    return workers(ScheduledUpdateConfig={"ScheduleExpression": expression})


def again(index: int, name: str) -> Change:
    return lambda request: request["InstanceGroups"].append({**request["InstanceGroups"][index], "InstanceGroupName": name})


REFUSED: list[tuple[str, Change]] = [
    ("Cluster demo has no InstanceGroup with Controller node type.", without("InstanceGroups", 0)),
    (
        "2 Controller Groups found: SlurmConfig for InstanceGroups may only have one Controller Group.",
        again(0, "second"),
    ),
    (
        "Partitions can only be assigned to Compute node types",
        controller(SlurmConfig={"NodeType": "Controller", "PartitionNames": ["a"]}),
    ),
    ("needs a name in PartitionNames", workers(SlurmConfig={"NodeType": "Compute"})),
    ("has no SlurmConfig", without("InstanceGroups", 1, "SlurmConfig")),
    ("is the controller and has InstanceCount 2", controller(InstanceCount=2)),
    ("names must be unique; found workers", again(1, "workers")),
    ("exactly one of InstanceType and InstanceRequirements", without("InstanceGroups", 1, "InstanceType")),
    ("MinInstanceCount of instance group workers is 3; it cannot exceed InstanceCount, which is 2", workers(MinInstanceCount=3)),
    ("both OnCreate and OnInitComplete", script(SourceS3Uri="s3://sagemaker-scripts/v1", OnCreate="a", OnInitComplete="b")),
    ("LifeCycleConfig for instance group workers is incomplete", script(SourceS3Uri="s3://sagemaker-scripts/v1")),
    ("LifeCycleConfig for instance group workers is incomplete", script(OnCreate="on_create.sh")),
    ("FSx configurations are only supported for Custom VPC", both(storage(LUSTRE), without("VpcConfig"))),
    ("2 entries of FsxLustreConfig", storage(LUSTRE, LUSTRE)),
    ("needs VolumeSizeInGB", storage(ebs(VolumeKmsKeyId="k"))),
    ("takes no VolumeSizeInGB", storage(ebs(RootVolume=True, VolumeSizeInGB=1, VolumeKmsKeyId="k"))),
    ("needs VolumeKmsKeyId", storage(ebs(RootVolume=True))),
    ("2 entries of EbsVolumeConfig", storage(ebs(VolumeSizeInGB=1), ebs(VolumeSizeInGB=2))),
    ("SlurmConfigStrategy Merge cannot be set", whole(Orchestrator={"Slurm": {"SlurmConfigStrategy": "Merge"}})),
    ("needs exactly one orchestrator configuration", whole(Orchestrator={})),
    ("SlurmConfig of instance group controller is only supported", whole(Orchestrator=EKS)),
    ("KubernetesConfig of instance group workers", workers(KubernetesConfig={"Labels": {"a": "b"}})),
    ("Spot capacity of instance group workers needs EKS", workers(CapacityRequirements={"Spot": {}})),
    ("cannot have both Spot and OnDemand capacity", workers(CapacityRequirements={"Spot": {}, "OnDemand": {}})),
    ("network interface 'efa' on ml.m5.xlarge, which has no EFA", workers(NetworkInterface={"InterfaceType": "efa"})),
    ("needs either a day of the month or a day of the week", scheduled("cron(0 3 1 * SUN *)")),
    ("ScheduleExpression is 'daily'; allowed: cron(minute hour", scheduled("daily")),
    ("OverrideVpcConfig of instance group workers needs", lambda r: workers(OverrideVpcConfig=r.pop("VpcConfig"))(r)),
    ("TieredStorageConfig is only supported", whole(TieredStorageConfig={"Mode": "Enable"})),
    ("AutoScaling needs ClusterRole", whole(AutoScaling={"Mode": "Enable", "AutoScalerType": "Karpenter"})),
    (
        "RestrictedInstanceGroupsConfig is only supported for clusters that EKS orchestrates",
        whole(RestrictedInstanceGroupsConfig=RESTRICTED),
    ),
    (
        "TrainingPlanArn arn:aws:sagemaker:us-west-2:123456789012:training-plan/none of instance group workers does not exist",
        workers(TrainingPlanArn="arn:aws:sagemaker:us-west-2:123456789012:training-plan/none"),
    ),
    ("reads only s3://", script(SourceS3Uri="https://sagemaker-scripts/v1", OnCreate="on_create.sh")),
    ("Could not assume role", workers(ExecutionRole="arn:aws:iam::123456789012:role/none")),
    ("VpcConfig: The subnet ID 'subnet-1' does not exist", whole(VpcConfig=NO_NETWORK)),
]  # fmt: skip


@pytest.mark.parametrize(("message", "change"), REFUSED, ids=[f"{i}-{text[:40]}" for i, (text, _) in enumerate(REFUSED)])
def test_fails_to_create(cloud: Cloud, call: Call, message: str, change: Change) -> None:
    request = cluster(cloud)
    change(request)
    with pytest.raises(AwsError) as refused:
        call("CreateCluster", **request)
    assert refused.value.code == "ValidationException"
    assert message in refused.value.message
    assert call("ListClusters") == {"ClusterSummaries": []}


NOT_CONTINUOUS: list[tuple[str, Change]] = [
    ("AccountingDatabase is only supported", whole(Orchestrator={"Slurm": {"AccountingDatabase": DATABASE}})),
    (
        "InstanceRequirements of instance group workers needs",
        workers(InstanceRequirements={"InstanceTypes": ["ml.m5.xlarge"]}, InstanceType=None),
    ),
]  # fmt: skip


@pytest.mark.parametrize(("message", "change"), NOT_CONTINUOUS)
def test_fails_without_continuous_provisioning(cloud: Cloud, call: Call, message: str, change: Change) -> None:
    request = cluster(cloud, continuous=False)
    change(request)
    with pytest.raises(AwsError, match=message):
        call("CreateCluster", **request)


def test_a_strategy_without_continuous_provisioning(cloud: Cloud, call: Call) -> None:
    given = {"Slurm": {"SlurmConfigStrategy": "Merge"}}
    call("CreateCluster", **cluster(cloud, continuous=False, Orchestrator=given))
    assert call("DescribeCluster", ClusterName="demo")["Orchestrator"] == given


def test_fails_with_two_login_groups(cloud: Cloud, call: Call) -> None:
    groups = [group(cloud, "head", "Controller"), group(cloud, "a", "Login"), group(cloud, "b", "Login")]
    with pytest.raises(AwsError, match="at most one InstanceGroup with Login node type"):
        call("CreateCluster", **cluster(cloud, InstanceGroups=groups))


def test_the_legacy_way_needs_no_slurm_configuration_but_is_not_continuous(cloud: Cloud, call: Call) -> None:
    cloud.client("s3").put_object(Bucket="sagemaker-scripts", Key="v1/provisioning_parameters.json", Body=b"{}")
    groups = [group(cloud, "controller", None), group(cloud, "workers", None)]
    with pytest.raises(AwsError, match="Continuous needs a Slurm configuration through the API"):
        call("CreateCluster", **cluster(cloud, InstanceGroups=groups, Orchestrator=None))
    call("CreateCluster", **cluster(cloud, continuous=False, InstanceGroups=groups, Orchestrator=None))


def test_an_eks_cluster(cloud: Cloud, call: Call) -> None:
    groups = [group(cloud, "workers", None, 2, KubernetesConfig={"Labels": {"a": "b"}})]
    call("CreateCluster", **cluster(cloud, InstanceGroups=groups, Orchestrator=EKS))
    cloud.clock.tick(1)
    assert call("DescribeCluster", ClusterName="demo")["ClusterStatus"] == "InService"


def test_fails_with_a_role_that_trusts_another_service(cloud: Cloud, call: Call) -> None:
    role = cloud.new_role("lambda", "lambda.amazonaws.com")
    with pytest.raises(AwsError, match=r"allows principal 'sagemaker\.amazonaws\.com' to assume the role"):
        call("CreateCluster", **cluster(cloud, InstanceGroups=[group(cloud, "c", "Controller", ExecutionRole=role)]))


def test_fails_with_a_role_that_cannot_see_the_network(cloud: Cloud, call: Call) -> None:
    cloud.iam.denied = {"ec2:DescribeSubnets"}
    with pytest.raises(AwsError, match=r"Unable to retrieve subnets: .* is not allowed ec2:DescribeSubnets"):
        call("CreateCluster", **cluster(cloud))


def test_interfaces_that_carry_efa_alone_take_no_address(cloud: Cloud, call: Call) -> None:
    members = {"InstanceType": "ml.p5.48xlarge", "NetworkInterface": {"InterfaceType": "efa-only"}}
    groups = [group(cloud, "c", "Controller"), group(cloud, "workers", "Compute", 100, **members)]
    call("CreateCluster", **cluster(cloud, InstanceGroups=groups))
    workers = call("DescribeCluster", ClusterName="demo")["InstanceGroups"][1]
    assert workers["TargetCount"] == 100


def test_a_group_in_a_subnet_of_its_own(cloud: Cloud, call: Call) -> None:
    other = cloud.new_subnet("10.1.1.0/24")
    network = {"Subnets": [other], "SecurityGroupIds": [cloud.new_security_group("others")]}
    groups = [group(cloud, "c", "Controller"), group(cloud, "workers", "Compute", 2, OverrideVpcConfig=network)]
    call("CreateCluster", **cluster(cloud, InstanceGroups=groups))
    cloud.clock.tick(10)
    call("DescribeCluster", ClusterName="demo")
    filters = [{"Name": "subnet-id", "Values": [other]}]
    inside = cloud.client("ec2").describe_network_interfaces(Filters=filters)["NetworkInterfaces"]
    assert [[one["GroupId"] for one in interface["Groups"]] for interface in inside] == [network["SecurityGroupIds"]] * 2
    assert len(cloud.interfaces()) == 1


def test_fails_with_a_group_of_another_vpc(cloud: Cloud, call: Call) -> None:
    other = cloud.client("ec2").create_vpc(CidrBlock="10.9.0.0/16")["Vpc"]["VpcId"]
    network = {"Subnets": [cloud.subnet], "SecurityGroupIds": [cloud.new_security_group("other", other)]}
    with pytest.raises(AwsError, match="must be in one VPC"):
        call("CreateCluster", **cluster(cloud, VpcConfig=network))


def test_addresses_are_counted_by_network_card(cloud: Cloud, call: Call) -> None:
    groups = [group(cloud, "c", "Controller"), group(cloud, "workers", "Compute", 7, InstanceType="ml.p5.48xlarge")]
    call("CreateCluster", **cluster(cloud, InstanceGroups=groups))
    cloud.clock.tick(10)
    call("DescribeCluster", ClusterName="demo")
    eighth = [{"InstanceGroupName": "workers", "IncrementTargetCountBy": 1}]
    with pytest.raises(AwsError, match=r"1 more nodes need 32 addresses, 32 each; found subnet-\w+ \(10.1.0.0/24, 26 left\)"):
        call("BatchAddClusterNodes", ClusterName="demo", NodesToAdd=eighth)


def test_fails_when_the_subnet_is_too_small_from_the_start(cloud: Cloud, call: Call) -> None:
    groups = [group(cloud, "c", "Controller"), group(cloud, "workers", "Compute", 8, InstanceType="ml.p5.48xlarge")]
    with pytest.raises(AwsError, match="8 more nodes need 256 addresses"):
        call("CreateCluster", **cluster(cloud, InstanceGroups=groups))


def created(cloud: Cloud, call: Call, *, continuous: bool = True) -> dict[str, Any]:
    request = cluster(cloud, continuous=continuous)
    call("CreateCluster", **request)
    cloud.clock.tick(10)
    return {key: value for key, value in request.items() if key not in ("VpcConfig", "NodeProvisioningMode")}


UPDATES: list[tuple[str, Change]] = [
    ("the update names controller and leaves out workers", without("InstanceGroups", 1)),
    ("in InstanceGroups and in InstanceGroupsToDelete", whole(InstanceGroupsToDelete=["workers"])),
    ("InstanceGroupsToDelete names 'none'", whole(InstanceGroupsToDelete=["none"])),
    ("NodeType of instance group workers is immutable", workers(SlurmConfig={"NodeType": "Login"})),
    ("InstanceType of instance group workers cannot be changed", workers(InstanceType="ml.m5.large")),
    ("ThreadsPerCore of instance group workers cannot be changed: it is None, found 1", workers(ThreadsPerCore=1)),
    ("ExecutionRole of instance group workers cannot be changed", workers(ExecutionRole=OTHER_ROLE)),
    (
        "the update deletes every instance group of cluster demo; at least one must remain",
        both(without("InstanceGroups"), whole(InstanceGroupsToDelete=["controller", "workers"])),
    ),
    ("cannot be changed between Slurm and EKS", whole(Orchestrator=EKS)),
    ("cannot be set with NodeProvisioningMode Continuous", whole(Orchestrator={"Slurm": {"SlurmConfigStrategy": "Merge"}})),
]  # fmt: skip


@pytest.mark.parametrize(("message", "change"), UPDATES)
def test_fails_to_update(cloud: Cloud, call: Call, message: str, change: Change) -> None:
    request = created(cloud, call)
    before = call("DescribeCluster", ClusterName="demo")
    change(request)
    with pytest.raises(AwsError, match=message):
        call("UpdateCluster", **request)
    assert call("DescribeCluster", ClusterName="demo") == before


def test_fails_to_toggle_the_provisioning_mode(cloud: Cloud, call: Call) -> None:
    request = created(cloud, call, continuous=False)
    with pytest.raises(AwsError, match="NodeProvisioningMode of cluster demo cannot be changed"):
        call("UpdateCluster", **request, NodeProvisioningMode="Continuous")


def test_an_accounting_database_can_be_added_and_changed_but_never_taken_away(cloud: Cloud, call: Call) -> None:
    request = created(cloud, call)
    for database in (DATABASE, {**DATABASE, "Port": 3307}):
        call("UpdateCluster", **{**request, "Orchestrator": {"Slurm": {"AccountingDatabase": database}}})
        cloud.clock.tick(10)
    with pytest.raises(AwsError, match="AccountingDatabase of cluster demo cannot be taken away: a cluster with an accounting"):
        call("UpdateCluster", **request)
    found = call("DescribeCluster", ClusterName="demo")["Orchestrator"]["Slurm"]["AccountingDatabase"]
    assert found == {**DATABASE, "Port": 3307}


def test_fails_to_delete_the_controller_group(cloud: Cloud, call: Call) -> None:
    request = created(cloud, call)
    del request["InstanceGroups"][0]
    with pytest.raises(AwsError, match="Cluster demo has no InstanceGroup with Controller node type"):
        call("UpdateCluster", **request, InstanceGroupsToDelete=["controller"])


def test_a_type_with_running_nodes_stays_in_its_list(cloud: Cloud, call: Call) -> None:
    def flexible(*types: str) -> list[dict[str, Any]]:
        wanted = {"InstanceTypes": list(types)}
        return [group(cloud, "c", "Controller"), group(cloud, "workers", "Compute", InstanceRequirements=wanted)]

    call("CreateCluster", **cluster(cloud, InstanceGroups=flexible("ml.m5.xlarge", "ml.g5.8xlarge")))
    cloud.clock.tick(10)
    call("UpdateCluster", ClusterName="demo", InstanceGroups=flexible("ml.m5.xlarge", "ml.m5.2xlarge"))
    with pytest.raises(AwsError, match=r"instance group workers has nodes of ml.m5.xlarge; keep the type in its InstanceTypes"):
        call("UpdateCluster", ClusterName="demo", InstanceGroups=flexible("ml.m5.2xlarge"))


@pytest.mark.parametrize("operation", ["UpdateCluster", "DeleteCluster", "UpdateClusterSoftware"])
def test_fails_while_the_cluster_is_being_created(cloud: Cloud, call: Call, operation: str) -> None:
    call("CreateCluster", **cluster(cloud))
    with pytest.raises(AwsError, match="ConflictException: Cluster demo is in state Creating"):
        call(operation, ClusterName="demo")


def test_fails_to_add_nodes_without_continuous_provisioning(cloud: Cloud, call: Call) -> None:
    created(cloud, call, continuous=False)
    more = [{"InstanceGroupName": "workers", "IncrementTargetCountBy": 1}]
    with pytest.raises(AwsError, match="only supported for clusters using Continuous"):
        call("BatchAddClusterNodes", ClusterName="demo", NodesToAdd=more)


def test_fails_to_tell_events_without_continuous_provisioning(cloud: Cloud, call: Call) -> None:
    created(cloud, call, continuous=False)
    with pytest.raises(AwsError, match="ValidationException: This functionality is only supported when"):
        call("ListClusterEvents", ClusterName="demo")
    with pytest.raises(AwsError, match="ValidationException: This functionality is only supported when"):
        call("DescribeClusterEvent", ClusterName="demo", EventId="00000000-0000-0000-0000-000000000000")


@pytest.mark.parametrize("operation", ["BatchRebootClusterNodes", "BatchReplaceClusterNodes"])
def test_fails_to_recover_nodes_of_a_cluster_that_was_never_patched(cloud: Cloud, call: Call, operation: str) -> None:
    created(cloud, call)
    node = call("ListClusterNodes", ClusterName="demo", InstanceGroupNameContains="workers")["ClusterNodeSummaries"][0]
    with pytest.raises(AwsError, match="patched at least once: run UpdateClusterSoftware on cluster demo first"):
        call(operation, ClusterName="demo", NodeIds=[node["InstanceId"]])
    call("UpdateClusterSoftware", ClusterName="demo")
    cloud.clock.tick()
    assert call(operation, ClusterName="demo", NodeIds=[node["InstanceId"]]) == {"Successful": [node["InstanceId"]]}
