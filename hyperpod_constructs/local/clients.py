"""How the services and the resource providers reach their neighbours: boto3 clients at the caller's endpoint."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import botocore.session
from botocore.config import Config
from botocore.exceptions import ClientError

from hyperpod_constructs.facts import regions
from hyperpod_constructs.local.aws_service import Caller
from hyperpod_constructs.local.models import loader

Clients = Callable[[str, Caller], Any]
"""A factory of boto3 clients of a service, by botocore's name, in the caller's account and region, at the caller's endpoint."""


class BotoClients:
    """Clients of the embedded AWS, one per service and caller, made once and shared between threads.

    The access key id is the account, which with the owner's `secret` is the account's root user. `models` is a botocore data folder
    with service models that are newer than the installed botocore's; these serve when it is not given.
    """

    def __init__(self, secret: str, models: Path | None = None) -> None:
        self._secret = secret
        self._session = botocore.session.Session()
        self._session.register_component("data_loader", loader(models, installed=True))
        self._made: dict[tuple[str, Caller], Any] = {}
        self._lock = threading.Lock()

    def __call__(self, service: str, caller: Caller) -> Any:
        """The client of a service in the caller's account and region, at the caller's endpoint."""
        with self._lock:
            client = self._made.get((service, caller))
            if client is None:
                client = self._made[service, caller] = self._session.create_client(
                    service,
                    region_name=caller.region,
                    endpoint_url=caller.endpoint,
                    aws_access_key_id=caller.account,
                    aws_secret_access_key=self._secret,
                    config=Config(retries={"mode": "standard", "total_max_attempts": 5}, max_pool_connections=50),
                )
            return client


@contextmanager
def ignoring(*codes: str) -> Iterator[None]:
    """Take an error whose code ends with one of these for a success: what is to be deleted is gone already."""
    try:
        yield
    except ClientError as error:
        if not error.response["Error"]["Code"].endswith(codes):
            raise


def partition(region: str) -> str:
    """The partition of a region, as ARNs spell it; `aws` for a region of no known partition."""
    found = regions.partition(region)
    return "aws" if found is None else found.name


def dns_suffix(region: str) -> str:
    """The suffix of the host names that AWS gives out in a region."""
    found = regions.partition(region)
    return "amazonaws.com" if found is None else found.dns_suffix
