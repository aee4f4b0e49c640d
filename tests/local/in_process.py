"""Clients of the services under test without a server, so that providers can be tested with them."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from types import SimpleNamespace
from typing import Any

from botocore import xform_name
from botocore.exceptions import ClientError
from botocore.model import ServiceModel

from hyperpod_constructs.local.aws_service import AwsError, Caller, Service
from hyperpod_constructs.local.eks.service import Eks
from hyperpod_constructs.local.fsx.service import Fsx
from hyperpod_constructs.local.hyperpod.service import HyperPod
from tests.local.eks.fakes import FakeAccess, FakeControlPlanes
from tests.local.hyperpod_requests import checked, model
from tests.local.moto_cloud import Cloud


class InProcessClient:
    """A client with the methods of boto3's; it records the requests."""

    def __init__(self, service: Service) -> None:
        self.meta = SimpleNamespace(service_model=model(service.name))
        self.requests: list[tuple[str, dict[str, Any]]] = []
        self._call = checked(service)

    def __getattr__(self, name: str) -> Callable[..., dict[str, Any]]:
        operation = _operations(self.meta.service_model)[name]

        def call(**parameters: Any) -> dict[str, Any]:
            self.requests.append((operation, parameters))
            try:
                return self._call(operation, **parameters)
            except AwsError as error:
                raise ClientError({"Error": {"Code": error.code, "Message": error.message}}, operation) from None

        return call


@cache
def _operations(model: ServiceModel) -> dict[str, str]:
    """The operations of a service by the names of a client's methods."""
    return {xform_name(name): name for name in model.operation_names}


class InProcess:
    """A factory of clients: ours for sagemaker, fsx and eks, moto's for the others. Nothing takes time."""

    def __init__(self, cloud: Cloud) -> None:
        cloud.faults.slow_creation = 0.0
        self._cloud = cloud
        self.sagemaker = InProcessClient(HyperPod(cloud.faults, cloud.client))
        self.fsx = InProcessClient(Fsx(cloud.faults, cloud.client))
        self.control_planes = FakeControlPlanes()
        self.access = FakeAccess()
        self.eks = InProcessClient(Eks(cloud.faults, cloud.client, self.control_planes, self.access))

    def __call__(self, service: str, caller: Caller) -> Any:
        ours = {"sagemaker": self.sagemaker, "fsx": self.fsx, "eks": self.eks}
        return ours[service] if service in ours else self._cloud.client(service, caller)
