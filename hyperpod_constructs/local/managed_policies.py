"""AWS's managed policies: their names and documents as moto ships them, so that a misspelt one is refused."""

from __future__ import annotations

import json
from functools import lru_cache


@lru_cache(maxsize=1)
def documents() -> dict[str, str]:
    """The policy documents by the path and name that follow `:policy/` in an ARN, such as `service-role/AWSLambdaRole`."""
    from moto.iam.aws_managed_policies import aws_managed_policies_data

    return {
        f"{policy['Path'].removeprefix('/')}{name}": json.dumps(policy["Document"])
        for name, policy in json.loads(aws_managed_policies_data).items()
    }
