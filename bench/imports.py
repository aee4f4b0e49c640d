"""The cost of importing the package beside `import aws_cdk`, and without jsii."""

from __future__ import annotations

import sys

from bench import children
from bench.figures import Cost, Pairs, interleave

_BASE = "import aws_cdk"
_WITH_PACKAGE = "import aws_cdk, hyperpod_constructs"
_WITHOUT_JSII = (
    "import sys\n"
    "from hyperpod_constructs import ClusterInstanceType\n"
    "ClusterInstanceType.of('ml.p5.48xlarge')\n"
    "assert 'jsii' not in sys.modules, 'jsii was imported'"
)


def added_to_aws_cdk(pairs: int) -> Pairs:
    """Costs of a process with aws_cdk and the package, and of a process with aws_cdk alone."""
    return _compare(_WITH_PACKAGE, _BASE, pairs)


def without_jsii(pairs: int) -> Pairs:
    """Costs of a process that looks up an instance type, and of a process that imports aws_cdk.

    :raises ChildError: for a look-up that imports jsii.
    """
    return _compare(_WITHOUT_JSII, _BASE, pairs)


def _compare(subject: str, base: str, pairs: int) -> Pairs:
    variables = children.environment()
    _run(subject, variables)
    _run(base, variables)
    return interleave(lambda: _run(subject, variables), lambda: _run(base, variables), pairs)


def _run(code: str, variables: dict[str, str]) -> Cost:
    return children.timed([sys.executable, "-c", code], variables)
