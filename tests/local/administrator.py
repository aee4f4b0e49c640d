"""Permissions of the embedded AWS's owner, as whom commands act without other credentials."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from typing import Any

from hyperpod_constructs.local.application import ADMINISTRATOR
from hyperpod_constructs.local.server import LocalAws

_ALL = "arn:aws:iam::aws:policy/AdministratorAccess"
_NAME = "alone"

Allow = Callable[[Sequence[dict[str, Any]]], None]


@contextmanager
def without_permissions(aws: LocalAws) -> Iterator[Allow]:
    """Take all permissions from the owner for a while; yields what gives exactly some statements in their place."""
    iam = replace(aws, access_key_id=aws.account).client("iam")

    def allow(statements: Sequence[dict[str, Any]]) -> None:
        document = json.dumps({"Version": "2012-10-17", "Statement": list(statements)})
        iam.put_user_policy(UserName=ADMINISTRATOR, PolicyName=_NAME, PolicyDocument=document)

    iam.detach_user_policy(UserName=ADMINISTRATOR, PolicyArn=_ALL)
    try:
        yield allow
    finally:
        for name in iam.list_user_policies(UserName=ADMINISTRATOR)["PolicyNames"]:
            iam.delete_user_policy(UserName=ADMINISTRATOR, PolicyName=name)
        iam.attach_user_policy(UserName=ADMINISTRATOR, PolicyArn=_ALL)
