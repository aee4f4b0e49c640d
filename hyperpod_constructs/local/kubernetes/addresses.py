"""Cluster addresses and node ports of services."""

from __future__ import annotations

from typing import Any

from hyperpod_constructs.local.kubernetes import status
from hyperpod_constructs.local.kubernetes.resources import Key
from hyperpod_constructs.local.kubernetes.store import Store

Object = dict[str, Any]
SERVICES = Key("", "services")
_FIRST_PORT, _LAST_PORT = 30_000, 32_767


class Addresses:
    """Hands out what is free of 10.100.0.0/16 and of ports 30000 to 32767."""

    def __init__(self) -> None:
        self._next = 10

    def assign(self, key: Key, obj: Object, store: Store, *, dry_run: bool) -> Object:
        """The service with an address, and with node ports where its type has them."""
        spec = obj.get("spec")
        if key != SERVICES or not isinstance(spec, dict) or spec.get("type") == "ExternalName":
            return obj
        spec = dict(spec)
        if not spec.get("clusterIP"):
            spec["clusterIP"] = f"10.100.{self._next // 256 % 256}.{self._next % 256}"
            self._next += not dry_run
        spec.setdefault("clusterIPs", [spec["clusterIP"]])
        if spec.get("type") in ("NodePort", "LoadBalancer"):
            spec["ports"] = self._ports(obj, spec.get("ports") or [], store)
        return {**obj, "spec": spec}

    @staticmethod
    def carry(key: Key, before: Object, obj: Object) -> None:
        """Keep what the server gave a service and its client left out."""
        old, new = before.get("spec"), obj.get("spec")
        if key != SERVICES or not isinstance(old, dict) or not isinstance(new, dict) or new.get("type") == "ExternalName":
            return
        for name in ("clusterIP", "clusterIPs"):
            if not new.get(name) and name in old:
                new[name] = old[name]
        given = {(port.get("port"), port.get("protocol", "TCP")): port.get("nodePort") for port in old.get("ports") or ()}
        for port in new.get("ports") or () if new.get("type") in ("NodePort", "LoadBalancer") else ():
            if number := given.get((port.get("port"), port.get("protocol", "TCP"))):
                port.setdefault("nodePort", number)

    def _ports(self, obj: Object, ports: list[Object], store: Store) -> list[Object]:
        others = (one for one in store.select(SERVICES) if one["metadata"]["uid"] != obj["metadata"].get("uid"))
        taken = {port.get("nodePort") for one in others for port in one["spec"].get("ports") or ()}
        found = []
        for index, port in enumerate(ports):
            if port.get("nodePort") in taken - {None}:
                cause = status.invalid_value(
                    f"spec.ports[{index}].nodePort", port["nodePort"], "provided port is already allocated"
                )
                raise status.invalid(status.Named("", "services", "Service", obj["metadata"]["name"]), [cause])
            number = port.get("nodePort") or next(one for one in range(_FIRST_PORT, _LAST_PORT + 1) if one not in taken)
            taken.add(number)
            found.append({**port, "nodePort": number})
        return found
