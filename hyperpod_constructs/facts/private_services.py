"""The ports that a security group or a network ACL may open to everybody, and for whom others (as of 2026-11-27).

Sources: https://docs.aws.amazon.com/securityhub/latest/userguide/ec2-controls.html (EC2.18, EC2.21) and
https://docs.aws.amazon.com/opensearch-service/latest/developerguide/vpc.html
"""

from __future__ import annotations

EVERYBODY = ("0.0.0.0/0", "::/0")
"""The blocks of all addresses."""

OPEN_TO_ALL = (80, 443)
"""The ports that a group may open to everybody: EC2.18 passes them by default."""

ADMINISTRATION = (22, 3389)
"""The ports of SSH and of Remote Desktop."""

DATA_BY_WEB = ("AWS::OpenSearchService::Domain",)
"""Types that give their data over a port of the web: their groups open no port to everybody."""

PUBLIC_SERVICES = (
    "AWS::EC2::ClientVpnEndpoint",
    "AWS::EC2::VerifiedAccessEndpoint",
    "AWS::ElasticLoadBalancing::LoadBalancer",
    "AWS::ElasticLoadBalancingV2::LoadBalancer",
    "AWS::Transfer::Server",
)
"""Types that may take connections of everybody on any port."""
