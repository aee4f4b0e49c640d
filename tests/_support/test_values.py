"""A value beyond a limit of the service is refused when the object is made, with the nearest allowed value; a token passes."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any, get_args, get_type_hints

import pytest
from aws_cdk import CfnParameter, Fn, Stack
from aws_cdk import aws_ec2 as ec2

from hyperpod_constructs import (
    CapacitySizeConfig,
    ClusterInstanceType,
    ClusterNetwork,
    DeploymentConfiguration,
    EbsVolume,
    ExistingLustre,
    ExistingOpenZfs,
    HyperPodCluster,
    InstanceGroup,
    LifecycleScripts,
    LustreMount,
    LustreStorage,
    NodeUser,
    OpenZfsMount,
    OpenZfsStorage,
    OverrideVpcConfig,
    ScheduledUpdateConfig,
    SlurmCluster,
)
from hyperpod_constructs._support import values
from hyperpod_constructs.facts.limits import Limit
from tests.conftest import ZONE, resources
from tests.rules.catalogue.cases import edited
from tests.rules.catalogue.templates import findings, slurm

IN_GROUP = "InstanceGroup 'workers': "
LUSTRE = LustreStorage.from_attributes(file_system_id="fs-11111111", mount_name="m")
HOMES = OpenZfsStorage.from_attributes(file_system_id="fs-22222222")
ZFS = "fs-22222222.fsx.example"
GROUP: dict[str, Any] = {"name": "workers", "instance_type": ClusterInstanceType.M5_XLARGE, "count": 1}
NAME = "1 to 63 letters, digits and hyphens, with a letter or digit first and last"


def group(**changes: Any) -> InstanceGroup:
    return InstanceGroup(**{**GROUP, **changes})


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (
            lambda: group(instance_type="p5.48xlarge"),
            f"{IN_GROUP}instance_type is 'p5.48xlarge' (str); allowed: ClusterInstanceType.of(\"ml.p5.48xlarge\") or ",
        ),
        (lambda: ClusterInstanceType.of("p5.48xlarge"), "types of HyperPod begin with ml.; the nearest is 'ml.p5.48xlarge'"),
        (
            lambda: group(name="my_workers"),
            f"InstanceGroup 'my_workers': name is 'my_workers'; allowed: {NAME}; write name=\"my-workers\"",
        ),
        (
            lambda: group(partition="gpu nodes"),
            f"partition is 'gpu nodes'; allowed: {NAME.replace('63', '1024')}; write partition=\"gpu-nodes\"",
        ),
        (lambda: group(count=-1), "InstanceGroup 'workers': count is -1; allowed: 0 to 6758; write count=0"),
        (lambda: group(count=7000), "count is 7000; allowed: 0 to 6758; write count=6758"),
        (lambda: group(min_count=-1), "min_count is -1; allowed: 0 to 6758; write min_count=0"),
        (lambda: group(threads_per_core=4), "threads_per_core is 4; allowed: 1 to 2; write threads_per_core=2"),
        (
            lambda: group(training_plan_arn="tp-0123"),
            "training_plan_arn is 'tp-0123'; allowed: the ARN of a training plan (aws sagemaker list-training-plans prints it); "
            'write training_plan_arn="arn:aws:sagemaker:us-west-2:111122223333:training-plan/my-plan"',
        ),
        (
            lambda: group(name="dev"),
            "InstanceGroup 'dev': the group is named 'dev', as the service's own partition of all nodes, and would merge with it; "
            "write another name, such as 'research'",
        ),
        (lambda: group(partition="dev"), "InstanceGroup 'workers': its partition is named 'dev'"),
        (
            lambda: group(image_id="ubuntu"),
            "image_id is 'ubuntu'; allowed: 'default', or the id of an image: ami- and 8 to 17 digits",
        ),
        (lambda: group(image_id="ami-12345678-x"), 'write image_id="ami-0123456789abcdef0"'),
        (
            lambda: group(image_release_version="1.2"),
            "image_release_version is '1.2'; allowed: three numbers with dots between them",
        ),
        (lambda: CapacitySizeConfig.instance_count(0), "CapacitySizeConfig.instance_count: value is 0; allowed: 1 or more"),
        (
            lambda: DeploymentConfiguration(wait_interval_in_seconds=7200),
            "DeploymentConfiguration: wait_interval_in_seconds is 7200; allowed: 0 to 3600; write wait_interval_in_seconds=3600",
        ),
        (
            lambda: DeploymentConfiguration(auto_rollback_configuration=()),
            "DeploymentConfiguration: auto_rollback_configuration has 0 items; allowed: 1 to 10; give 1 to 10",
        ),
        (
            lambda: OverrideVpcConfig(subnets=(), security_groups=()),
            "OverrideVpcConfig: subnets has 0 items; allowed: 1 to 16; give 1 to 16",
        ),
        (
            lambda: ScheduledUpdateConfig(schedule_expression="0 3 * * SUN"),
            "ScheduledUpdateConfig: schedule_expression is '0 3 * * SUN'; allowed: cron(minute hour day-of-month month day-of-week",
        ),
        (
            lambda: ScheduledUpdateConfig(schedule_expression="at cron(0 3 ? * SUN *)"),
            'write schedule_expression="cron(0 3 ? * SUN *)"',
        ),
        (lambda: EbsVolume(size_gb=20_000), "EbsVolume: size_gb is 20000; allowed: 1 to 16384; write size_gb=16384"),
        (lambda: EbsVolume(size_gb=0), "size_gb is 0; allowed: 1 to 16384; write size_gb=1"),
        (
            lambda: LustreMount(file_system=LUSTRE, mount_path="fsx"),
            "LustreMount: mount_path is 'fsx'; allowed: an absolute path of letters, digits, '.', '_' and '-', without a slash "
            'at its end, of at most 1024 characters; write mount_path="/fsx"',
        ),
        (lambda: LustreMount(file_system=LUSTRE, mount_path="/fsx/"), 'write mount_path="/fsx"'),
        (
            lambda: LustreMount(file_system=LUSTRE, mount_path="/home"),
            "LustreMount: the mount path '/home' hides the homes of the image's own users; mount it at '/fsx', "
            "or at another path of its own",
        ),
        (
            lambda: LustreMount(file_system=LUSTRE, mount_path="/opt"),
            "the mount path '/opt' hides the configuration that the service",
        ),
        (lambda: LustreMount(file_system=LUSTRE, mount_path="/opt/sagemaker"), "hides the secondary volume"),
        (lambda: LustreMount(file_system=LUSTRE, mount_path="/etc"), "hides parts of the operating system"),
        (lambda: OpenZfsMount(dns_name=ZFS, mount_path="/opt/ml"), "OpenZfsMount: the mount path '/opt/ml' hides"),
        (lambda: OpenZfsMount(), "OpenZfsMount: found neither file_system nor dns_name; write file_system=OpenZfsStorage(...)"),
        (lambda: OpenZfsMount(file_system=HOMES, dns_name=ZFS), "OpenZfsMount: found file_system and dns_name; write"),
        (lambda: OpenZfsMount(dns_name="fs-2"), "OpenZfsMount: dns_name is 'fs-2'; allowed: the DNS name of an FSx file system"),
        (
            lambda: HyperPodCluster.from_cluster_arn("my-cluster"),
            "HyperPodCluster.from_cluster_arn: cluster_arn is 'my-cluster'; allowed: the ARN of a HyperPod cluster, which ends in",
        ),
        (
            lambda: LustreStorage.from_attributes(file_system_id="lustre", mount_name="m"),
            "file_system_id is 'lustre'; allowed: the id of",
        ),
        (
            lambda: LustreStorage.from_attributes(file_system_id="fs-11111111", mount_name="/fsx-of-us"),
            "LustreStorage.from_attributes: mount_name is '/fsx-of-us'; allowed: 1 to 8 letters, digits, '_' and '-' ",
        ),
        (lambda: LifecycleScripts.from_asset(on_create="x" * 129), "on_create is 'xxx"),
        (
            lambda: NodeUser(name="a", uid=10001, ssh_keys=["/home/a/.ssh/id_ed25519.pub"]),
            "ssh_keys has '/home/a/.ssh/id_ed25519.pub', the path of a file; write its content: Path(",
        ),
    ],
)
def test_fails_at_once(make: Callable[[], object], message: str) -> None:
    with pytest.raises((TypeError, ValueError), match=re.escape(message)):
        make()


def test_fails_at_once_in_a_construct(stack: Stack, network: ClusterNetwork) -> None:
    with pytest.raises(
        ValueError, match=rf"^Stack/X: cluster_name is 'my_cluster'; allowed: {NAME}; write cluster_name=\"my-cluster\"$"
    ):
        HyperPodCluster(stack, "X", cluster_name="my_cluster")
    with pytest.raises(ValueError, match=r"^Stack/Y: worker_count is -1; allowed: 0 to 6758; write worker_count=0$"):
        SlurmCluster(stack, "Y", network=network, file_system=LUSTRE, worker_type=ClusterInstanceType.M5_XLARGE, worker_count=-1)
    with pytest.raises(ValueError, match=r"^Stack/Z: automatic_backup_retention_days is 91; allowed: 0 to 90; write "):
        LustreStorage(stack, "Z", network=network, automatic_backup_retention_days=91)


def test_the_first_mistake_of_the_caller_is_reported() -> None:
    """In the order of writing, not of the declaration."""
    with pytest.raises(ValueError, match="count is -1"):
        InstanceGroup(count=-1, instance_type=ClusterInstanceType.M5_XLARGE, name="my_workers")
    with pytest.raises(ValueError, match="name is 'my_workers'"):
        InstanceGroup(name="my_workers", instance_type=ClusterInstanceType.M5_XLARGE, count=-1)


def test_a_line_feed_at_the_end_is_refused() -> None:
    with pytest.raises(ValueError, match=r'name is .workers.n.; allowed: .*; write name="workers"$'):
        group(name="workers\n")


def test_a_mount_of_the_service_and_beside_the_image_is_allowed() -> None:
    assert OpenZfsMount(dns_name=ZFS).mount_path == "/home"
    for path in ("/fsx", "/mnt/data", "/opt/data", "/homes"):
        assert LustreMount(file_system=LUSTRE, mount_path=path).mount_path == path


LIMITED = {name: value for name, value in vars(values).items() if get_args(value)}


@pytest.mark.parametrize("name", sorted(LIMITED))
def test_every_limit_refuses_something_and_allows_its_example(name: str) -> None:
    kind, limit = get_args(LIMITED[name])
    assert isinstance(limit, Limit)
    if kind is int:
        assert limit.mistake("x", -1) is not None
        assert limit.mistake("x", limit.least or 0) is None
    else:
        assert limit.mistake("x", limit.example) is None
        mistake = str(limit.mistake("x", ""))
        assert mistake.startswith("x is ''; allowed: ")
        assert "{" not in mistake


@pytest.mark.parametrize(
    "made", [InstanceGroup, EbsVolume, LustreMount, OpenZfsMount, ExistingLustre, ExistingOpenZfs, HyperPodCluster, SlurmCluster]
)
def test_a_text_or_a_number_may_be_a_token(made: Any, stack: Stack, network: ClusterNetwork) -> None:
    """Every such parameter, also those without a limit."""
    text = CfnParameter(stack, "Text").value_as_string
    number = CfnParameter(stack, "Number", type="Number").value_as_number
    given: dict[str, Any] = {
        "file_system": LUSTRE,
        "instance_type": ClusterInstanceType.of(text),
        "worker_type": ClusterInstanceType.of(text),
        "network": network,
    }
    for name, hint in get_type_hints(made.__init__).items():
        kinds = {hint, *get_args(hint)}
        if name not in ("return", "id") and name not in given and kinds & {str, int}:
            given[name] = text if str in kinds else number
    scope = (stack, "Made") if made in (HyperPodCluster, SlurmCluster) else ()
    # An OpenZFS mount takes a file system or a name.
    wanted = set(get_type_hints(made.__init__)) - ({"file_system"} if made is OpenZfsMount else set())
    tokens = [made(*scope, **{name: value for name, value in given.items() if name in wanted})]
    assert len(tokens) == 1


def test_items_of_a_list_may_be_tokens_and_a_whole_list_is_refused_with_the_way(stack: Stack) -> None:
    texts = Fn.split(",", CfnParameter(stack, "Keys").value_as_string)
    for name in ("groups", "ssh_keys"):
        given: dict[str, Any] = {name: texts}
        with pytest.raises(
            ValueError, match=rf"NodeUser 'alice': {name} is a list that only the deployment knows; .*Fn.select\(0, "
        ):
            NodeUser(name="alice", uid=10001, **given)
    key = Fn.select(0, texts)
    assert NodeUser(name="alice", uid=10001, ssh_keys=[key]).ssh_keys == [key]


def test_a_network_may_have_tokens(stack: Stack) -> None:
    text = CfnParameter(stack, "Text").value_as_string
    ClusterNetwork(stack, "N", availability_zone_id=text, cidr=text, node_cidr=text, egress_ports=[ec2.Port.tcp(22)])
    ClusterNetwork(stack, "M", availability_zone_id=ZONE)
    blocks = [vpc["Properties"]["CidrBlock"] for vpc in resources(stack, "AWS::EC2::VPC").values()]
    assert {"Ref": "Text"} in blocks


def test_a_template_with_such_a_value_has_one_finding_which_is_the_schemas() -> None:
    """At a synth CDK judges single values by the same schema; another rule would say it twice."""
    group = "Cluster/InstanceGroups/2"
    for path, value in (
        ("Cluster/ClusterName", "my_cluster"),
        (f"{group}/InstanceGroupName", "my_workers"),
        (f"{group}/InstanceCount", -1),
        (f"{group}/ThreadsPerCore", 4),
        (f"{group}/InstanceStorageConfigs", [{"EbsVolumeConfig": {"VolumeSizeInGB": 20_000}}]),
    ):
        assert [found.rule for found in findings(edited(slurm(), {path: value}))] == ["HP-SCH-004"], path
