"""The life of a cluster that Kubernetes orchestrates, with two teams on it, under IAM's evaluation.

The control plane is the double: nothing is scheduled, so no job of a team runs here.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import pytest
from aws_cdk import Acknowledgment, Validations
from botocore.credentials import Credentials
from botocore.exceptions import ClientError

from hyperpod_constructs import KubernetesVersion
from hyperpod_constructs.facts import kubernetes_nodes as labels
from hyperpod_constructs.local.kubernetes.client import HttpsApi, KubernetesError
from tests.deploy import kubernetes_app
from tests.deploy.conftest import CLUSTER, CLUSTER_NAME, FOUNDATION, Cloud, Things, running_cloud
from tests.deploy.kubernetes_app import ADMINS, NAME, P5, PRIORITIES, TEAMS, WORKSPACE, Choices
from tests.deploy.people import api, clients, credentials, kubectl, without

PART = "mig-1g.5gb"
"""A part of a GPU that the type does not have."""
WORKS, OTHER = TEAMS
NAMESPACE = f"hyperpod-ns-{WORKS}"


Look = Callable[[Callable[[str], Any], "Story"], Any]


@dataclass
class Story:
    """The cloud, and the findings of earlier steps."""

    cloud: Cloud
    assemblies: dict[str, Path]
    foundation: Things = field(default_factory=dict)
    workers: set[str] = field(default_factory=set)
    seen: dict[str, Any] = field(default_factory=dict)

    def role(self, logical_id: str) -> str:
        """The ARN of the one role of the cluster's stack whose logical id begins so."""
        name = self.resource(logical_id, "AWS::IAM::Role")
        return str(self.cloud.client("iam").get_role(RoleName=name)["Role"]["Arn"])

    def resource(self, logical_id: str, kind: str) -> str:
        """The physical id of the one resource of a type whose logical id begins so."""
        found = self.cloud.client("cloudformation").describe_stack_resources(StackName=CLUSTER)["StackResources"]
        (one,) = [item for item in found if item["ResourceType"] == kind and item["LogicalResourceId"].startswith(logical_id)]
        return str(one["PhysicalResourceId"])

    def people(self, team: str) -> str:
        """The ARN of the role of a team's people."""
        return self.role(f"Kubernetes{team.title()}Role")

    def kubernetes(self) -> AbstractContextManager[HttpsApi]:
        """The API as an administrator."""
        arn = self.cloud.client("iam").get_role(RoleName=ADMINS)["Role"]["Arn"]
        return api(self.cloud, NAME, credentials(self.cloud, arn))

    def team(self) -> AbstractContextManager[HttpsApi]:
        """The API as the people of a team."""
        return api(self.cloud, NAME, credentials(self.cloud, self.people(WORKS)))

    def control_plane(self) -> dict[str, Any]:
        """The EKS cluster."""
        found: dict[str, Any] = self.cloud.client("eks").describe_cluster(name=NAME)["cluster"]
        return found

    def addons(self) -> dict[str, dict[str, Any]]:
        """The add-ons by name."""
        eks = self.cloud.client("eks")
        names = eks.list_addons(clusterName=NAME)["addons"]
        return {name: eks.describe_addon(clusterName=NAME, addonName=name)["addon"] for name in names}

    def priorities(self) -> dict[str, int]:
        """The classes of the scheduling policy."""
        sagemaker = self.cloud.client("sagemaker")
        (one,) = sagemaker.list_cluster_scheduler_configs()["ClusterSchedulerConfigSummaries"]
        found = sagemaker.describe_cluster_scheduler_config(ClusterSchedulerConfigId=one["ClusterSchedulerConfigId"])
        return {item["Name"]: item["Weight"] for item in found["SchedulerConfig"]["PriorityClasses"]}

    def quotas(self) -> dict[str, tuple[str, int]]:
        """The status of each team's quota, and how many instances it guarantees."""
        return {
            item["ComputeQuotaTarget"]["TeamName"]: (
                item["Status"],
                item["ComputeQuotaConfig"]["ComputeQuotaResources"][0]["Count"],
            )
            for item in self.cloud.client("sagemaker").list_compute_quotas()["ComputeQuotaSummaries"]
        }

    def nodes(self) -> dict[str, int]:
        """How many nodes of Kubernetes each group has."""
        with self.kubernetes() as kubernetes:
            found = kubernetes.list("v1", "Node")
        return dict(Counter(node["metadata"]["labels"][labels.GROUP] for node in found))

    def described(self, group: str) -> tuple[dict[str, Any], dict[str, Any]]:
        """The one node of a group, in AWS and in Kubernetes."""
        (name,) = [node["InstanceId"] for node in self.cloud.nodes() if node["InstanceGroupName"] == group]
        with self.kubernetes() as kubernetes:
            node = kubernetes.get("v1", "Node", labels.node_name(name))
        found = self.cloud.client("sagemaker").describe_cluster_node(ClusterName=CLUSTER_NAME, NodeId=name)
        return found["NodeDetails"], node

    def restricted(self) -> tuple[str, int, int]:
        """The restricted group: its state, its running nodes, and the size of its file system."""
        (group,) = self.cloud.cluster()["RestrictedInstanceGroups"]
        return group["Status"], group["CurrentCount"], group["EnvironmentConfig"]["FSxLustreConfig"]["SizeInGiB"]

    def policy_of(self, role: str) -> set[str]:
        """The managed policies of the role with this ARN, and the first action of each statement of its own."""
        iam, name = self.cloud.client("iam"), role.rpartition("/")[2]
        managed = {one["PolicyName"] for one in iam.list_attached_role_policies(RoleName=name)["AttachedPolicies"]}
        inline = [
            iam.get_role_policy(RoleName=name, PolicyName=policy)["PolicyDocument"]["Statement"]
            for policy in iam.list_role_policies(RoleName=name)["PolicyNames"]
        ]
        actions = [statement["Action"] for statements in inline for statement in statements]
        return managed | {one if isinstance(one, str) else one[0] for one in actions}

    def identities(self) -> dict[str, str]:
        """The roles of service accounts."""
        eks = self.cloud.client("eks")
        found = eks.list_pod_identity_associations(clusterName=NAME)["associations"]
        ids = [one["associationId"] for one in found]
        each = [eks.describe_pod_identity_association(clusterName=NAME, associationId=one)["association"] for one in ids]
        return {f"{one['namespace']}/{one['serviceAccount']}": one["roleArn"] for one in each}

    def an_event(self) -> str:
        """The id of an event of the HyperPod cluster."""
        return str(self.cloud.client("sagemaker").list_cluster_events(ClusterName=CLUSTER_NAME)["Events"][0]["EventId"])

    def properties(self, kind: str) -> dict[str, Any]:
        """The properties of a custom resource of the CDK's in the template, of one without references but to the cluster."""
        template = json.loads((self.assemblies["made"] / "Cluster.template.json").read_text())
        found = [one["Properties"] for one in template["Resources"].values() if one["Type"] == f"Custom::AWSCDK-EKS-{kind}"]
        return next(one for one in found if all(isinstance(one.get(key, ""), str) for key in ("Manifest", "ChartAssetURL")))

    def releases(self) -> list[tuple[str, str]]:
        """The releases of the chart with their states, as Helm keeps them."""
        with self.kubernetes() as kubernetes:
            secrets = kubernetes.list("v1", "Secret", "kube-system", "owner=helm")
        return sorted((item["metadata"]["labels"]["version"], item["metadata"]["labels"]["status"]) for item in secrets)


def _ask_for_an_unknown_part(_: kubernetes_app.Foundation, cluster: kubernetes_app.Cluster) -> None:
    """A quota that the service refuses when nodes and policy have been updated already."""
    resource = cluster.teams[OTHER].quota.resource
    Validations.of(resource).acknowledge(Acknowledgment(id="hyperpod::HP-GOV-005", reason="the service is to refuse it"))
    entry = {"InstanceType": P5.name, "Count": None, "AcceleratorPartition": {"Type": PART, "Count": 1}}
    for key, value in entry.items():
        path = f"ComputeQuotaConfig.ComputeQuotaResources.0.{key}"
        resource.add_property_override(path, value)


@pytest.fixture(scope="module")
def story(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Story]:
    directory = tmp_path_factory.mktemp("eks")
    newest = KubernetesVersion.V1_35
    scaled = replace(Choices(), workers=3, nova=2, nova_gib=2400)
    choices = {
        "made": Choices(),
        "scaled": scaled,
        "addon": replace(scaled, metrics_replicas=2),
        "raised": replace(scaled, metrics_replicas=2, version=newest),
    }
    assemblies = {name: kubernetes_app.synthesize(directory / name, given) for name, given in choices.items()}
    broken = replace(choices["raised"], workers=4, top_priority=80)
    assemblies["broken"] = kubernetes_app.synthesize(directory / "broken", broken, _ask_for_an_unknown_part)
    with running_cloud(directory, auth=True) as cloud:
        yield Story(cloud, assemblies)


def test_the_foundation_comes_first(story: Story) -> None:
    run = story.cloud.deploy(story.assemblies["made"], "Foundation")
    assert run.code == 0, run.output
    story.foundation = story.cloud.things()


def test_create(story: Story) -> None:
    cloud = story.cloud
    run = cloud.run("hyperpod", "deploy", "--auth", "--app", str(story.assemblies["made"]))
    assert run.code == 0, run.output
    assert cloud.cluster()["ClusterArn"] in run.output
    assert cloud.cluster()["Orchestrator"]["Eks"]["ClusterArn"] == story.control_plane()["arn"]
    story.workers = cloud.running("workers", 2)


def test_created_addons_are_active_behind_a_node(story: Story) -> None:
    assert {name: addon["status"] for name, addon in story.addons().items()} == dict.fromkeys(
        (
            "vpc-cni",
            "kube-proxy",
            "eks-pod-identity-agent",
            "coredns",
            "cert-manager",
            "metrics-server",
            "aws-fsx-csi-driver",
            "aws-ebs-csi-driver",
            "aws-mountpoint-s3-csi-driver",
            "amazon-sagemaker-hyperpod-observability",
            "amazon-sagemaker-hyperpod-taskgovernance",
            "amazon-sagemaker-hyperpod-training-operator",
        ),
        "ACTIVE",
    )
    assert "workers: 1 or more of 2 Running" in story.cloud.output(CLUSTER, "ReadinessMessage")


def test_created_nodes_are_in_kubernetes_and_the_chart_is_installed(story: Story) -> None:
    assert story.nodes() == {"workers": 2, "spare": 1, "checked": 1, "nova": 1}
    assert story.releases() == [("1", "deployed")]


def test_created_pods_have_the_roles_of_their_addons(story: Story) -> None:
    assert {account: story.policy_of(role) for account, role in story.identities().items()} == {
        "aws-hyperpod/hp-training-operator-controller-manager": {"AmazonSageMakerHyperPodTrainingOperatorAccess"},
        "hyperpod-observability/hyperpod-observability-operator-otel-collector": {"aps:RemoteWrite", "logs:CreateLogGroup"},
        "kube-system/ebs-csi-controller-sa": {
            "AmazonEBSCSIDriverPolicy",
            "eks:DescribeCluster",
            "sagemaker:AttachClusterNodeVolume",
        },
        "kube-system/fsx-csi-controller-sa": {"fsx:DescribeFileSystems"},
        "kube-system/s3-csi-driver-sa": {"s3:GetObject", "s3:ListBucket"},
    }
    assert WORKSPACE in story.addons()["amazon-sagemaker-hyperpod-observability"]["configurationValues"]


def test_created_spare_capacity_is_told_of_the_node(story: Story) -> None:
    details, _ = story.described("spare")
    assert (details["CapacityType"], details["InstanceStatus"]["Status"]) == ("Spot", "Running")


def test_created_group_with_deep_health_checks_has_passed_them(story: Story) -> None:
    details, node = story.described("checked")
    assert node["metadata"]["labels"][labels.DEEP_HEALTH] == labels.PASSED
    events = story.cloud.client("sagemaker").list_cluster_events(ClusterName=CLUSTER_NAME, SortOrder="Ascending")["Events"]
    assert [event["Description"] for event in events if "Deep health" in event["Description"]] == [
        "Deep health checks of Instance Group checked started",
        f"Deep health checks of EC2 Instance {details['InstanceId']} passed",
    ]


def test_created_restricted_group_has_its_file_system(story: Story) -> None:
    assert story.restricted() == ("InService", 1, 1200)
    assert [group["InstanceGroupName"] for group in story.cloud.cluster()["InstanceGroups"]] == ["workers", "spare", "checked"]


def test_created_teams_have_quotas_namespaces_access_and_files(story: Story) -> None:
    assert story.priorities() == PRIORITIES
    assert story.quotas() == dict.fromkeys(TEAMS, ("Created", 1))
    (file_system,) = story.cloud.client("fsx").describe_file_systems()["FileSystems"]
    for namespace in (f"hyperpod-ns-{team}" for team in TEAMS):
        with story.kubernetes() as kubernetes:
            claim = kubernetes.get("v1", "PersistentVolumeClaim", "fsx", namespace)
            volume = kubernetes.get("v1", "PersistentVolume", claim["spec"]["volumeName"])
            (queue,) = kubernetes.list("kueue.x-k8s.io/v1beta1", "LocalQueue", namespace)
            (binding,) = kubernetes.list("rbac.authorization.k8s.io/v1", "RoleBinding", namespace)
        assert volume["spec"]["csi"]["volumeHandle"] == file_system["FileSystemId"]
        assert volume["spec"]["claimRef"]["name"] == claim["metadata"]["name"]
        assert "Bound" not in (claim.get("status", {}).get("phase"), volume.get("status", {}).get("phase")), "the double binds none"
        assert queue["metadata"]["name"] == f"{namespace}-localqueue"
        assert [subject["name"] for subject in binding["subjects"]] == [f"{namespace}-namespace-level-group"]


def test_created_function_with_kubectl_is_in_the_network(story: Story) -> None:
    name = story.resource("ControlPlaneClusterKubectlProviderHandler", "AWS::Lambda::Function")
    found = story.cloud.client("lambda").get_function_configuration(FunctionName=name)["VpcConfig"]
    network = story.control_plane()["resourcesVpcConfig"]
    assert (found["VpcId"], set(found["SubnetIds"])) == (network["vpcId"], set(network["subnetIds"]))


def test_second_deploy_changes_nothing(story: Story) -> None:
    cloud = story.cloud
    before = [cloud.events(name)[0]["EventId"] for name in (FOUNDATION, CLUSTER)]
    run = cloud.deploy(story.assemblies["made"])
    assert run.code == 0, run.output
    assert run.output.count("(no changes)") == 2
    assert [cloud.events(name)[0]["EventId"] for name in (FOUNDATION, CLUSTER)] == before


def job(namespace: str, name: str = "step") -> dict[str, Any]:
    container = {"name": "work", "image": "public.ecr.aws/docker/library/busybox:stable"}
    template = {"spec": {"containers": [container], "restartPolicy": "Never"}}
    metadata = {"name": name, "namespace": namespace}
    return {"apiVersion": "batch/v1", "kind": "Job", "metadata": metadata, "spec": {"template": template}}


def test_a_team_makes_jobs_in_its_namespace_with_kubectl(story: Story) -> None:
    manifest = story.cloud.directory / "job.json"
    manifest.write_text(json.dumps(job(NAMESPACE, "first")), "utf-8")
    done = kubectl(story.cloud, NAME, "create", "-f", str(manifest), role=story.people(WORKS))
    assert done.code == 0, done.output
    assert "job.batch/first created" in done.output


def test_fails_to_make_jobs_elsewhere(story: Story) -> None:
    with story.team() as team:
        assert team.create(job(NAMESPACE))["metadata"]["name"] == "step"
        for namespace in ("default", "kube-system", "aws-hyperpod", f"hyperpod-ns-{OTHER}"):
            with pytest.raises(KubernetesError, match="forbidden") as refused:
                team.create(job(namespace))
            assert refused.value.code == 403


@pytest.mark.parametrize("kind", ["Secret", "Pod"])
def test_fails_to_make_what_no_team_may(story: Story, kind: str) -> None:
    with story.team() as team, pytest.raises(KubernetesError, match="forbidden"):
        team.create({"apiVersion": "v1", "kind": kind, "metadata": {"name": "mine", "namespace": NAMESPACE}})


def test_fails_with_a_bad_token(story: Story) -> None:
    with story.team() as team:
        team.token += "x"
        with pytest.raises(KubernetesError) as refused:
            team.list("batch/v1", "Job", NAMESPACE)
    assert refused.value.code == 401


def test_fails_for_the_owner_whom_nobody_gave_access(story: Story) -> None:
    owner = Credentials(story.cloud.aws.access_key_id, story.cloud.aws.secret_access_key)
    with api(story.cloud, NAME, owner) as kubernetes, pytest.raises(KubernetesError) as refused:
        kubernetes.list("v1", "Namespace")
    assert refused.value.code == 401


LOOKS: Mapping[str, Look] = {
    "eks:DescribeCluster": lambda client, _: client("eks").describe_cluster(name=NAME),
    "sagemaker:DescribeCluster": lambda client, _: client("sagemaker").describe_cluster(ClusterName=CLUSTER_NAME),
    "sagemaker:ListClusterNodes": lambda client, _: client("sagemaker").list_cluster_nodes(ClusterName=CLUSTER_NAME),
    "sagemaker:ListClusterEvents": lambda client, _: client("sagemaker").list_cluster_events(ClusterName=CLUSTER_NAME),
    "sagemaker:DescribeClusterNode": lambda client, story: client("sagemaker").describe_cluster_node(
        ClusterName=CLUSTER_NAME, NodeId=min(story.workers)
    ),
    "sagemaker:DescribeClusterEvent": lambda client, story: client("sagemaker").describe_cluster_event(
        ClusterName=CLUSTER_NAME, EventId=story.an_event()
    ),
}
"""What the people of a team look at in AWS, by the action."""


@pytest.mark.parametrize("action", sorted(LOOKS))
def test_each_permission_of_a_team_is_needed(story: Story, action: str) -> None:
    role = story.people(WORKS)
    who = clients(story.cloud, credentials(story.cloud, role))
    LOOKS[action](who, story)
    with without(story.cloud, role, action) as permissions, pytest.raises(ClientError, match=f"to perform: {action}"):
        LOOKS[action](who, story)
    assert permissions == LOOKS.keys()


PROVIDER = "ControlPlaneClusterKubectlProvider"
UNUSED = {"s3:GetBucket*", "s3:List*", "lambda:GetFunction"}
"""What the CDK allows its functions and they do not need."""


@pytest.mark.parametrize(
    ("function", "role", "action", "kind", "words"),
    [
        (
            "Handler",
            "HandlerServiceRole",
            "eks:DescribeCluster",
            "KubernetesResource",
            "not authorized to perform: eks:DescribeCluster",
        ),
        ("Handler", "HandlerServiceRole", "s3:GetObject*", "HelmChart", "(403) when calling the HeadObject operation"),
        (
            "framework",
            "frameworkonEventServiceRole",
            "lambda:InvokeFunction",
            "KubernetesResource",
            "not authorized to perform: lambda:InvokeFunction",
        ),
    ],
    ids=["manifest", "chart", "framework"],
)
def test_fails_without_a_permission_of_the_function_with_kubectl(
    story: Story, function: str, role: str, action: str, kind: str, words: str
) -> None:
    """The CDK's function names the action in its log, as on AWS, and in its error the program that failed."""
    cloud = story.cloud
    name = story.resource(f"{PROVIDER}{function}", "AWS::Lambda::Function")
    event = {
        "RequestType": "Update",
        "ResourceType": f"Custom::AWSCDK-EKS-{kind}",
        "ResourceProperties": {**story.properties(kind), "ClusterName": NAME},
        "PhysicalResourceId": "none",
        "ResponseURL": f"{cloud.aws.endpoint}/nobody",
    }
    with without(cloud, story.role(f"{PROVIDER}{role}"), action) as permissions:
        answer = cloud.client("lambda").invoke(FunctionName=name, Payload=json.dumps(event))
    assert permissions <= {"eks:DescribeCluster", "s3:GetObject*", "lambda:InvokeFunction"} | UNUSED
    assert answer["FunctionError"] == "Unhandled"
    assert words in "".join(
        entry["message"] for entry in cloud.client("logs").filter_log_events(logGroupName=f"/aws/lambda/{name}")["events"]
    )


def test_scaling_a_group_keeps_nodes_addons_and_release(story: Story) -> None:
    cloud, addons = story.cloud, story.addons()
    run = cloud.deploy(story.assemblies["scaled"], "Cluster")
    assert run.code == 0, run.output
    now = cloud.running("workers", 3)
    assert story.workers < now
    assert story.nodes() == {"workers": 3, "spare": 1, "checked": 1, "nova": 2}
    assert story.restricted() == ("InService", 2, 2400)
    assert story.addons() == addons
    assert story.releases() == [("1", "deployed")]
    story.workers = now


def test_update_of_an_addon_leaves_the_others_alone(story: Story) -> None:
    addons = story.addons()
    run = story.cloud.deploy(story.assemblies["addon"], "Cluster")
    assert run.code == 0, run.output
    now = story.addons()
    changed = {name for name in now if now[name] != addons[name]}
    assert changed == {"metrics-server"}
    assert json.loads(now["metrics-server"]["configurationValues"]) == {"replicas": 2}
    assert now["metrics-server"]["status"] == "ACTIVE"


def test_update_of_the_version_keeps_cluster_nodes_and_objects(story: Story) -> None:
    before = story.control_plane()
    run = story.cloud.deploy(story.assemblies["raised"], "Cluster")
    assert run.code == 0, run.output
    now = story.control_plane()
    assert (before["version"], now["version"], now["status"]) == ("1.34", "1.35", "ACTIVE")
    assert (now["arn"], now["createdAt"], now["endpoint"]) == (before["arn"], before["createdAt"], before["endpoint"])
    assert story.cloud.running("workers", 3) == story.workers
    with story.team() as team:
        assert team.get("batch/v1", "Job", "first", NAMESPACE)


def test_fails_update_and_goes_back(story: Story) -> None:
    cloud, addons, arn = story.cloud, story.addons(), story.cloud.cluster()["ClusterArn"]
    run = cloud.deploy(story.assemblies["broken"], "Cluster")
    assert run.code != 0
    assert cloud.status(CLUSTER) == "UPDATE_ROLLBACK_COMPLETE"
    assert f"{P5.name} has no accelerator partition {PART}" in cloud.cause(CLUSTER)
    assert cloud.running("workers", 3) == story.workers
    assert cloud.cluster()["ClusterArn"] == arn
    assert story.priorities() == PRIORITIES
    assert {team: count for team, (_, count) in story.quotas().items()} == dict.fromkeys(TEAMS, 1)
    assert story.addons() == addons


def test_destroy_leaves_what_is_kept_and_lists_it(story: Story) -> None:
    cloud = story.cloud
    arn = cloud.cluster()["ClusterArn"]
    run = cloud.run("hyperpod", "destroy", "--app", str(story.assemblies["made"]), "--stack", "Cluster")
    assert run.code == 0, run.output
    left = cloud.left(story.foundation)
    assert left.keys() == {"key", "log group"}
    logs = {f"/aws/sagemaker/Clusters/{CLUSTER_NAME}/{arn.rsplit('/', 1)[-1]}", f"/aws/eks/{NAME}/cluster"}
    assert logs < left["log group"]
    assert all(name in run.output for name in left["key"] | left["log group"])
