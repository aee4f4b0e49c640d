"""The app of a newcomer: clusters of their own in a network, on a file system and with data of other teams."""

import os

from aws_cdk import App, Environment, RemovalPolicy, Stack
from aws_cdk import aws_ec2 as ec2
from aws_cdk import aws_s3 as s3
from constructs import Construct

from hyperpod_constructs import (
    ClusterInstanceType,
    ClusterNetwork,
    HyperPodCluster,
    InstanceGroup,
    LifecycleScripts,
    LustreMount,
    LustreStorage,
    NodeSoftware,
    NodeUser,
    OwnStep,
    ReadinessGate,
    SlurmNodeType,
)

KEY = "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIDLYNS4mPhhHrwTdkfWmvUXYBZ2ZTRZ8GHIWxPZ4Y3qX ada@example.com"


class Training(Stack):
    """A cluster with two types of workers and a login node."""

    def __init__(self, scope: Construct, id: str, *, cluster_name: str, workers: int) -> None:
        where = Environment(account=os.environ["CDK_DEFAULT_ACCOUNT"], region=os.environ["CDK_DEFAULT_REGION"])
        super().__init__(scope, id, env=where)
        vpc = ec2.Vpc.from_lookup(self, "Vpc", vpc_name="research")
        network = ClusterNetwork.from_attributes(
            vpc=vpc,
            node_subnet=vpc.private_subnets[0],
            security_group=ec2.SecurityGroup.from_lookup_by_name(self, "NodeGroup", "nodes", vpc),
        )
        lustre = LustreStorage.from_attributes(
            file_system_id=self.node.get_context("file_system"), mount_name=self.node.get_context("mount_name")
        )
        mounts = (LustreMount(file_system=lustre),)
        cluster = HyperPodCluster(
            self,
            "Cluster",
            network=network,
            cluster_name=cluster_name,
            lifecycle_scripts=LifecycleScripts.from_asset(
                software=NodeSoftware(users=(NodeUser(name="ada", uid=10001, ssh_keys=(KEY,)),)),
                steps=(OwnStep(script="tune.sh", node_types=[SlurmNodeType.COMPUTE]),),
            ),
            instance_groups=[
                InstanceGroup(
                    name="controller",
                    node_type=SlurmNodeType.CONTROLLER,
                    instance_type=ClusterInstanceType.M5_XLARGE,
                    count=1,
                    file_systems=mounts,
                ),
                InstanceGroup(
                    name="login",
                    node_type=SlurmNodeType.LOGIN,
                    instance_type=ClusterInstanceType.M5_XLARGE,
                    count=1,
                    file_systems=mounts,
                ),
                InstanceGroup(name="gpu", instance_type=ClusterInstanceType.P5_48XLARGE, count=workers, file_systems=mounts),
                InstanceGroup(name="cpu", instance_type=ClusterInstanceType.C5_9XLARGE, count=2, file_systems=mounts),
            ],
        )
        data = s3.Bucket.from_bucket_name(self, "Data", "amzn-s3-demo-research")
        data.grant_read_write(cluster)
        lustre.add_data_repository(
            self, "Link", bucket=data, file_system_path=f"/{id}", prefix=id, removal_policy=RemovalPolicy.DESTROY
        )
        ReadinessGate(self, "Readiness", cluster=cluster, min_running={"gpu": workers})


app = App()
Training(app, "Training", cluster_name=app.node.get_context("cluster_name"), workers=int(app.node.get_context("workers")))
if app.node.try_get_context("second"):
    Training(app, "Evaluation", cluster_name="evaluation", workers=1)
app.synth()
