"""The store of the official control plane. Every user of the machine reaches loopback, so it answers only its own API server."""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

from hyperpod_constructs.local.kubernetes import certificates


class Store(NamedTuple):
    """The options of etcd, and those with which the API server reaches it."""

    options: list[str]
    client_options: list[str]


def store(directory: Path, name: str, *, port: int, peer_port: int) -> Store:
    """Write the certificates of a store on 127.0.0.1, and answer the options for both ends.

    Clients and peers speak TLS and show a certificate of the store's own authority; without one they are refused before they ask.

    Source: https://etcd.io/docs/v3.6/op-guide/security/
    """
    files = certificates.make_for_store(directory, name)
    url, peer = f"https://127.0.0.1:{port}", f"https://127.0.0.1:{peer_port}"
    options = {
        "data-dir": str(directory / "etcd"),
        "unsafe-no-fsync": "true",
        "initial-cluster": f"default={peer}",
        "listen-client-urls": url,
        "advertise-client-urls": url,
        "listen-peer-urls": peer,
        "initial-advertise-peer-urls": peer,
    }
    for prefix in ("", "peer-"):
        options |= {
            f"{prefix}cert-file": str(files.member.certificate),
            f"{prefix}key-file": str(files.member.key),
            f"{prefix}trusted-ca-file": str(files.authority),
            f"{prefix}client-cert-auth": "true",
        }
    client_options = {
        "etcd-servers": url,
        "etcd-cafile": str(files.authority),
        "etcd-certfile": str(files.client.certificate),
        "etcd-keyfile": str(files.client.key),
    }
    return Store(_rendered(options), _rendered(client_options))


def _rendered(options: dict[str, str]) -> list[str]:
    return [f"--{name}={value}" for name, value in options.items()]
