"""Addresses that lead to a resource of the templates: their hosts and ports."""

from __future__ import annotations

import pytest

from hyperpod_constructs.analysis.texts.hosts import addresses
from tests.templates.models import by_id, model_of

THINGS = """
    Balancer: {Type: AWS::ElasticLoadBalancingV2::LoadBalancer}, Other: {Type: AWS::ElasticLoadBalancingV2::LoadBalancer},
    Secure: {Type: AWS::ElasticLoadBalancingV2::Listener,
      Properties: {LoadBalancerArn: !Ref Balancer, Port: 8443, Protocol: HTTPS}},
    Plain: {Type: AWS::ElasticLoadBalancingV2::Listener, Properties: {LoadBalancerArn: !Ref Balancer, Port: 80, Protocol: HTTP}},
    Db: {Type: AWS::RDS::DBInstance, Properties: {Engine: mysql}}, Bucket: {Type: AWS::S3::Bucket},"""


def said(text: str) -> list[str]:
    """What is wrong with a variable of a function."""
    user = f"User: {{Type: AWS::Lambda::Function, Properties: {{Environment: {{Variables: {{PLACE: !Sub '{text}'}}}}}}}}"
    model = model_of(f"{{Resources: {{{THINGS} {user}}}}}")
    return [f"{'/'.join(map(str, one.path))}: {one.message}" for one in addresses(by_id(model, "User"))]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("http://${Balancer}:80", "the host of an address is the Ref of Balancer"),
        ("https://${Balancer.CanonicalHostedZoneID}", "the host of an address is CanonicalHostedZoneID of Balancer"),
        ("https://${Balancer.DNSName}", "an address leads to port 443 of Balancer"),
        ("${Balancer.DNSName}:8080", "an address leads to port 8080 of Balancer"),
        ("http://${Balancer.DNSName}:8443/ping", "an address of http leads to Balancer, which speaks HTTPS there"),
        ("mysql://${Db.Endpoint.Address}:5432/jobs", "an address leads to port 5432 of Db"),
        ("s3://${Bucket.Arn}/models", "the host of an address is Arn of Bucket"),
    ],
)
def test_fails_address(text: str, message: str) -> None:
    assert said(text) == [f"Environment/Variables/PLACE: {message}"]


@pytest.mark.parametrize(
    "text",
    [
        "https://${Balancer.DNSName}:8443",
        "http://${Balancer.DNSName}/ping?to=${Db.Endpoint.Address}",
        "http://${Other.DNSName}:9000",
        "${Balancer.DNSName}",
        "https://${Balancer.DNSName}${AWS::StackName}",
        "mysql://${Db.Endpoint.Address}:${Db.Endpoint.Port}/jobs",
        "s3://${Bucket}/models",
        "arn:aws:s3:::${Bucket}",
    ],
)
def test_addresses_that_may_lead_there(text: str) -> None:
    assert said(text) == []
