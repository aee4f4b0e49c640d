"""What CDK writes in place of a value that it has to look up first: unknown, though it looks like a value.

An app whose look-ups have no answer yet (`Vpc.from_lookup`, `StringParameter.value_from_lookup`) is synthesized with these, its
assembly lists them under `missing`, the CDK CLI looks them up, and synthesizes again. Nothing may be judged by them, in constructs
or in templates. Taken from the `dummyValue` of each look-up in aws-cdk-lib 2.275
(https://docs.aws.amazon.com/cdk/v2/guide/context.html). Importing this module starts no jsii.
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
    r"|sg-(?:12345678|123456789012)"  # SecurityGroup, and that of a load balancer
    r"|ami-1234"  # MachineImage
    r"|pl-xxxxxxxx"  # PrefixList
    r"|1234abcd-12ab-34cd-56ef-1234567890ab"  # Key
    r"|Z3DZXE0EXAMPLE|my-load-balancer-123456789012\.us-west-2\.elb\.amazonaws\.com"  # a load balancer
    r")(?![\w-]))"
)
_WHOLE = frozenset({"DUMMY", "TESTADDRESS", "TESTARN", "TESTID", "TESTREADERADDRESS"})
"""HostedZone, and databases: short words, which in a longer text can be anybody's."""
_ANYWHERE = ("/DUMMY_ARN", "/my-load-balancer/50dc6c495c0c9188")
"""In an ARN of which nothing else is known either: of a role, a repository, a load balancer and its listeners."""
_MARKS = ("1234", "ummy", "DUMMY", "1.2.3.4", "TEST", "67890", "57890", "xxxxxxxx", "EXAMPLE", "50dc6c495c0c9188")
"""One of these is in each of them: most texts hold none, and need no pattern."""


def known_parts(text: str) -> Sequence[str] | None:
    """What of a text is known: the pieces around each placeholder; None if there is none, so that all of it is."""
    if not any(mark in text for mark in _MARKS):
        return None
    if text in _WHOLE or any(part in text for part in _ANYWHERE):
        return ("", "")
    pieces = _PARTS.split(text)
    return None if len(pieces) == 1 else pieces


def holds_placeholder(text: str) -> bool:
    """Whether a text is the placeholder of a look-up, or has one in it."""
    return known_parts(text) is not None
