"""AWS's managed policies: their names and documents as moto ships them, so that a misspelt one is refused."""

from __future__ import annotations

import json
import runpy
from functools import lru_cache
from importlib.util import find_spec
from pathlib import Path


@lru_cache(maxsize=1)
def documents() -> dict[str, str]:
    """The policy documents by the path and name that follow `:policy/` in an ARN, such as `service-role/AWSLambdaRole`.

    moto's file is run on its own: imported, it would load moto, which one thread at a time may do (see `ec2/service.py`).
    """
    spec = find_spec("moto")
    assert spec is not None
    assert spec.origin is not None
    file = Path(spec.origin).parent / "iam" / "aws_managed_policies.py"
    return {
        f"{policy['Path'].removeprefix('/')}{name}": json.dumps(policy["Document"])
        for name, policy in json.loads(runpy.run_path(str(file))["aws_managed_policies_data"]).items()
    }
