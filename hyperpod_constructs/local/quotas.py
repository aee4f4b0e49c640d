"""The embedded Service Quotas: the quotas that bear on clusters and their file systems.

The codes are made up, because AWS documents only some.
"""

from __future__ import annotations

import time
import zlib
from collections.abc import Callable, Mapping
from typing import Any

from hyperpod_constructs.local.aws_service import AwsError, Caller
from hyperpod_constructs.local.clients import partition
from hyperpod_constructs.local.faults import Faults
from hyperpod_constructs.local.paging import page
from hyperpod_constructs.local.quota_names import LARGE, names
from hyperpod_constructs.local.timed_service import Operation, Parameters, TimedService

_TITLES = {"sagemaker": "Amazon SageMaker", "vpc": "Amazon Virtual Private Cloud (Amazon VPC)", "fsx": "Amazon FSx"}
_PAGE = 100


class ServiceQuotas(TimedService):
    """AWS Service Quotas, as far as these quotas go. Every account and region has the same values."""

    name = "service-quotas"

    def __init__(self, faults: Faults, clock: Callable[[], float] = time.time, offered: Mapping[str, str] | None = None) -> None:
        """Start the service.

        :param offered: the services of the quotas by their names; all that the embedded AWS knows unless given.
        """
        self._names = names() if offered is None else offered
        operations: dict[str, Operation] = {
            "GetAWSDefaultServiceQuota": lambda p, c, now: self._get(p, c, default=True),
            "GetServiceQuota": lambda p, c, now: self._get(p, c, default=False),
            "ListAWSDefaultServiceQuotas": lambda p, c, now: self._list(p, c, default=True),
            "ListServiceQuotas": lambda p, c, now: self._list(p, c, default=False),
        }
        super().__init__(faults, clock, operations)

    def reset(self) -> None:
        """Nothing to forget: the values are faults."""

    def _advance(self, now: float) -> None:
        """Nothing changes with time."""

    def _list(self, parameters: Parameters, caller: Caller, *, default: bool) -> dict[str, Any]:
        service = _service(parameters)
        code = parameters.get("QuotaCode")
        chosen = [name for name, of in self._names.items() if of == service and code in (None, _code(name))]
        items, following = page(chosen, parameters, _PAGE, "InvalidPaginationTokenException")
        return {"Quotas": [self._quota(name, caller, default=default) for name in items], **following}

    def _get(self, parameters: Parameters, caller: Caller, *, default: bool) -> dict[str, Any]:
        service = _service(parameters)
        for name, of in self._names.items():
            if of == service and _code(name) == parameters["QuotaCode"]:
                return {"Quota": self._quota(name, caller, default=default)}
        raise AwsError("NoSuchResourceException", f"service {service} has no quota {parameters['QuotaCode']}", 404)

    def _quota(self, name: str, caller: Caller, *, default: bool) -> dict[str, Any]:
        service, code = self._names[name], _code(name)
        place = f"arn:{partition(caller.region)}:servicequotas:{caller.region}:{caller.account}"
        return {
            "ServiceCode": service,
            "ServiceName": _TITLES[service],
            "QuotaArn": f"{place}:{service}/{code}",
            "QuotaCode": code,
            "QuotaName": name,
            "Value": float(LARGE if default else self.faults.quota(name)),
            "Unit": "None",
            "Adjustable": True,
            "GlobalQuota": False,
            "QuotaAppliedAtLevel": "ACCOUNT",
        }


def _service(parameters: Parameters) -> str:
    service: str = parameters["ServiceCode"]
    if service not in _TITLES:
        raise AwsError(
            "NoSuchResourceException", f"the embedded AWS knows no quotas of {service}; it has {', '.join(_TITLES)}", 404
        )
    return service


def _code(name: str) -> str:
    return f"L-{zlib.crc32(name.encode()):08X}"
