"""A CDK app that uses the resource types of the embedded AWS, in several scenarios."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import aws_cdk as cdk
from aws_cdk import aws_ec2 as ec2
from aws_cdk import aws_iam as iam
from aws_cdk import aws_lambda as lambda_
from aws_cdk import aws_logs as logs
from aws_cdk import aws_s3 as s3
from aws_cdk import aws_s3_deployment as deployment
from aws_cdk import custom_resources
from constructs import Construct

HERE = Path(__file__).parent


class Network(Construct):
    """A VPC by L1s: public and private subnet by zone id, the private one from a secondary CIDR."""

    def __init__(self, scope: Construct, id: str) -> None:
        super().__init__(scope, id)
        self.vpc = ec2.CfnVPC(self, "Vpc", cidr_block="10.0.0.0/16", enable_dns_hostnames=True)
        block = ec2.CfnVPCCidrBlock(self, "Block", vpc_id=self.vpc.ref, cidr_block="10.1.0.0/16")
        public = ec2.CfnSubnet(self, "Public", vpc_id=self.vpc.ref, cidr_block="10.0.0.0/24", availability_zone_id="usw2-az1")
        self.private = ec2.CfnSubnet(
            self, "Private", vpc_id=self.vpc.ref, cidr_block="10.1.0.0/16", availability_zone_id="usw2-az1"
        )
        self.private.add_resource_dependency(block)
        gateway = ec2.CfnInternetGateway(self, "Gateway")
        attachment = ec2.CfnVPCGatewayAttachment(self, "Attachment", vpc_id=self.vpc.ref, internet_gateway_id=gateway.ref)
        address = ec2.CfnEIP(self, "Address", domain="vpc")
        address.add_resource_dependency(attachment)
        nat = ec2.CfnNatGateway(self, "Nat", subnet_id=public.ref, allocation_id=address.attr_allocation_id)
        nat.add_resource_dependency(attachment)
        public_table = self._table("PublicTable", public)
        route = ec2.CfnRoute(
            self,
            "PublicRoute",
            route_table_id=public_table.ref,
            destination_cidr_block="0.0.0.0/0",
            gateway_id=gateway.ref,
        )
        route.add_resource_dependency(attachment)
        private_table = self._table("PrivateTable", self.private)
        ec2.CfnRoute(
            self,
            "PrivateRoute",
            route_table_id=private_table.ref,
            destination_cidr_block="0.0.0.0/0",
            nat_gateway_id=nat.ref,
        )
        ec2.CfnVPCEndpoint(
            self,
            "S3",
            vpc_id=self.vpc.ref,
            service_name=f"com.amazonaws.{cdk.Aws.REGION}.s3",
            route_table_ids=[private_table.ref],
        )
        self.group = ec2.CfnSecurityGroup(self, "Group", vpc_id=self.vpc.ref, group_description="nodes")
        ec2.CfnSecurityGroupIngress(
            self,
            "Ingress",
            group_id=self.group.attr_group_id,
            ip_protocol="-1",
            source_security_group_id=self.group.attr_group_id,
        )
        ec2.CfnSecurityGroupEgress(
            self,
            "Egress",
            group_id=self.group.attr_group_id,
            ip_protocol="-1",
            destination_security_group_id=self.group.attr_group_id,
        )
        ec2.CfnVPCEndpoint(
            self,
            "Logs",
            vpc_id=self.vpc.ref,
            service_name=f"com.amazonaws.{cdk.Aws.REGION}.logs",
            vpc_endpoint_type="Interface",
            private_dns_enabled=True,
            subnet_ids=[self.private.ref],
            security_group_ids=[self.group.attr_group_id],
        )

    def _table(self, id: str, subnet: ec2.CfnSubnet) -> ec2.CfnRouteTable:
        table = ec2.CfnRouteTable(self, id, vpc_id=self.vpc.ref)
        ec2.CfnSubnetRouteTableAssociation(self, f"{id}Of", subnet_id=subnet.ref, route_table_id=table.ref)
        return table


class Sample(cdk.Stack):
    """Everything at once: network, buckets, an upload, roles, logs, and a custom resource with a waiter."""

    def __init__(self, scope: Construct, id: str, **options: Any) -> None:
        super().__init__(scope, id, **options)
        network = Network(self, "Network")
        group = logs.LogGroup(self, "Log", retention=logs.RetentionDays.ONE_WEEK, removal_policy=cdk.RemovalPolicy.DESTROY)
        ec2.FlowLog(
            self,
            "FlowLog",
            resource_type=ec2.FlowLogResourceType.from_vpc(
                ec2.Vpc.from_vpc_attributes(
                    self, "Imported", vpc_id=network.vpc.ref, availability_zones=[cdk.Fn.select(0, cdk.Fn.get_azs())]
                )
            ),
            destination=ec2.FlowLogDestination.to_cloud_watch_logs(group),
        )
        retained = s3.Bucket(self, "Retained", removal_policy=cdk.RemovalPolicy.RETAIN_ON_UPDATE_OR_DELETE)
        bucket = s3.Bucket(
            self,
            "Bucket",
            encryption=s3.BucketEncryption.S3_MANAGED,
            enforce_ssl=True,
            versioned=True,
            block_public_access=s3.BlockPublicAccess.BLOCK_ALL,
            lifecycle_rules=[
                s3.LifecycleRule(
                    abort_incomplete_multipart_upload_after=cdk.Duration.days(7),
                    noncurrent_version_expiration=cdk.Duration.days(30),
                )
            ],
            removal_policy=cdk.RemovalPolicy.DESTROY,
        )
        upload = deployment.BucketDeployment(
            self,
            "Upload",
            sources=[deployment.Source.data("greeting.txt", "hello"), deployment.Source.json_data("c.json", {"a": 1})],
            destination_bucket=bucket,
            destination_key_prefix="scripts",
        )
        role = iam.Role(
            self,
            "Role",
            assumed_by=iam.ServicePrincipal("sagemaker.amazonaws.com"),
            managed_policies=[iam.ManagedPolicy.from_aws_managed_policy_name("AmazonSageMakerClusterInstanceRolePolicy")],
        )
        bucket.grant_read(role)
        self.waiter = self._waiter(network, bucket)
        self.waiter.node.add_dependency(upload)
        cdk.CfnOutput(self, "BucketName", value=bucket.bucket_name)
        cdk.CfnOutput(self, "RetainedName", value=retained.bucket_name)
        cdk.CfnOutput(self, "Subnet", value=network.private.ref)
        cdk.CfnOutput(self, "Group", value=network.group.attr_group_id)
        cdk.CfnOutput(self, "Rounds", value=self.waiter.get_att_string("Rounds"))
        cdk.CfnOutput(self, "Seen", value=self.waiter.get_att_string("Seen"))

    def _waiter(self, network: Network, bucket: s3.Bucket) -> cdk.CustomResource:
        code = lambda_.Code.from_asset(str(HERE / "handlers"), exclude=["__pycache__"])

        def function(name: str) -> lambda_.Function:
            return lambda_.Function(self, name, runtime=lambda_.Runtime.PYTHON_3_13, handler=f"waiter.{name}", code=code)

        on_event, is_complete = function("on_event"), function("is_complete")
        is_complete.add_to_role_policy(
            iam.PolicyStatement(actions=["ec2:DescribeSubnets"], resources=["*"])
            if self.node.try_get_context("unpermitted") is None
            else iam.PolicyStatement(actions=["ec2:DescribeVpcs"], resources=["*"])
        )
        bucket.grant_read(is_complete)
        provider = custom_resources.Provider(
            self,
            "Provider",
            on_event_handler=on_event,
            is_complete_handler=is_complete,
            query_interval=cdk.Duration.seconds(1),
            total_timeout=cdk.Duration.minutes(5),
        )
        return cdk.CustomResource(
            self,
            "Waiter",
            service_token=provider.service_token,
            properties={
                "Subnet": network.private.ref,
                "Bucket": bucket.bucket_name,
                "Fail": self.node.try_get_context("fail") or "",
                "Round": self.node.try_get_context("round") or "1",
            },
        )


SCENARIOS: dict[str, dict[str, str]] = {
    "first": {},
    "second": {"round": "2", "tag": "other"},
    "failing": {"fail": "out of luck", "tag": "third"},
    "unpermitted": {"unpermitted": "1"},
}


def main() -> None:
    """Synthesize every scenario into a folder of its name under the folder that the first argument names: jsii starts once."""
    for name, context in SCENARIOS.items():
        app = cdk.App(outdir=str(Path(sys.argv[1]) / name), context=context)
        tags = {"project": context.get("tag", "sample")}
        Sample(app, "Sample", env=cdk.Environment(account="123456789012", region="us-west-2"), tags=tags)
        app.synth()


if __name__ == "__main__":
    main()
