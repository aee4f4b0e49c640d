"""The store of the official control plane is closed to the other users of the machine."""

from __future__ import annotations

import shutil
import stat
import sys
from pathlib import Path

import pytest

from hyperpod_constructs.local.kubernetes.control_plane import BINARIES, ControlPlaneError, start_control_plane
from tests.local.kubernetes.conftest import VERSION

_SERVER = """#!{python}
import json, os, re, ssl, sys, time, urllib.request
options = dict(one.removeprefix("--").split("=", 1) for one in sys.argv[1:])
store = {{name.removeprefix("etcd-"): value for name, value in options.items() if name.startswith("etcd-")}}
while not os.path.exists("peer"):
    time.sleep(0.05)
peer = open("peer").read()

def asked(url, *pair, path="/v3/kv/range"):
    context = ssl.create_default_context(cafile=store.get("cafile"))
    if pair:
        context.load_cert_chain(*pair)
    deadline = time.monotonic() + 20
    while True:
        try:
            body = b'{{"key": "AA=="}}' if path.startswith("/v3") else None
            return urllib.request.urlopen(urllib.request.Request(url + path, body), context=context, timeout=5).status
        except OSError as error:
            if "refused" not in str(error) or time.monotonic() > deadline:
                return getattr(error, "code", "closed" if re.search("certificate|EOF|reset|closed", str(error)) else error)
            time.sleep(0.1)

print("own", asked(store["servers"], store.get("certfile"), store.get("keyfile")))
print("none", asked(store["servers"]))
print("serving", asked(store["servers"], options["tls-cert-file"], options["tls-private-key-file"]))
print("peer", asked(peer, path="/members"))
print("plain", asked(store["servers"].replace("https", "http")))
sys.stdout.flush()
"""
_STORE = """#!{python}
import json, os, sys
options = dict(one.removeprefix("--").split("=", 1) for one in sys.argv[1:])
open("written", "w").write(options["listen-peer-urls"])
os.replace("written", "peer")
json.dump(sys.argv[1:], open("options", "w"))
os.execv("{etcd}", ["etcd", *sys.argv[1:]])
"""


@pytest.mark.skipif(shutil.which("etcd") is None, reason="needs etcd, e.g. of the package etcd-server")
def test_etcd_answers_only_the_api_server(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A client without a certificate, one with the API server's other certificate, and a peer without one are refused."""
    etcd = shutil.which("etcd")
    for name in ("kube-apiserver", "kube-controller-manager", "kube-scheduler", "etcd"):
        program = tmp_path / name
        program.write_text((_STORE if name == "etcd" else _SERVER).format(python=sys.executable, etcd=etcd))
        program.chmod(0o700)
    monkeypatch.setenv(BINARIES, str(tmp_path))
    with pytest.raises(ControlPlaneError) as caught:
        start_control_plane(name="demo", version=VERSION, token_webhook="", directory=tmp_path / "cluster")
    told = str(caught.value)
    assert "own 200\nnone closed\nserving closed\npeer closed\nplain closed" in told, told
    for path in (tmp_path / "cluster").glob("*.key"):
        assert stat.S_IMODE(path.stat().st_mode) == 0o600
