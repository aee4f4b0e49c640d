from __future__ import annotations

import json
from typing import Any

import pytest

from tests.rules.catalogue.cases import REMOVED, Case, edited
from tests.rules.catalogue.templates import KEPT, Template, eks, findings

OPERATOR = "amazon-sagemaker-hyperpod-training-operator"
OF_OPERATOR = "AmazonSageMakerHyperPodTrainingOperatorAccess"
INLINE = [{"RoleArn": {"Fn::GetAtt": ["PodRole", "Arn"]}, "ServiceAccount": "hp-training-operator-controller-manager"}]


def addon(name: str, *awaited: str, **properties: Any) -> Template:
    return {
        "Type": "AWS::EKS::Addon",
        "DependsOn": list(awaited),
        "Properties": {"AddonName": name, "ClusterName": {"Ref": "Control"}, **properties},
    }


OPEN, CLOSED = ({"Fn::Sub": f'{{"corefile": "${{AWS::Region}}"{end}'} for end in ("", "}"))


def files(account: str) -> Template:
    """The driver of EFS, with an identity for a service account."""
    inline = [{"ServiceAccount": account, "RoleArn": "arn:aws:iam::123456789012:role/files"}]
    return addon("aws-efs-csi-driver", PodIdentityAssociations=inline)


def watched(account: str) -> Template:
    """The agent of CloudWatch, with an identity for a service account."""
    inline = [{"ServiceAccount": account, "RoleArn": "arn:aws:iam::123456789012:role/agent"}]
    return addon("amazon-cloudwatch-observability", "Cluster", PodIdentityAssociations=inline)


def trust(*actions: str, by: Any = None) -> Template:
    """The trust of a role of pods.

    :param by: the ARN of the Kubernetes cluster alone; of any unless given.
    """
    condition = {} if by is None else {"Condition": {"StringEquals": {"aws:SourceArn": by, "aws:SourceAccount": "123456789012"}}}
    statement = {"Effect": "Allow", "Principal": {"Service": "pods.eks.amazonaws.com"}, "Action": list(actions), **condition}
    return {"Version": "2012-10-17", "Statement": [statement]}


WITH_OPERATOR = edited(
    eks(),
    {
        "Certificates": addon("cert-manager", "Cluster"),
        "PodRole": {
            "Type": "AWS::IAM::Role",
            "Properties": {
                "AssumeRolePolicyDocument": trust("sts:AssumeRole", "sts:TagSession"),
                "ManagedPolicyArns": [{"Fn::Sub": f"arn:${{AWS::Partition}}:iam::aws:policy/{OF_OPERATOR}"}],
            },
        },
        "Identity": {
            "Type": "AWS::EKS::PodIdentityAssociation",
            "Properties": {
                "ClusterName": {"Ref": "Control"},
                "Namespace": "aws-hyperpod",
                "ServiceAccount": "hp-training-operator-controller-manager",
                "RoleArn": {"Fn::GetAtt": ["PodRole", "Arn"]},
            },
        },
        "Operator": addon(OPERATOR, "Cluster", "Certificates", "PodIdentity", "Identity"),
    },
)
NAMED = edited(WITH_OPERATOR, {"Control/Name": "training"})
ASSUMED, ACTIONS = "PodRole/AssumeRolePolicyDocument", ("sts:AssumeRole", "sts:TagSession")
THIS, OTHER = {"Fn::GetAtt": ["Control", "Arn"]}, "arn:aws:eks:us-west-2:123456789012:cluster/other"
DNS = addon("coredns", AddonVersion="v1.12.1-eksbuild.2")
NODES: Template = {
    "Type": "AWS::EKS::Nodegroup",
    "Properties": {
        "ClusterName": {"Ref": "Control"},
        "NodeRole": "arn:aws:iam::123456789012:role/nodes",
        "Subnets": [{"Ref": "NodeSubnet"}],
    },
}

ATTACHING = {
    "Effect": "Allow",
    "Action": ["sagemaker:AttachClusterNodeVolume", "sagemaker:DetachClusterNodeVolume"],
    "Resource": {"Fn::Sub": "arn:${AWS::Partition}:sagemaker:${AWS::Region}:${AWS::AccountId}:cluster/*"},
}
LOOKING = {"Effect": "Allow", "Action": "eks:DescribeCluster", "Resource": {"Fn::GetAtt": ["Control", "Arn"]}}


def policies(*statements: Template) -> list[Template]:
    return [{"PolicyName": "volumes", "PolicyDocument": {"Version": "2012-10-17", "Statement": list(statements)}}]


OF_THE_DRIVER = {"Fn::GetAtt": ["DriverRole", "Arn"]}
WITH_VOLUMES = edited(
    eks(),
    {
        "DriverRole": {
            "Type": "AWS::IAM::Role",
            "Properties": {
                "AssumeRolePolicyDocument": trust("sts:AssumeRole", "sts:TagSession"),
                "ManagedPolicyArns": [{"Fn::Sub": "arn:${AWS::Partition}:iam::aws:policy/service-role/AmazonEBSCSIDriverPolicy"}],
                "Policies": policies(ATTACHING, LOOKING),
            },
        },
        "Identity": {
            "Type": "AWS::EKS::PodIdentityAssociation",
            "Properties": {
                "ClusterName": {"Ref": "Control"},
                "Namespace": "kube-system",
                "ServiceAccount": "ebs-csi-controller-sa",
                "RoleArn": OF_THE_DRIVER,
            },
        },
        "Driver": addon("aws-ebs-csi-driver", "Cluster", "PodIdentity", "Identity"),
    },
)
INLINE_DRIVER = {
    "Identity": REMOVED,
    "Driver": addon(
        "aws-ebs-csi-driver",
        "Cluster",
        "PodIdentity",
        PodIdentityAssociations=[{"RoleArn": OF_THE_DRIVER, "ServiceAccount": "ebs-csi-controller-sa"}],
    ),
}
ISSUER = "oidc.eks.us-west-2.amazonaws.com/id/EXAMPLED539D4633E53DE1B71EXAMPLE"
BY_ACCOUNT = {
    "Identity": REMOVED,
    "Driver": addon("aws-ebs-csi-driver", "Cluster", ServiceAccountRoleArn=OF_THE_DRIVER),
    "Provider": {
        "Type": "AWS::IAM::OIDCProvider",
        "Properties": {"Url": {"Fn::GetAtt": ["Control", "OpenIdConnectIssuerUrl"]}, "ClientIdList": ["sts.amazonaws.com"]},
    },
    "DriverRole/AssumeRolePolicyDocument/Statement/0": {
        "Effect": "Allow",
        "Principal": {"Federated": {"Fn::GetAtt": ["Provider", "Arn"]}},
        "Action": "sts:AssumeRoleWithWebIdentity",
        "Condition": {
            "StringEquals": {
                f"{ISSUER}:aud": "sts.amazonaws.com",
                f"{ISSUER}:sub": "system:serviceaccount:kube-system:ebs-csi-controller-sa",
            }
        },
    },
}
NO_EXTRAS = {"DriverRole/Policies": REMOVED}
MANAGED = {"DriverRole/ManagedPolicyArns/1": "arn:aws:iam::123456789012:policy/volumes"}

GOVERNANCE, OBSERVABILITY = "amazon-sagemaker-hyperpod-taskgovernance", "amazon-sagemaker-hyperpod-observability"
HELM = {
    "Type": "Custom::AWSCDK-EKS-HelmChart",
    "Properties": {"ServiceToken": "arn", "ClusterName": {"Ref": "Control"}, "Release": "certificates", "Chart": "cert-manager"},
}


def applied(name: str) -> Template:
    """A manifest with one object."""
    manifest = json.dumps([{"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": name}}])
    properties = {"ServiceToken": "arn", "ClusterName": {"Ref": "Control"}, "Manifest": manifest}
    return {"Type": "Custom::AWSCDK-EKS-KubernetesResource", "Properties": properties}


ENDPOINT = '"prometheusEndpoint": "${Workspace.PrometheusEndpoint}"'


def sent_to(level: str, endpoint: str = ENDPOINT, **more: Any) -> dict[str, Any]:
    """The observability add-on with its role; the workspace is known only at the deployment."""
    space = f'"ampWorkspace": {{"arn": "${{Workspace}}"{endpoint and f", {endpoint}"}}}'
    values = f'{{{space}, "metricsProvider": {{"nodeMetrics": {{"level": "{level}"}}}}}}'
    metrics = addon(
        OBSERVABILITY,
        "Cluster",
        ConfigurationValues={"Fn::Sub": values},
        ServiceAccountRoleArn="arn:aws:iam::123456789012:role/pods",
        **more,
    )
    return {"Workspace": {"Type": "AWS::APS::Workspace", **KEPT}, "Metrics": metrics}


WHOLE = """{"ampWorkspace": {"arn": "${Workspace}", "prometheusEndpoint": "${Workspace.PrometheusEndpoint}"}, "metricsProvider": {
  "clusterMetrics": {"level": "BASIC"}, "rayMetrics": {"level": "%s", "scrapeInterval": 30}, "logging": {"enabled": true}}}"""
"""Levels and lines as newer versions of the add-on have them."""


def in_yaml(text: str) -> dict[str, Any]:
    return {**sent_to("BASIC"), "Metrics/ConfigurationValues": text}


WITHOUT_PROXY = {"Proxy": REMOVED, "Cluster/.DependsOn": ["Chart", "Cni", "PodIdentity"]}
ALONE = {
    "Operator/AddonVersion": "v1.2.0-eksbuild.1",
    "Operator/PodIdentityAssociations": INLINE,
    "Operator/.DependsOn": ["Cluster", "Certificates", "PodIdentity"],
    "Identity": REMOVED,
}
"""The operator with its identity in the add-on."""


def tainted(key: str) -> dict[str, Any]:
    """Nodes of EKS that keep pods out."""
    taints = [{"Key": key, "Value": "true", "Effect": "NO_SCHEDULE"}]
    return {**NODES, "Properties": {**NODES["Properties"], "Taints": taints}}


TAINTED_FOR_ADDONS = {"Dns": addon("coredns", "Nodes"), "Nodes": tainted("CriticalAddonsOnly")}

BARE = edited(eks(), {"Control/BootstrapSelfManagedAddons": False, "Nodes": NODES})
"""A control plane without EKS's own add-ons, and nodes that await none."""

CASES = [
    Case(
        "HP-ADD-028",
        eks(),
        {**sent_to("BASIC"), "Metrics/ConfigurationValues": {"Fn::Sub": WHOLE % "SOME"}},
        {**sent_to("BASIC"), "Metrics/ConfigurationValues": {"Fn::Sub": WHOLE % "ADVANCED"}},
    ),
    Case("HP-ADD-009", eks(), {"Cni/AddonVersion": "v1.18.1-eksbuild.1"}, {"Cni/AddonVersion": "v1.18.3-eksbuild.1"}),
    Case("HP-ADD-009", eks(), {"Proxy/AddonVersion": "v1.32.6-eksbuild.1"}, {"Proxy/AddonVersion": "v1.33.0-eksbuild.1"}),
    Case("HP-ADD-009", eks(), {"Cni/AddonVersion": "1.20.1"}, {"Cni/AddonVersion": "v1.20.1-eksbuild.3"}),
    Case("HP-ADD-027", eks(), {"More": addon("aws-fsx-csi-drivers")}, {"More": addon("datadog_operator")}),
    Case("HP-ADD-027", eks(), {"More": addon("amazon-sagemaker-governance", "Cluster")}, {"More": addon(GOVERNANCE, "Cluster")}),
    Case("HP-ADD-009", eks(), {"Dns": addon("coredns", AddonVersion="v1.14.3-eksbuild.3")}, {"Dns": DNS}),
    Case("HP-ADD-009", eks(), {"Dns": addon("coredns", AddonVersion="v1.9.3-eksbuild.15")}, {"Dns": DNS}),
    Case(
        "HP-ADD-009",
        eks(),
        {"Dns": addon("coredns", AddonVersion="v1.8.7-eksbuild.10")},
        {"Dns": addon("coredns", AddonVersion="v1.11.4-eksbuild.22")},
    ),
    Case("HP-ADD-027", eks(), {"More": addon("amazon-vpc-cni")}, {"More": addon("my_amazon-vpc-cni")}),
    Case("HP-ADD-027", eks(), {"More": addon("COREDNS")}, {"More": addon("coredns")}),
    Case(
        "HP-ADD-028",
        eks(),
        {"Dns": addon("coredns", ConfigurationValues='{"replicaCount": "3"}')},
        {"Dns": addon("coredns", ConfigurationValues='{"replicaCount": 3}')},
    ),
    Case(
        "HP-ADD-028",
        eks(),
        {"More": addon("metrics-server", ConfigurationValues='{"resources": {"limits": {"memory": "1GB"}}}')},
        {"More": addon("metrics-server", ConfigurationValues='{"resources": {"limits": {"memory": "1Gi"}}}')},
    ),
    Case(
        "HP-ADD-028",
        eks(),
        {"Dns": addon("coredns", ConfigurationValues=OPEN)},
        {"Dns": addon("coredns", ConfigurationValues=CLOSED)},
    ),
    Case("HP-ADD-038", eks(), {"More": files("efs-csi-controller")}, {"More": files("efs-csi-controller-sa")}),
    Case("HP-ADD-038", eks(), {"More": watched("amazon-cloudwatch")}, {"More": watched("cloudwatch-agent")}),
    Case("HP-ADD-027", eks(), {"More": addon("aws-vpc-cni")}, {"More": addon("my_vpc-cni-x")}),
    Case("HP-ROL-001", WITH_OPERATOR, {ASSUMED: trust(*ACTIONS, by=OTHER)}, {ASSUMED: trust(*ACTIONS, by=THIS)}),
    Case(
        "HP-ROL-001", NAMED, {ASSUMED: trust(*ACTIONS, by=OTHER)}, {ASSUMED: trust(*ACTIONS, by=OTHER.replace("other", "training"))}
    ),
    Case(
        "HP-ADD-035",
        WITH_OPERATOR,
        {"Operator/NamespaceConfig": {"Namespace": "own"}},
        {"Cni/NamespaceConfig": {"Namespace": "own"}},
    ),
    Case("HP-ADD-036", eks(), {"Control/BootstrapSelfManagedAddons": False, **WITHOUT_PROXY}, WITHOUT_PROXY),
    Case("HP-ADD-039", BARE, {"Cni/.DependsOn": "Nodes"}, {"Nodes/.DependsOn": ["Cni", "Proxy"]}),
    Case(
        "HP-ADD-039", BARE, {"Proxy/.DependsOn": "Nodes"}, {"Control/BootstrapSelfManagedAddons": True, "Cni/.DependsOn": "Nodes"}
    ),
    Case("HP-ADD-028", eks(), sent_to("FULL"), sent_to("ADVANCED")),
    Case("HP-ADD-028", eks(), sent_to("BASIC", endpoint=""), sent_to("BASIC")),
    Case("HP-ADD-028", eks(), in_yaml("logs: {enabled: true}"), in_yaml("logging: {enabled: true}")),
    Case(
        "HP-ADD-029",
        edited(WITH_OPERATOR, {"Governance": addon(GOVERNANCE, "Cluster")}),
        {"Governance/AddonVersion": "v1.2.2-eksbuild.1"},
        {"Governance/AddonVersion": "v1.3.0-eksbuild.1"},
    ),
    Case("HP-ADD-030", WITH_OPERATOR, {"Identity": REMOVED, "Operator/.DependsOn/3": "Cluster"}, {}),
    Case(
        "HP-ADD-030",
        eks(),
        {"Ebs": addon("aws-ebs-csi-driver", "Cluster")},
        {"Ebs": addon("aws-ebs-csi-driver", "Cluster", ServiceAccountRoleArn="arn:aws:iam::123456789012:role/ebs")},
    ),
    Case("HP-ADD-031", WITH_OPERATOR, {"Identity/Namespace": "kube-system"}, {}),
    Case("HP-ADD-031", WITH_OPERATOR, {"Identity/ServiceAccount": "operator"}, {}),
    Case("HP-PERM-002", WITH_VOLUMES, NO_EXTRAS, {}),
    Case("HP-PERM-002", WITH_VOLUMES, {"DriverRole/Policies": policies(ATTACHING)}, {"DriverRole/Policies": REMOVED, **MANAGED}),
    Case("HP-PERM-002", WITH_VOLUMES, {**INLINE_DRIVER, **NO_EXTRAS}, INLINE_DRIVER),
    Case("HP-PERM-002", WITH_VOLUMES, {**BY_ACCOUNT, **NO_EXTRAS}, BY_ACCOUNT),
    Case("HP-PERM-002", WITH_VOLUMES, NO_EXTRAS, {**NO_EXTRAS, "Identity/RoleArn": "arn:aws:iam::123456789012:role/driver"}),
    Case(
        "HP-ADD-023",
        WITH_OPERATOR,
        {"Certificates": REMOVED, "Operator/.DependsOn/1": "Cluster"},
        {"Certificates": HELM, "Operator/.DependsOn/1": "Certificates"},
    ),
    Case(
        "HP-ADD-023",
        WITH_OPERATOR,
        {"Certificates": applied("other"), "Operator/.DependsOn/1": "Certificates"},
        {"Certificates": applied("cert-manager"), "Operator/.DependsOn/1": "Certificates"},
    ),
    Case(
        "HP-ADD-020",
        eks(),
        {"Governance": addon("amazon-sagemaker-hyperpod-taskgovernance")},
        {"Governance": addon("amazon-sagemaker-hyperpod-taskgovernance", "Nodes"), "Nodes": NODES},
    ),
    Case(
        "HP-ADD-021",
        eks(),
        {"Dns": addon("coredns"), "Cluster/.DependsOn": ["Chart", "Dns"]},
        {"Dns": addon("coredns"), "Cluster/.DependsOn": ["Chart", "Cni"]},
    ),
    Case("HP-ADD-021", eks(), {"Certificates": addon("cert-manager"), "Cluster/.DependsOn": ["Chart", "Certificates"]}, {}),
    Case("HP-ADD-022", WITH_OPERATOR, {"Operator/.DependsOn": ["Cluster", "PodIdentity", "Identity"]}, {}),
    Case("HP-ADD-020", eks(), {"Dns": addon("coredns"), "Nodes": NODES}, {"Dns": addon("coredns", "Nodes"), "Nodes": NODES}),
    Case("HP-ADD-020", eks(), {"Dns": addon("coredns", "Nodes"), "Nodes": tainted("team")}, TAINTED_FOR_ADDONS),
    Case(
        "HP-ADD-020",
        eks(),
        {"Dns": addon("coredns", "Nodes", ConfigurationValues='{"replicaCount": 3}'), "Nodes": tainted("team")},
        {"Dns": addon("coredns", "Nodes", ConfigurationValues='{"replicaCount": 3}'), "Nodes": NODES},
    ),
    Case("HP-ADD-023", WITH_OPERATOR, {"PodIdentity": REMOVED}, {}),
    Case("HP-ROL-001", WITH_OPERATOR, {"PodRole/AssumeRolePolicyDocument": trust("sts:AssumeRole")}, {}),
    Case(
        "HP-ADD-025",
        WITH_OPERATOR,
        {"Operator/AddonVersion": "v1.2.1-eksbuild.1", "Operator/PodIdentityAssociations": INLINE},
        ALONE,
    ),
    Case("HP-ADD-037", WITH_OPERATOR, {**ALONE, "Identity": WITH_OPERATOR["Resources"]["Identity"]}, ALONE),
    Case("HP-ADD-026", WITH_OPERATOR, {"Operator/.DependsOn": ["Cluster", "Certificates", "PodIdentity"]}, {}),
]


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.rule)
def test_rule(case: Case) -> None:
    case.check()


@pytest.mark.parametrize("namespace", ["default", "kube-public"])
def test_an_identity_in_another_namespace_is_one_mistake(namespace: str) -> None:
    """It is not that of the add-on: whether its role may do what the add-on does says nothing."""
    template = edited(WITH_VOLUMES, {"Identity/Namespace": namespace, **NO_EXTRAS})
    assert [one.rule for one in findings(template)] == ["HP-ADD-031"]
