"""Placeholders of CDK's look-ups: they look like values, but the values are unknown.

CDK synthesizes an app with them while a look-up (`Vpc.from_lookup`, `StringParameter.value_from_lookup`) has no answer. The
assembly lists the look-ups under `missing`; the CDK CLI answers them and synthesizes again. Neither constructs nor rules may judge
a placeholder. The list is the `dummyValue` of each look-up in aws-cdk-lib 2.275. Importing this module does not start jsii.

Source: https://docs.aws.amazon.com/cdk/v2/guide/context.html
"""

from __future__ import annotations

import re
from collections.abc import Sequence

_PARTS = re.compile(
    r"(?<![\w.-])(?:"
    r"dummy-value-for-[\w./-]*"  # StringParameter
    r"|(?:"
    r"dummy1[abc]"  # zones of a stack, and of the subnets of a VPC
    r"|1\.2\.3\.4/5|vpc-12345|[ps]-(?:12345|67890)|rtb-(?:12345|57890|67890)[ps]"  # Vpc
    r"|sg-(?:12345678|123456789012)"  # SecurityGroup, also of a load balancer
    r"|ami-1234"  # MachineImage
    r"|pl-xxxxxxxx"  # PrefixList
    r"|1234abcd-12ab-34cd-56ef-1234567890ab"  # Key
    r"|Z3DZXE0EXAMPLE|my-load-balancer-123456789012\.us-west-2\.elb\.amazonaws\.com"  # a load balancer
    r")(?![\w-]))"
)
_WHOLE = frozenset({"DUMMY", "TESTADDRESS", "TESTARN", "TESTID", "TESTREADERADDRESS"})
"""HostedZone and databases: short words, placeholders only as a whole text."""
_ANYWHERE = ("/DUMMY_ARN", "/my-load-balancer/50dc6c495c0c9188")
"""Parts of an ARN that make all of it unknown: of a role, a repository, a load balancer and its listeners."""
_MARKS = ("1234", "ummy", "DUMMY", "1.2.3.4", "TEST", "67890", "57890", "xxxxxxxx", "EXAMPLE", "50dc6c495c0c9188")
"""Each placeholder holds one of these. Most texts hold none, and so need no pattern."""


def known_parts(text: str) -> Sequence[str] | None:
    """The known pieces of a text, around its placeholders; `None` for a text without a placeholder."""
    if not any(mark in text for mark in _MARKS):
        return None
    if text in _WHOLE or any(part in text for part in _ANYWHERE):
        return ("", "")
    pieces = _PARTS.split(text)
    return None if len(pieces) == 1 else pieces


def holds_placeholder(text: str) -> bool:
    """Whether a text is or contains a placeholder."""
    return known_parts(text) is not None
