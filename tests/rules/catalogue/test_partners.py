"""Machines, balancers, firewalls, private access and studios beside a cluster: what goes together, and what is useless alone."""

from __future__ import annotations

from typing import Any

import pytest

from tests.rules.catalogue.cases import REMOVED, Case, edited
from tests.rules.catalogue.templates import Template, findings, rules_of


def ref(name: str) -> dict[str, str]:
    return {"Ref": name}


def att(name: str, attribute: str) -> dict[str, Any]:
    return {"Fn::GetAtt": [name, attribute]}


def resource(kind: str, **properties: Any) -> dict[str, Any]:
    return {"Type": f"AWS::{kind}", "Properties": properties}


def subnet(block: str, zone: str) -> dict[str, Any]:
    return resource("EC2::Subnet", VpcId=ref("Vpc"), CidrBlock=block, AvailabilityZone=zone)


STEPS = {
    "Jobs": resource(
        "ApplicationAutoScaling::ScalableTarget",
        ServiceNamespace="sagemaker",
        ScalableDimension="sagemaker:variant:DesiredInstanceCount",
        ResourceId="endpoint/jobs/variant/all",
        MinCapacity=1,
        MaxCapacity=4,
    ),
    "More": resource(
        "ApplicationAutoScaling::ScalingPolicy",
        PolicyName="more",
        PolicyType="StepScaling",
        ScalingTargetId=ref("Jobs"),
        StepScalingPolicyConfiguration={
            "AdjustmentType": "ChangeInCapacity",
            "StepAdjustments": [{"MetricIntervalLowerBound": 0, "ScalingAdjustment": 1}],
        },
    ),
    "Full": resource(
        "CloudWatch::Alarm",
        Namespace="Jobs",
        MetricName="Waiting",
        Statistic="Average",
        Period=60,
        EvaluationPeriods=2,
        Threshold=5,
        ComparisonOperator="GreaterThanThreshold",
        AlarmActions=[ref("More")],
    ),
}
STRICT = {"RuleOrder": "STRICT_ORDER"}
SCRIPT = "#!/bin/bash\n/opt/aws/bin/cfn-signal -e 0 --stack ${AWS::StackName} --resource Tool"
INTERFACES = [
    {"DeviceIndex": 0, "NetworkCardIndex": 0, "InterfaceType": "efa", "SubnetId": ref("A"), "Groups": [ref("Group")]},
    {"DeviceIndex": 1, "NetworkCardIndex": 1, "InterfaceType": "efa-only", "SubnetId": ref("A"), "Groups": [ref("Group")]},
]
FROM_INSIDE = [{"IpProtocol": "tcp", "FromPort": port, "ToPort": port, "CidrIp": "10.0.0.0/16"} for port in (80, 443)]
NETWORK: Template = {
    "AWSTemplateFormatVersion": "2010-09-09",
    "Resources": {
        "Vpc": resource("EC2::VPC", CidrBlock="10.0.0.0/16", EnableDnsHostnames=True, EnableDnsSupport=True),
        "A": subnet("10.0.0.0/24", "us-west-2a"),
        "B": subnet("10.0.1.0/24", "us-west-2b"),
        "Group": resource("EC2::SecurityGroup", GroupDescription="x", VpcId=ref("Vpc"), SecurityGroupIngress=FROM_INSIDE),
        "Offices": resource(
            "EC2::PrefixList", PrefixListName="x", AddressFamily="IPv4", MaxEntries=3, Entries=[{"Cidr": "192.168.0.0/24"}]
        ),
        "Balancer": resource(
            "ElasticLoadBalancingV2::LoadBalancer",
            Type="application",
            Scheme="internal",
            Subnets=[ref("A"), ref("B")],
            SecurityGroups=[ref("Group")],
            LoadBalancerAttributes=[{"Key": "idle_timeout.timeout_seconds", "Value": "60"}],
        ),
        "Targets": resource(
            "ElasticLoadBalancingV2::TargetGroup",
            VpcId=ref("Vpc"),
            Protocol="HTTP",
            Port=80,
            TargetType="instance",
            Targets=[{"Id": ref("Tool")}],
            HealthCheckIntervalSeconds=30,
            HealthCheckTimeoutSeconds=5,
        ),
        "Listener": resource(
            "ElasticLoadBalancingV2::Listener",
            LoadBalancerArn=ref("Balancer"),
            Port=80,
            Protocol="HTTP",
            DefaultActions=[{"Type": "forward", "TargetGroupArn": ref("Targets")}],
        ),
        "Zone": resource("Route53::HostedZone", Name="example.internal", VPCs=[{"VPCId": ref("Vpc"), "VPCRegion": "us-west-2"}]),
        "Record": resource(
            "Route53::RecordSet",
            HostedZoneId=ref("Zone"),
            Name="tool.example.internal",
            Type="A",
            AliasTarget={"DNSName": att("Balancer", "DNSName"), "HostedZoneId": att("Balancer", "CanonicalHostedZoneID")},
        ),
        "Tool": {
            **resource(
                "EC2::Instance",
                ImageId="ami-0123456789abcdef0",
                InstanceType="m7i.large",
                SubnetId=ref("B"),
                SecurityGroupIds=[ref("Group")],
                UserData={"Fn::Base64": {"Fn::Sub": SCRIPT}},
            ),
            "CreationPolicy": {"ResourceSignal": {"Timeout": "PT15M"}},
        },
        "Disk": {
            **resource("EC2::Volume", AvailabilityZone=att("B", "AvailabilityZone"), Size=100, VolumeType="gp3", Encrypted=True),
            "DeletionPolicy": "Snapshot",
            "UpdateReplacePolicy": "Snapshot",
        },
        "Mount": resource("EC2::VolumeAttachment", InstanceId=ref("Tool"), VolumeId=ref("Disk"), Device="/dev/sdf"),
        "Reserved": resource(
            "EC2::CapacityReservation",
            AvailabilityZone="us-west-2a",
            InstanceType="p5.48xlarge",
            InstanceCount=2,
            InstancePlatform="Linux/UNIX",
        ),
        "Profile": resource("IAM::InstanceProfile", Roles=["tools"]),
        "Machines": resource(
            "EC2::LaunchTemplate",
            LaunchTemplateData={
                "InstanceType": "p5.48xlarge",
                "ImageId": "ami-0123456789abcdef0",
                "IamInstanceProfile": {"Arn": att("Profile", "Arn")},
                "CapacityReservationSpecification": {"CapacityReservationTarget": {"CapacityReservationId": ref("Reserved")}},
                "NetworkInterfaces": INTERFACES,
                "BlockDeviceMappings": [{"DeviceName": "/dev/xvda", "Ebs": {"VolumeSize": 200, "VolumeType": "gp3"}}],
            },
        ),
        "Placement": resource("EC2::PlacementGroup", Strategy="cluster"),
        "Allowed": resource(
            "NetworkFirewall::RuleGroup",
            RuleGroupName="allowed",
            Type="STATEFUL",
            Capacity=10,
            RuleGroup={
                "StatefulRuleOptions": STRICT,
                "RulesSource": {
                    "RulesSourceList": {
                        "Targets": [".example.com"],
                        "TargetTypes": ["TLS_SNI"],
                        "GeneratedRulesType": "ALLOWLIST",
                    }
                },
            },
        ),
        "Policy": resource(
            "NetworkFirewall::FirewallPolicy",
            FirewallPolicyName="x",
            FirewallPolicy={
                "StatelessDefaultActions": ["aws:forward_to_sfe"],
                "StatelessFragmentDefaultActions": ["aws:forward_to_sfe"],
                "StatefulEngineOptions": STRICT,
                "StatefulDefaultActions": ["aws:drop_established"],
                "StatefulRuleGroupReferences": [{"ResourceArn": ref("Allowed"), "Priority": 1}],
            },
        ),
        "Wall": resource(
            "NetworkFirewall::Firewall",
            FirewallName="x",
            FirewallPolicyArn=ref("Policy"),
            VpcId=ref("Vpc"),
            SubnetMappings=[{"SubnetId": ref("A")}],
        ),
        "Table": resource("EC2::RouteTable", VpcId=ref("Vpc")),
        "Way": resource(
            "EC2::Route",
            RouteTableId=ref("Table"),
            DestinationCidrBlock="0.0.0.0/0",
            VpcEndpointId={"Fn::Select": [1, {"Fn::Split": [":", {"Fn::Select": [0, att("Wall", "EndpointIds")]}]}]},
        ),
        "Lines": resource("Logs::LogGroup", RetentionInDays=30),
        "Flow": resource(
            "EC2::FlowLog",
            ResourceType="VPC",
            ResourceId=ref("Vpc"),
            TrafficType="ALL",
            LogDestinationType="s3",
            LogDestination="arn:aws:s3:::flows",
        ),
        "WallLogs": resource(
            "NetworkFirewall::LoggingConfiguration",
            FirewallArn=ref("Wall"),
            LoggingConfiguration={
                "LogDestinationConfigs": [
                    {"LogType": "ALERT", "LogDestinationType": "CloudWatchLogs", "LogDestination": {"logGroup": ref("Lines")}}
                ]
            },
        ),
        "Outbound": resource(
            "Route53Resolver::ResolverEndpoint",
            Direction="OUTBOUND",
            IpAddresses=[{"SubnetId": ref("A")}, {"SubnetId": ref("B")}],
            SecurityGroupIds=[ref("Group")],
        ),
        "Forward": resource(
            "Route53Resolver::ResolverRule",
            RuleType="FORWARD",
            DomainName="office.example.com",
            ResolverEndpointId=ref("Outbound"),
            TargetIps=[{"Ip": "10.0.1.53", "Port": "53"}],
        ),
        "Forwarded": resource(
            "Route53Resolver::ResolverRuleAssociation", ResolverRuleId=att("Forward", "ResolverRuleId"), VPCId=ref("Vpc")
        ),
        "Door": resource(
            "EC2::ClientVpnEndpoint",
            ClientCidrBlock="172.16.0.0/22",
            ServerCertificateArn="arn:aws:acm:us-west-2:123456789012:certificate/x",
            AuthenticationOptions=[
                {
                    "Type": "certificate-authentication",
                    "MutualAuthentication": {"ClientRootCertificateChainArn": "arn:aws:acm:us-west-2:123456789012:certificate/y"},
                }
            ],
            ConnectionLogOptions={"Enabled": False},
        ),
        "DoorOfB": resource("EC2::ClientVpnTargetNetworkAssociation", ClientVpnEndpointId=ref("Door"), SubnetId=ref("B")),
        "DoorForAll": resource(
            "EC2::ClientVpnAuthorizationRule",
            ClientVpnEndpointId=ref("Door"),
            TargetNetworkCidr="10.0.0.0/16",
            AuthorizeAllGroups=True,
        ),
        "Directory": resource(
            "DirectoryService::MicrosoftAD",
            Name="corp.example.com",
            Password="{{resolve:secretsmanager:directory}}",
            VpcSettings={"VpcId": ref("Vpc"), "SubnetIds": [ref("A"), ref("B")]},
        ),
        "Studio": resource(
            "SageMaker::Domain",
            AuthMode="IAM",
            DomainName="x",
            VpcId=ref("Vpc"),
            SubnetIds=[ref("A")],
            AppNetworkAccessType="VpcOnly",
            DefaultUserSettings={"ExecutionRole": "arn:aws:iam::123456789012:role/studio", "SecurityGroups": [ref("Group")]},
        ),
        "Apps": resource(
            "EC2::SecurityGroupIngress",
            GroupId=ref("Group"),
            IpProtocol="tcp",
            FromPort=8192,
            ToPort=65535,
            SourceSecurityGroupId=ref("Group"),
        ),
        "ForStudio": resource(
            "EC2::VPCEndpoint",
            VpcEndpointType="Interface",
            VpcId=ref("Vpc"),
            ServiceName={"Fn::Sub": "com.amazonaws.${AWS::Region}.sagemaker.api"},
            PrivateDnsEnabled=True,
            SubnetIds=[ref("A")],
            SecurityGroupIds=[ref("Group")],
        ),
        "ForRuntime": resource(
            "EC2::VPCEndpoint",
            VpcEndpointType="Interface",
            VpcId=ref("Vpc"),
            ServiceName={"Fn::Sub": "com.amazonaws.${AWS::Region}.sagemaker.runtime"},
            PrivateDnsEnabled=True,
            SubnetIds=[ref("A")],
            SecurityGroupIds=[ref("Group")],
        ),
        "Scientist": resource("SageMaker::UserProfile", DomainId=ref("Studio"), UserProfileName="scientist"),
        "Model": resource(
            "SageMaker::Model",
            ExecutionRoleArn="arn:aws:iam::123456789012:role/models",
            PrimaryContainer={"Image": "123456789012.dkr.ecr.us-west-2.amazonaws.com/m:1"},
        ),
        "Serving": resource(
            "SageMaker::EndpointConfig",
            ProductionVariants=[
                {
                    "VariantName": "a",
                    "ModelName": att("Model", "ModelName"),
                    "InitialInstanceCount": 1,
                    "InstanceType": "ml.g5.xlarge",
                }
            ],
        ),
        "Served": resource("SageMaker::Endpoint", EndpointConfigName=att("Serving", "EndpointConfigName")),
    },
}
DATA = "Machines/LaunchTemplateData"
WALLS = "Policy/FirewallPolicy"
VARIANT = "Serving/ProductionVariants/0"

WRONG: list[tuple[str, dict[str, Any]]] = [
    ("HP-SCH-007", {"Offices/Entries": [{"Cidr": "192.168.0.0/24"}, {"Cidr": "192.168.0.0/24"}]}),
    ("HP-SCH-007", {"Balancer/LoadBalancerAttributes/0/Key": "idle_timeout.seconds"}),
    ("HP-SCH-007", {"Targets/HealthCheckTimeoutSeconds": 40}),
    ("HP-SCH-007", {"Targets/HealthCheckProtocol": "TCP", "Targets/HealthCheckPath": "/ready"}),
    ("HP-SCH-007", {"Listener/Certificates": [{"CertificateArn": "arn:aws:acm:us-west-2:123456789012:certificate/x"}]}),
    ("HP-TXT-012", {"Balancer/Type": "network", "Balancer/LoadBalancerAttributes": REMOVED}),
    ("HP-TXT-012", {"Targets/Protocol": "TCP"}),
    ("HP-TXT-012", {"Targets/TargetType": "ip"}),
    ("HP-TXT-012", {"Flow/ResourceType": "Subnet"}),
    ("HP-TXT-012", {"Record/AliasTarget/HostedZoneId": ref("Zone")}),
    ("HP-TXT-012", {"Tool/UserData": {"Fn::Base64": {"Fn::Sub": SCRIPT.replace("Tool", "Other")}}}),
    ("HP-TXT-012", {"Tool/UserData": {"Fn::Base64": "#!/bin/bash\necho ready"}}),
    ("HP-TXT-012", {"Disk/AvailabilityZone": att("A", "AvailabilityZone")}),
    ("HP-TXT-012", {"Reserved/AvailabilityZone": "us-west-2b"}),
    ("HP-TXT-012", {"Reserved/InstanceType": "p5e.48xlarge"}),
    ("HP-SCH-007", {"Mount/Device": REMOVED}),
    ("HP-SCH-007", {"Disk/VolumeType": "io2"}),
    ("HP-SCH-007", {"Disk/VolumeType": "st1"}),
    ("HP-SCH-007", {f"{DATA}/SecurityGroupIds": [ref("Group")]}),
    ("HP-SCH-007", {f"{DATA}/NetworkInterfaces/0/InterfaceType": "efa-only"}),
    ("HP-SCH-007", {f"{DATA}/NetworkInterfaces/0/AssociatePublicIpAddress": True}),
    ("HP-REF-012", {f"{DATA}/IamInstanceProfile": {"Name": att("Profile", "Arn")}}),
    ("HP-SCH-007", {"Placement/PartitionCount": 3}),
    ("HP-SCH-007", {f"{WALLS}/StatefulEngineOptions": REMOVED}),
    ("HP-SCH-007", {f"{WALLS}/StatefulRuleGroupReferences/0/Priority": REMOVED}),
    ("HP-SCH-007", {f"{WALLS}/StatelessDefaultActions/0": "aws:forward"}),
    ("HP-TXT-012", {"Allowed/RuleGroup/StatefulRuleOptions": REMOVED}),
    ("HP-SCH-007", {"Allowed/RuleGroup/RulesSource/RulesSourceList/Targets/0": "*.example.com"}),
    ("HP-REF-003", {"Way/VpcEndpointId": {"Fn::Select": [0, att("Wall", "EndpointIds")]}}),
    (
        "HP-REF-003",
        {"Way/VpcEndpointId": {"Fn::Select": [0, {"Fn::Split": [":", {"Fn::Select": [0, att("Wall", "EndpointIds")]}]}]}},
    ),
    ("HP-SCH-007", {"WallLogs/LoggingConfiguration/LogDestinationConfigs/0/LogDestination": {"bucketName": "x"}}),
    ("HP-REF-012", {"WallLogs/LoggingConfiguration/LogDestinationConfigs/0/LogDestination/logGroup": att("Lines", "Arn")}),
    ("HP-SCH-007", {"Forward/TargetIps": REMOVED}),
    ("HP-REF-012", {"Forwarded/ResolverRuleId": att("Forward", "Arn")}),
    ("HP-SCH-007", {"Door/AuthenticationOptions/0/MutualAuthentication": REMOVED}),
    ("HP-SCH-007", {"Door/ConnectionLogOptions/Enabled": True}),
    ("HP-SCH-007", {"DoorForAll/AccessGroupId": "S-1-2"}),
    ("HP-DEP-005", {"DoorOfB": REMOVED}),
    ("HP-DEP-005", {"DoorForAll": REMOVED}),
    ("HP-DEP-005", {"Forwarded": REMOVED}),
    ("HP-SUB-014", {"Directory/VpcSettings/SubnetIds": [ref("B"), ref("B")], "B/AvailabilityZone": "us-west-2b"}),
    ("HP-TXT-012", {"Studio/AuthMode": "SSO"}),
    ("HP-SCH-007", {"Studio/DefaultUserSettings/SecurityGroups": REMOVED}),
    ("HP-REF-012", {"Scientist/DomainId": att("Studio", "DomainArn")}),
    ("HP-SCH-007", {f"{VARIANT}/ServerlessConfig": {"MaxConcurrency": 1, "MemorySizeInMB": 2048}}),
    ("HP-SCH-007", {f"{VARIANT}/InstanceType": REMOVED}),
    ("HP-REF-012", {f"{VARIANT}/ModelName": ref("Model")}),
    ("HP-REF-012", {"Served/EndpointConfigName": ref("Serving")}),
    ("HP-SCH-007", {"Listener/DefaultActions/0/Type": "redirect"}),
    ("HP-SCH-007", {"Allowed/RuleGroup/RulesSource/RulesString": "pass tcp any any -> any any (sid:1;)"}),
    ("HP-SCH-007", {"Allowed/RuleGroup/RulesSource": {"RulesString": "pass tcp any any -> any any (flow:established;)"}}),
    ("HP-SCH-007", {"Allowed/Capacity": 0}),
    (
        "HP-SUB-015",
        {"Wall/SubnetMappings": [{"SubnetId": ref("A")}, {"SubnetId": ref("C")}], "C": subnet("10.0.2.0/24", "us-west-2a")},
    ),
    ("HP-SCH-007", {"Forward/TargetIps/0/Ip": "dns.example.com"}),
    ("HP-SCH-007", {"Reserved/EndDateType": "limited"}),
    ("HP-SCH-007", {"Door/DnsServers": ["10.0.0.2", "10.0.0.3", "10.0.0.4"]}),
    ("HP-SCH-007", {"Door/SecurityGroupIds": [ref("Group")]}),
    ("HP-SCH-007", {"Directory/VpcSettings/SubnetIds": [ref("A"), ref("B"), ref("C")], "C": subnet("10.0.2.0/24", "us-west-2c")}),
    ("HP-REF-012", {"Tool/KeyName": att("Pair", "KeyPairId"), "Pair": resource("EC2::KeyPair", KeyName="x")}),
    ("HP-SCH-007", {"Tool/LaunchTemplate": {"LaunchTemplateId": ref("Machines"), "Version": "Latest"}}),
    ("HP-SCH-007", {"Model/Containers": [{"Image": "123456789012.dkr.ecr.us-west-2.amazonaws.com/m:1"}]}),
]
OUTER = {
    "Outer": resource("EC2::VPC", CidrBlock="10.1.0.0/16"),
    "OuterA": resource("EC2::Subnet", VpcId=ref("Outer"), CidrBlock="10.1.0.0/24", AvailabilityZone="us-west-2a"),
    "OuterTable": resource("EC2::RouteTable", VpcId=ref("Outer")),
    "OuterGroup": resource("EC2::SecurityGroup", GroupDescription="x", VpcId=ref("Outer")),
    "Peering": resource("EC2::VPCPeeringConnection", VpcId=ref("Vpc"), PeerVpcId=ref("Outer")),
}


def route(table: str, block: str, **end: Any) -> dict[str, Any]:
    return resource("EC2::Route", RouteTableId=ref(table), DestinationCidrBlock=block, **end)


BY_PEERING = {"VpcPeeringConnectionId": ref("Peering")}
THERE, BACK = route("Table", "10.1.0.0/16", **BY_PEERING), route("OuterTable", "10.0.0.0/16", **BY_PEERING)
HUB = {
    "Hub": resource("EC2::TransitGateway", DefaultRouteTableAssociation="disable", DefaultRouteTablePropagation="disable"),
    "HubTable": resource("EC2::TransitGatewayRouteTable", TransitGatewayId=ref("Hub")),
    "Attached": resource("EC2::TransitGatewayAttachment", TransitGatewayId=ref("Hub"), VpcId=ref("Vpc"), SubnetIds=[ref("A")]),
    "ByTable": resource(
        "EC2::TransitGatewayRouteTableAssociation",
        TransitGatewayAttachmentId=ref("Attached"),
        TransitGatewayRouteTableId=ref("HubTable"),
    ),
    "Known": resource(
        "EC2::TransitGatewayRouteTablePropagation",
        TransitGatewayAttachmentId=ref("Attached"),
        TransitGatewayRouteTableId=ref("HubTable"),
    ),
    "Inner": resource("EC2::RouteTable", VpcId=ref("Vpc")),
    "ToHub": {**route("Inner", "10.2.0.0/16", TransitGatewayId=ref("Hub")), "DependsOn": "Attached"},
    "InnerOfA": resource("EC2::SubnetRouteTableAssociation", SubnetId=ref("A"), RouteTableId=ref("Inner")),
}
TUNNEL = {
    **HUB,
    "Office": resource("EC2::CustomerGateway", Type="ipsec.1", BgpAsn=65010, IpAddress="203.0.113.10"),
    "Tunnel": resource(
        "EC2::VPNConnection",
        Type="ipsec.1",
        CustomerGatewayId=ref("Office"),
        TransitGatewayId=ref("Hub"),
        StaticRoutesOnly=False,
        VpnTunnelOptionsSpecifications=[{"TunnelInsideCidr": "169.254.60.0/30"}],
    ),
}
ACL = {
    "Acl": resource(
        "WAFv2::WebACL",
        Scope="REGIONAL",
        DefaultAction={"Allow": {}},
        VisibilityConfig={"SampledRequestsEnabled": True, "CloudWatchMetricsEnabled": True, "MetricName": "x"},
        Rules=[
            {
                "Name": "common",
                "Priority": 0,
                "OverrideAction": {"None": {}},
                "Statement": {"ManagedRuleGroupStatement": {"VendorName": "AWS", "Name": "AWSManagedRulesCommonRuleSet"}},
                "VisibilityConfig": {"SampledRequestsEnabled": True, "CloudWatchMetricsEnabled": True, "MetricName": "x"},
            }
        ],
    ),
    "AclHere": resource("WAFv2::WebACLAssociation", ResourceArn=ref("Balancer"), WebACLArn=att("Acl", "Arn")),
}
ORIGIN = {"Id": "tool", "DomainName": "tool.example.com", "CustomOriginConfig": {"OriginProtocolPolicy": "https-only"}}
SITE = {
    "Site": resource(
        "CloudFront::Distribution",
        DistributionConfig={
            "Enabled": True,
            "Origins": [ORIGIN],
            "DefaultCacheBehavior": {"TargetOriginId": "tool", "ViewerProtocolPolicy": "https-only", "CachePolicyId": "x"},
        },
    )
}
SHARED = "Studio/DefaultUserSettings/CustomFileSystemConfigs/0"
SETUP: dict[str, Any] = {
    "Setup": resource(
        "SageMaker::StudioLifecycleConfig",
        StudioLifecycleConfigName="setup",
        StudioLifecycleConfigAppType="JupyterLab",
        StudioLifecycleConfigContent={"Fn::Base64": "#!/bin/bash\necho ready"},
    ),
    "Studio/DefaultUserSettings/JupyterLabAppSettings": {"LifecycleConfigArns": [att("Setup", "StudioLifecycleConfigArn")]},
}
SCRATCH: dict[str, Any] = {
    "Scratch": {
        "DeletionPolicy": "RetainExceptOnCreate",
        "UpdateReplacePolicy": "Retain",
        **resource(
            "FSx::FileSystem",
            FileSystemType="LUSTRE",
            StorageCapacity=1200,
            SubnetIds=["subnet-0123456789abcdef0"],
            SecurityGroupIds=["sg-0123456789abcdef0"],
            LustreConfiguration={"DeploymentType": "SCRATCH_2"},
        ),
    },
    "Studio/DefaultUserSettings/CustomFileSystemConfigs": [
        {"FSxLustreFileSystemConfig": {"FileSystemId": ref("Scratch"), "FileSystemPath": "/"}}
    ],
}
CHECK = {
    "Check": resource(
        "Route53::HealthCheck", HealthCheckConfig={"Type": "HTTPS", "FullyQualifiedDomainName": "x.example.com", "Port": 443}
    )
}


def named_twice(**more: Any) -> dict[str, Any]:
    """Another record beside those of one name, which have a primary and a secondary."""
    given = {"HostedZoneId": ref("Zone"), "Name": "api.example.internal", "Type": "A", "TTL": "60", "ResourceRecords": ["10.0.0.9"]}
    first = resource("Route53::RecordSet", **given, SetIdentifier="a", Failover="PRIMARY", HealthCheckId=ref("Check"))
    return {**CHECK, "First": first, "Second": resource("Route53::RecordSet", **{**given, **more})}


THROUGH = {"VpcEndpointId": {"Fn::Select": [1, {"Fn::Split": [":", {"Fn::Select": [0, att("Wall", "EndpointIds")]}]}]}}
INSPECTED = {
    "Internet": resource("EC2::InternetGateway"),
    "InternetHere": resource("EC2::VPCGatewayAttachment", VpcId=ref("Vpc"), InternetGatewayId=ref("Internet")),
    "Edge": subnet("10.0.9.0/24", "us-west-2a"),
    "EdgeTable": resource("EC2::RouteTable", VpcId=ref("Vpc")),
    "EdgeOfTable": resource("EC2::SubnetRouteTableAssociation", SubnetId=ref("Edge"), RouteTableId=ref("EdgeTable")),
    "EdgeOut": {**route("EdgeTable", "0.0.0.0/0", GatewayId=ref("Internet")), "DependsOn": "InternetHere"},
    "Address": {**resource("EC2::EIP", Domain="vpc"), "DependsOn": "InternetHere"},
    "Nat": {
        **resource("EC2::NatGateway", SubnetId=ref("Edge"), AllocationId=att("Address", "AllocationId")),
        "DependsOn": "EdgeOut",
    },
    "Walled": subnet("10.0.8.0/28", "us-west-2a"),
    "Wall/SubnetMappings": [{"SubnetId": ref("Walled")}],
    "WalledTable": resource("EC2::RouteTable", VpcId=ref("Vpc")),
    "WalledOfTable": resource("EC2::SubnetRouteTableAssociation", SubnetId=ref("Walled"), RouteTableId=ref("WalledTable")),
    "WalledOut": route("WalledTable", "0.0.0.0/0", NatGatewayId=ref("Nat")),
    "AOfTable": resource("EC2::SubnetRouteTableAssociation", SubnetId=ref("A"), RouteTableId=ref("Table")),
    "BackToA": route("EdgeTable", "10.0.0.0/24", **THROUGH),
}
TO_TOOL = {
    "ToolGroup": resource("EC2::SecurityGroup", GroupDescription="x", VpcId=ref("Vpc")),
    "ToolFromCaller": resource(
        "EC2::SecurityGroupIngress",
        GroupId=ref("ToolGroup"),
        IpProtocol="tcp",
        FromPort=80,
        ToPort=80,
        SourceSecurityGroupId=ref("CallerGroup"),
    ),
    "CallerGroup": resource(
        "EC2::SecurityGroup",
        GroupDescription="x",
        VpcId=ref("Vpc"),
        SecurityGroupIngress=FROM_INSIDE,
        SecurityGroupEgress=[
            {"IpProtocol": "tcp", "FromPort": 80, "ToPort": 80, "DestinationSecurityGroupId": ref("ToolGroup")},
        ],
    ),
    "Balancer/SecurityGroups": [ref("CallerGroup")],
    "Tool/SecurityGroupIds": [ref("ToolGroup")],
}
SOURCE, HOME = "Allowed/RuleGroup/RulesSource", "Allowed/RuleGroup/RuleVariables/IPSets/HOME_NET"
PASS = "pass tls $NODES any -> $EXTERNAL_NET 443 (sid:1;)"
SECONDARY = {"SetIdentifier": "b", "Failover": "SECONDARY"}
BESIDE_WRONG: list[tuple[str, dict[str, Any], dict[str, Any]]] = [
    ("HP-REACH-008", {**OUTER, "There": THERE, "Back": BACK}, {"Back": REMOVED}),
    ("HP-REACH-008", HUB, {"ByTable": REMOVED}),
    ("HP-REACH-008", HUB, {"Known": REMOVED}),
    ("HP-REACH-008", HUB, {"ToHub": REMOVED}),
    ("HP-REACH-008", TUNNEL, {"Tunnel/StaticRoutesOnly": True}),
    ("HP-REACH-004", {**OUTER, "There": THERE, "Back": BACK}, {"Balancer/Subnets/0": ref("OuterA")}),
    ("HP-REACH-004", {**OUTER, "There": THERE, "Back": BACK}, {"Targets/VpcId": ref("Outer")}),
    ("HP-REACH-004", {**OUTER, "There": THERE, "Back": BACK}, {"Wall/SubnetMappings/0/SubnetId": ref("OuterA")}),
    ("HP-REACH-007", {}, {"Listener/Port": 8080}),
    ("HP-SCH-007", ACL, {"Acl/Rules/0/OverrideAction": REMOVED, "Acl/Rules/0/Action": {"Block": {}}}),
    ("HP-TXT-012", SETUP, {"Setup/StudioLifecycleConfigAppType": "CodeEditor"}),
    ("HP-TXT-012", SCRATCH, {SHARED: {"EFSFileSystemConfig": {"FileSystemId": ref("Scratch"), "FileSystemPath": "/"}}}),
    ("HP-TXT-012", ACL, {"Acl/Scope": "CLOUDFRONT"}),
    ("HP-DEP-005", ACL, {"AclHere": REMOVED}),
    ("HP-DEP-005", {}, {"Way": REMOVED}),
    ("HP-DEP-005", {}, {"Lonely": resource("EC2::InternetGateway")}),
    ("HP-DEP-005", STEPS, {"Full/AlarmActions": [ref("Mail")], "Mail": resource("SNS::Topic")}),
    ("HP-SCH-007", SITE, {"Site/DistributionConfig/DefaultCacheBehavior/TargetOriginId": "tools"}),
    ("HP-SCH-007", CHECK, {"Check/HealthCheckConfig/SearchString": "ready"}),
    ("HP-SCH-007", CHECK, {"Check/HealthCheckConfig/IPAddress": "10.0.0.9"}),
    ("HP-TXT-010", named_twice(**SECONDARY), {"Second/Failover": "PRIMARY", "Second/HealthCheckId": ref("Check")}),
    ("HP-TXT-010", named_twice(**SECONDARY), {"Second/Failover": REMOVED, "Second/Weight": 1}),
    ("HP-TXT-010", named_twice(**SECONDARY), {"First/HealthCheckId": REMOVED}),
    ("HP-REG-001", {**OUTER, "There": THERE, "Back": BACK}, {"Peering/PeerRegion": "us-east-1"}),
    ("HP-REG-001", {}, {"Zone/VPCs/0/VPCRegion": "us-east-1"}),
    ("HP-REACH-009", INSPECTED, {"WalledOut": route("WalledTable", "0.0.0.0/0", **THROUGH)}),
    ("HP-REACH-009", INSPECTED, {"WalledOut": REMOVED}),
    ("HP-SUB-015", INSPECTED, {"Wall/SubnetMappings/1": {"SubnetId": ref("A")}}),
    ("HP-REACH-009", INSPECTED, {"BackToA": REMOVED}),
    ("HP-REACH-009", INSPECTED, {"Way": route("Table", "0.0.0.0/0", NatGatewayId=ref("Nat"))}),
    ("HP-REACH-009", INSPECTED, {"Nat/SubnetId": ref("A")}),
    ("HP-REACH-009", INSPECTED, {f"{SOURCE}/RulesSourceList/GeneratedRulesType": "DENYLIST"}),
    ("HP-REACH-009", {**INSPECTED, HOME: {"Definition": ["10.0.0.0/16"]}}, {f"{HOME}/Definition/0": "10.0.128.0/17"}),
    ("HP-BLK-007", INSPECTED, {"BackToA/DestinationCidrBlock": "10.0.0.0/25"}),
    ("HP-BLK-012", {**OUTER, "There": THERE, "Back": BACK}, {"There/DestinationCidrBlock": "10.9.0.0/16"}),
    ("HP-REACH-010", TO_TOOL, {"ToolFromCaller/FromPort": 8080, "ToolFromCaller/ToPort": 8080}),
    (
        "HP-REACH-010",
        TO_TOOL,
        {"ToolFromCaller/SourceSecurityGroupId": REMOVED, "ToolFromCaller/CidrIp": "10.0.224.0/20"},
    ),
    ("HP-REACH-006", {}, {"Balancer/Scheme": "internet-facing"}),
    ("HP-REACH-006", {}, {"ForStudio/PrivateDnsEnabled": False}),
    ("HP-REACH-006", SCRATCH, {"Scratch/SecurityGroupIds": REMOVED}),
    ("HP-REACH-006", {}, {"Apps": REMOVED}),
    ("HP-TXT-007", {}, {SOURCE: {"RulesString": PASS}}),
    (
        "HP-TXT-007",
        {"Allowed/RuleGroup/RuleVariables": {"IPSets": {"NODES": {"Definition": ["10.0.0.0/16"]}}}, SOURCE: {"RulesString": PASS}},
        {f"{SOURCE}/RulesString": f"{PASS}\n{PASS}"},
    ),
    ("HP-TXT-011", {}, {f"{WALLS}/StatelessDefaultActions/0": "aws:pass"}),
    ("HP-SCH-007", {}, {"Allowed/Type": "STATELESS"}),
]


@pytest.mark.parametrize(
    ("rule", "beside", "changes"), BESIDE_WRONG, ids=lambda one: one if isinstance(one, str) else ",".join(one)
)
def test_what_stands_beside_goes_together_too(rule: str, beside: dict[str, Any], changes: dict[str, Any]) -> None:
    Case(rule, edited(NETWORK, beside), changes, {}).check()


RIGHT: list[dict[str, Any]] = [
    {"Targets/TargetType": "ip", "Targets/Targets": [{"Id": att("Tool", "PrivateIp")}]},
    {"Tool/UserData": {"Fn::Base64": {"Fn::Sub": SCRIPT.replace("Tool", "${AWS::StackName}")}}},
    {"Tool/UserData": {"Fn::Base64": "#!/bin/bash\naws s3 cp s3://x/start.sh . && bash start.sh"}},
    {"Disk/AvailabilityZone": "us-west-2b"},
    {f"{WALLS}/StatefulDefaultActions": REMOVED},
    {
        "System": resource("Route53Resolver::ResolverRule", RuleType="SYSTEM", DomainName="aws.example.com"),
        "SystemHere": resource(
            "Route53Resolver::ResolverRuleAssociation", ResolverRuleId=att("System", "ResolverRuleId"), VPCId=ref("Vpc")
        ),
    },
    {"DoorForAll/AuthorizeAllGroups": REMOVED, "DoorForAll/AccessGroupId": "S-1-2"},
    {"DoorOfB/ClientVpnEndpointId": "cvpn-endpoint-0123456789abcdef0"},
    {
        f"{VARIANT}/InstanceType": REMOVED,
        f"{VARIANT}/InitialInstanceCount": REMOVED,
        f"{VARIANT}/ServerlessConfig": {"MaxConcurrency": 1, "MemorySizeInMB": 2048},
    },
]


@pytest.mark.parametrize(("rule", "changes"), WRONG, ids=lambda one: one if isinstance(one, str) else ",".join(one))
def test_what_does_not_go_together_is_named_once(rule: str, changes: dict[str, Any]) -> None:
    Case(rule, NETWORK, changes, {}).check()


@pytest.mark.parametrize("changes", RIGHT, ids=",".join)
def test_what_may_go_together_is_not_named(changes: dict[str, Any]) -> None:
    assert rules_of(edited(NETWORK, changes)) == []


@pytest.mark.parametrize(
    "beside",
    [
        {"ToolFromCaller/CidrIp": "10.0.0.0/16"},
        {"ToolFromCaller/CidrIp": ref("AWS::StackName")},
        {"Late": resource("EC2::Subnet", VpcId=ref("Vpc"), Ipv4IpamPoolId="ipam-pool-1", Ipv4NetmaskLength=24)},
        None,
    ],
)
def test_a_rule_for_addresses_that_somebody_may_have_is_the_other_half(beside: dict[str, Any] | None) -> None:
    """Others make subnets in a VPC that an output gives to them."""
    block = {"ToolFromCaller/SourceSecurityGroupId": REMOVED, "ToolFromCaller/CidrIp": "10.0.224.0/20"}
    template = edited(edited(NETWORK, TO_TOOL), {**block, **(beside or {})})
    shared = {**template, "Outputs": {"Vpc": {"Value": ref("Vpc")}}}
    assert "HP-REACH-010" not in rules_of(template if beside else shared)


def test_listeners_have_ports_and_rules_priorities_of_their_own() -> None:
    beside = {"Cluster": resource("SageMaker::Cluster", ClusterName="x")}
    actions = [{"Type": "forward", "TargetGroupArn": ref("Targets")}]
    rule = resource(
        "ElasticLoadBalancingV2::ListenerRule",
        ListenerArn=ref("Listener"),
        Priority=1,
        Conditions=[{"Field": "path-pattern", "PathPatternConfig": {"Values": ["/a"]}}],
        Actions=actions,
    )
    other = {**rule, "Properties": {**rule["Properties"], "Priority": 2}}
    listener = NETWORK["Resources"]["Listener"]
    for extra, found in (
        ({"One": rule, "Two": rule}, ["Two"]),
        ({"One": rule, "Two": other}, []),
        ({"Another": listener}, ["Another"]),
    ):
        named = findings(edited(NETWORK, {**beside, **extra}))
        assert [one.resource for one in named if one.rule == "HP-LIM-004"] == found


def test_a_partner_may_be_in_another_stack() -> None:
    alone = edited(NETWORK, {"DoorOfB": REMOVED})
    assert rules_of({**alone, "Parameters": {"Name": {"Type": "String"}}, "Outputs": {"Door": {"Value": ref("Door")}}}) == []


def test_the_index_of_a_block_is_below_the_number_of_blocks() -> None:
    divided = {"Fn::Cidr": [{"Fn::Select": [0, att("Vpc", "Ipv6CidrBlocks")]}, 4, 64]}
    for index, rules in ((3, []), (4, ["HP-REF-003"])):
        six = resource("EC2::VPCCidrBlock", VpcId=ref("Vpc"), AmazonProvidedIpv6CidrBlock=True)
        changes = {"Six": six, "B/.DependsOn": "Six", "B/Ipv6CidrBlock": {"Fn::Select": [index, divided]}}
        assert rules_of(edited(NETWORK, changes)) == rules


def test_a_subnet_awaits_the_block_of_ipv6_that_its_vpc_gets() -> None:
    part = {"Fn::Select": [0, {"Fn::Cidr": [{"Fn::Select": [0, att("Vpc", "Ipv6CidrBlocks")]}, 4, 64]}]}
    six = resource("EC2::VPCCidrBlock", VpcId=ref("Vpc"), AmazonProvidedIpv6CidrBlock=True)
    Case(
        "HP-BLK-003", NETWORK, {"Six": six, "B/Ipv6CidrBlock": part}, {"Six": six, "B/Ipv6CidrBlock": part, "B/.DependsOn": "Six"}
    ).check()
    Case("HP-BLK-006", NETWORK, {"B/Ipv6CidrBlock": part}, {}).check()


@pytest.mark.parametrize(
    ("text", "image", "rules"),
    [
        ("#!/bin/bash\necho ready", {}, ["HP-TXT-012"]),
        ('MIME-Version: 1.0\nContent-Type: multipart/mixed; boundary="//"\n\n--//--', {}, []),
        ("#!/bin/bash\necho ready", {"ImageId": "ami-0123456789abcdef0"}, []),
    ],
)
def test_user_data_of_managed_nodes_is_in_parts(text: str, image: dict[str, str], rules: list[str]) -> None:
    template = resource("EC2::LaunchTemplate", LaunchTemplateData={"UserData": {"Fn::Base64": text}, **image})
    kind = "CUSTOM" if image else "AL2023_x86_64_STANDARD"
    nodes = resource(
        "EKS::Nodegroup",
        ClusterName="training",
        NodeRole="arn:aws:iam::123456789012:role/nodes",
        Subnets=[ref("A"), ref("B")],
        AmiType=kind,
        LaunchTemplate={"Id": ref("Start"), "Version": "1"},
    )
    found = rules_of(edited(NETWORK, {"Start": template, "Nodes": nodes}))
    assert [rule for rule in found if rule == "HP-TXT-012"] == rules
