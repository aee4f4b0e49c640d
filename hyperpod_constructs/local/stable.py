"""CloudFormation providers of resources that take time: a change returns when the resource is stable."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from typing import Any, ClassVar

from botocore.exceptions import ClientError

from hyperpod_constructs.local.aws_service import AwsError, Caller
from hyperpod_constructs.local.clients import Clients
from hyperpod_constructs.local.conversion import parameters
from hyperpod_constructs.local.provider import Provisioned
from hyperpod_constructs.local.waiting import wait

Properties = Mapping[str, Any]


class StableProvider(ABC):
    """Creates and deletes resources of one type; `timeout` is how many seconds each may take."""

    type_name: str
    service: ClassVar[str]
    """botocore's name of the service."""
    status: ClassVar[str]
    """The member of a description with the state."""
    ready: ClassVar[str]
    """The state after a success."""
    busy: ClassVar[tuple[str, ...]]
    """The states that end by themselves."""
    undeletable: ClassVar[tuple[str, ...]]
    """The states in which no deletion is asked for."""
    undeleted: ClassVar[str | None] = None
    """The state after a deletion that failed; none unless a provider names it."""
    missing: ClassVar[str]
    """The code of the error for a resource that does not exist."""

    def __init__(self, clients: Clients, timeout: float) -> None:
        self._clients = clients
        self._timeout = timeout

    def create(self, properties: Properties, logical_id: str, stack: str, caller: Caller) -> Provisioned:
        """Create the resource and wait until it is stable; one that fails is deleted, and the error tells the cause."""
        client = self._client(caller)
        identifier = self._create(client, properties, logical_id, stack)
        described = self._stable(client, identifier)
        if described[self.status] != self.ready:
            self.delete(identifier, properties, caller)
            raise self._failure(described)
        return self._provisioned(described)

    def delete(self, physical_id: str, properties: Properties, caller: Caller) -> None:
        """Delete the resource and wait until it is gone."""
        client, asked = self._client(caller), False

        def gone() -> bool | None:
            nonlocal asked
            try:
                described = self._describe(client, physical_id)
                if asked and described[self.status] == self.undeleted:
                    raise self._failure(described)
                if described[self.status] not in self.undeletable:
                    self._delete(client, physical_id)
                    asked = True
            except ClientError as error:
                code = error.response["Error"]["Code"]
                if code == self.missing:
                    return True
                if code != "ConflictException":
                    raise
            return None

        wait(gone, self._timeout, f"the deletion of {physical_id}")

    def _client(self, caller: Caller) -> Any:
        return self._clients(self.service, caller)

    def _stable(self, client: Any, identifier: str) -> Mapping[str, Any]:
        def described() -> Mapping[str, Any] | None:
            found = self._describe(client, identifier)
            return None if found[self.status] in self.busy else found

        return wait(described, self._timeout, identifier)

    @abstractmethod
    def _create(self, client: Any, properties: Properties, logical_id: str, stack: str) -> str: ...

    @abstractmethod
    def _describe(self, client: Any, identifier: str) -> Any: ...

    @abstractmethod
    def _delete(self, client: Any, identifier: str) -> None: ...

    @abstractmethod
    def _failure(self, described: Mapping[str, Any]) -> AwsError: ...

    @abstractmethod
    def _provisioned(self, described: Mapping[str, Any]) -> Provisioned: ...


def request(client: Any, operation: str, properties: Properties) -> dict[str, Any]:
    """The parameters of an operation that the properties set."""
    return parameters(client.meta.service_model.operation_model(operation).input_shape, properties)
