"""The ways of scrapers to ports of pods on nodes."""

from __future__ import annotations

import pytest

from hyperpod_constructs.analysis.scraped_ports import scraped_ports
from tests.templates.models import model_of

TEMPLATE = """
Resources:
  Vpc: {Type: AWS::EC2::VPC, Properties: {CidrBlock: 10.0.0.0/16}}
  Subnet: {Type: AWS::EC2::Subnet, Properties: {VpcId: !Ref Vpc, CidrBlock: 10.0.0.0/24}}
  Nodes:
    Type: AWS::EC2::SecurityGroup
    Properties:
      VpcId: !Ref Vpc
      SecurityGroupIngress: [{IpProtocol: tcp, FromPort: 9100, ToPort: 9400, SourceSecurityGroupId: !Ref Collectors}]
  Collectors:
    Type: AWS::EC2::SecurityGroup
    Properties: {VpcId: !Ref Vpc, SecurityGroupEgress: [{IpProtocol: tcp, FromPort: 443, ToPort: 9500, CidrIp: 10.0.0.0/16}]}
  Control:
    Type: AWS::EKS::Cluster
    Properties: {ResourcesVpcConfig: {SubnetIds: [!Ref Subnet], SecurityGroupIds: [!Ref Nodes]}}
  Cluster:
    Type: AWS::SageMaker::Cluster
    Properties:
      Orchestrator: {Eks: {ClusterArn: !GetAtt Control.Arn}}
      VpcConfig: {SecurityGroupIds: [!Ref Nodes], Subnets: [!Ref Subnet]}
      InstanceGroups: [{InstanceGroupName: gpu, InstanceType: ml.p5.48xlarge, InstanceCount: 1}]
  Scraper:
    Type: AWS::APS::Scraper
    Properties:
      Source: {EksConfiguration: {ClusterArn: !GetAtt Control.Arn, SubnetIds: [!Ref Subnet], SecurityGroupIds: [!Ref Collectors]}}
      ScrapeConfiguration:
        ConfigurationBlob:
          Fn::Base64: |
            scrape_configs:
              - job_name: a
                relabel_configs:
                  - source_labels: [__meta_kubernetes_pod_container_port_number]
                    action: keep
                    regex: '9100|9400'
"""


@pytest.mark.parametrize(
    ("old", "new", "ports"),
    [
        ("", "", []),
        ("ToPort: 9400", "ToPort: 9100", ["port 9400 of gpu"]),
        ("FromPort: 9100", "FromPort: 9400", ["port 9100 of gpu"]),
        ("ToPort: 9500", "ToPort: 9399", ["port 9400 of gpu"]),
        ("FromPort: 9100, ToPort: 9400", "FromPort: 1, ToPort: 2", []),
        ("'9100|9400'", "'9100|9.*'", []),
        ("action: keep\n                    regex: '9100|9400'", "action: drop\n                    regex: '9100|9401'", []),
        ("ToPort: 9400, SourceSecurityGroupId: !Ref Collectors", "ToPort: 9100, SourceSecurityGroupId: !Ref AWS::StackName", []),
    ],
)
def test_a_port_that_nodes_close_beside_one_that_they_open(old: str, new: str, ports: list[str]) -> None:
    text = TEMPLATE.replace(old, new) if old else TEMPLATE
    assert text != TEMPLATE or not old
    assert [one.target for one in scraped_ports(model_of(text))] == ports
