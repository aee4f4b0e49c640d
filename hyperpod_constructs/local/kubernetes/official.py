"""The official server binaries as processes on loopback: etcd, the API server, the controller manager and the scheduler."""

from __future__ import annotations

import json
import secrets
import shutil
import socket
import subprocess
import time
from collections.abc import Sequence
from pathlib import Path

from hyperpod_constructs.local import private
from hyperpod_constructs.local.kubernetes import certificates, etcd
from hyperpod_constructs.local.kubernetes.client import HttpsApi, KubernetesError
from hyperpod_constructs.local.kubernetes.interface import BINARIES, ControlPlaneError

SERVER, CONTROLLERS, SCHEDULER, ETCD = "kube-apiserver", "kube-controller-manager", "kube-scheduler", "etcd"
_READY_SECONDS = 90.0
_PAUSE_SECONDS = 0.1


class OfficialBinaries:
    """A control plane of official binaries, which runs."""

    kind = "official binaries"

    def __init__(self, processes: Sequence[subprocess.Popen[bytes]], endpoint: str, authority: bytes, api: HttpsApi) -> None:
        self._processes = processes
        self.endpoint = endpoint
        self.certificate_authority = authority
        self.api = api

    def stop(self) -> None:
        """End all at once: nothing of it is kept. A second call does nothing."""
        self.api.close()
        _end(self._processes)


def start_official(binaries: Path, *, name: str, token_webhook: str, directory: Path) -> OfficialBinaries:
    """Start etcd, the API server, and when that is ready the controller manager and the scheduler.

    :raises ControlPlaneError: for a binary that is missing, and for one that does not start.
    """
    programs = _programs(binaries)
    private.make_directory(directory)
    files, token = certificates.make(directory, name), secrets.token_urlsafe(32)
    port, etcd_port, peer_port = _free_ports(3)
    endpoint = f"https://127.0.0.1:{port}"
    kept = etcd.store(directory, name, port=etcd_port, peer_port=peer_port)
    kubeconfig = _write(directory / "administrator.kubeconfig", _kubeconfig(endpoint, files.authority, token, directory))
    tokens = _write(directory / "tokens.csv", f'{token},hyperpod:administrator,administrator,"system:masters"\n')
    processes: list[subprocess.Popen[bytes]] = []
    try:
        processes.append(_start(programs[ETCD], kept.options, directory))
        options = _server_options(files, port, tokens, token_webhook, directory)
        processes.append(_start(programs[SERVER], [*options, *kept.client_options], directory))
        api = HttpsApi(endpoint, files.authority, token)
        _wait(api, processes, directory)
        common = ["--kubeconfig", str(kubeconfig), "--leader-elect=false", "--bind-address=127.0.0.1", "--secure-port=0"]
        account = ["--use-service-account-credentials=false", "--service-account-private-key-file", str(files.key)]
        processes.append(_start(programs[CONTROLLERS], [*common, *account], directory))
        processes.append(_start(programs[SCHEDULER], common, directory))
    except BaseException:
        _end(processes)
        raise
    return OfficialBinaries(processes, endpoint, files.authority, api)


def _programs(binaries: Path) -> dict[str, Path]:
    found = {name: binaries / name for name in (SERVER, CONTROLLERS, SCHEDULER)}
    beside = binaries / ETCD
    elsewhere = shutil.which(ETCD)
    found[ETCD] = beside if beside.is_file() or elsewhere is None else Path(elsewhere)
    missing = [name for name, path in found.items() if not path.is_file()]
    if missing:
        raise ControlPlaneError(
            f"{BINARIES}={binaries}: {', '.join(missing)} not found; the directory must hold {SERVER}, {CONTROLLERS} and "
            f"{SCHEDULER}, and {ETCD} unless it is on the PATH. Without the variable a double runs"
        )
    return found


def _server_options(files: certificates.Certificates, port: int, tokens: Path, webhook: str, directory: Path) -> list[str]:
    options = {
        "bind-address": "127.0.0.1",
        "advertise-address": "127.0.0.1",
        "secure-port": str(port),
        "tls-cert-file": str(files.certificate),
        "tls-private-key-file": str(files.key),
        "authorization-mode": "RBAC",
        "token-auth-file": str(tokens),
        "service-account-issuer": "https://kubernetes.default.svc",
        "service-account-key-file": str(files.certificate),
        "service-account-signing-key-file": str(files.key),
        "service-cluster-ip-range": "10.100.0.0/16",
        "endpoint-reconciler-type": "none",
    }
    if webhook:
        settings = {
            "apiVersion": "v1",
            "kind": "Config",
            "clusters": [
                {"name": "tokens", "cluster": {"server": webhook, "insecure-skip-tls-verify": webhook.startswith("https:")}}
            ],
            "users": [{"name": "tokens", "user": {}}],
            "contexts": [{"name": "tokens", "context": {"cluster": "tokens", "user": "tokens"}}],
            "current-context": "tokens",
        }
        path = _write(directory / "tokens.kubeconfig", json.dumps(settings))
        options |= {"authentication-token-webhook-config-file": str(path), "authentication-token-webhook-cache-ttl": "10s"}
        options["authentication-token-webhook-version"] = "v1"
    return [f"--{name}={value}" for name, value in options.items()]


def _kubeconfig(endpoint: str, authority: bytes, token: str, directory: Path) -> str:
    path = _write(directory / "ca.crt", authority.decode())
    settings = {
        "apiVersion": "v1",
        "kind": "Config",
        "clusters": [{"name": "local", "cluster": {"server": endpoint, "certificate-authority": str(path)}}],
        "users": [{"name": "administrator", "user": {"token": token}}],
        "contexts": [{"name": "local", "context": {"cluster": "local", "user": "administrator"}}],
        "current-context": "local",
    }
    return json.dumps(settings)


def _write(path: Path, text: str) -> Path:
    with private.open_file(path) as file:
        file.write(text.encode())
    return path


def _start(program: Path, options: Sequence[str], directory: Path) -> subprocess.Popen[bytes]:
    with private.open_file(directory / f"{program.name}.log") as log:
        return subprocess.Popen(  # noqa: S603
            [str(program), *options], stdin=subprocess.DEVNULL, stdout=log, stderr=subprocess.STDOUT, cwd=directory
        )


def _wait(api: HttpsApi, processes: Sequence[subprocess.Popen[bytes]], directory: Path) -> None:
    deadline = time.monotonic() + _READY_SECONDS
    while True:
        try:
            api.get("v1", "Namespace", "default")
            return
        except (OSError, KubernetesError) as error:
            ended = any(process.poll() is not None for process in processes)
            if ended or time.monotonic() > deadline:
                log = (directory / f"{SERVER}.log").read_text(errors="replace")[-2000:]
                raise ControlPlaneError(f"{SERVER} is not ready: {error}; the end of its log:\n{log}") from error
        time.sleep(_PAUSE_SECONDS)


def _end(processes: Sequence[subprocess.Popen[bytes]]) -> None:
    """End them hard, the latest first: with etcd gone the API server would wait for it."""
    for process in reversed(processes):
        process.kill()
        process.wait()


def _free_ports(count: int) -> list[int]:
    listeners = [socket.create_server(("127.0.0.1", 0)) for _ in range(count)]
    ports = [int(listener.getsockname()[1]) for listener in listeners]
    for listener in listeners:
        listener.close()
    return ports
