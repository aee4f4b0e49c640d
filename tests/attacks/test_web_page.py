"""A web page of another origin attacks the embedded AWS from a real browser on this machine: it reads and changes nothing."""

from __future__ import annotations

import html
import json
import re
import shutil
import subprocess
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest

from tests.attacks.embedded_aws import FUNCTION, Target, require, running_target

CHROMIUM = shutil.which("chromium") or ""
NAME = "evil.test"
OPTIONS = (
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--disable-dev-shm-usage",
    "--no-first-run",
    "--no-proxy-server",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    f"--host-resolver-rules=MAP {NAME} 127.0.0.1",
)

# Every attack reports "refused" or its loot; an opaque answer, an error and a missing answer tell a page nothing.
PAGE = """<!doctype html><title>attack</title><body><script>
const aws = "ENDPOINT", named = "NAMED", signed = "PRESIGNED";
const lambda = "/2015-03-31/functions/FUNCTION/invocations";
const got = async answer => answer.type === "opaque" ? "refused" : "read " + answer.status + " " + await answer.text();
const ask = (url, options) => fetch(url, options).then(got, () => "refused");
const load = (tag, url, more) => new Promise(done => {
  const element = Object.assign(document.createElement(tag), more || {});
  element.onload = () => done(tag === "img" || tag === "script" ? "loaded" : seen(element));
  element.onerror = () => done("refused");
  element.src = url;
  document.body.append(element);
});
const seen = frame => { try { return "read " + frame.contentWindow.document.body.innerText; } catch { return "refused"; } };
const form = (action, type) => new Promise(done => {
  const frame = Object.assign(document.createElement("iframe"), {name: "target" + Math.random()});
  const made = Object.assign(document.createElement("form"), {action, method: "POST", enctype: type, target: frame.name});
  const field = Object.assign(document.createElement("input"), {name: '{"slow_creation": 9, "x', value: '": 1}'});
  made.append(field);
  document.body.append(frame, made);
  frame.onload = () => done(seen(frame));
  made.submit();
});
const socket = url => new Promise(done => {
  const made = new WebSocket(url);
  made.onopen = () => done("opened");
  made.onerror = made.onclose = () => done("refused");
});
const source = url => new Promise(done => {
  const made = new EventSource(url);
  made.onopen = made.onmessage = () => done("opened");
  made.onerror = () => { made.close(); done("refused"); };
});
const request = (method, url) => new Promise(done => {
  const made = new XMLHttpRequest();
  made.open(method, url);
  made.onload = () => done("read " + made.status + " " + made.responseText);
  made.onerror = () => done("refused");
  made.send();
});
const scope = "123456789012/20260101/us-west-2/s3/aws4_request";
const fake = {Authorization: "AWS4-HMAC-SHA256 Credential=" + scope + ", SignedHeaders=host, Signature=0"};
const json = {"content-type": "application/json"};
const late = () => new Promise(done => setTimeout(() => done("refused"), 5000));
const attacks = {
  "fetch of buckets": () => ask(aws + "/"),
  "fetch of a presigned url": () => ask(signed),
  "image of a presigned url": () => load("img", signed),
  "fetch with a key": () => ask(aws + "/", {headers: fake}),
  "fetch without cors": () => ask(aws + "/_hyperpod/reset", {method: "POST", mode: "no-cors"}),
  "fetch of the nodes": () => ask(aws + "/_hyperpod/nodes"),
  "fetch with credentials": () => ask(aws + "/_hyperpod/health", {credentials: "include"}),
  "a run of the function": () => ask(aws + lambda, {method: "POST", mode: "no-cors", body: "{}"}),
  "a run of the function, preflighted": () => ask(aws + lambda, {method: "POST", headers: json, body: "{}"}),
  "an upload": () => ask(aws + "/precious/planted", {method: "PUT", body: "planted"}),
  "an upload with a key": () => ask(aws + "/precious/planted", {method: "PUT", headers: fake, body: "planted"}),
  "a deletion": () => request("DELETE", aws + "/precious"),
  "xhr": () => request("GET", aws + "/_ministack/health"),
  "a form": () => form(aws + "/_hyperpod/faults", "text/plain"),
  "a form that resets": () => form(aws + "/_hyperpod/reset", "application/x-www-form-urlencoded"),
  "a form that resets ministack": () => form(aws + "/_ministack/reset", "multipart/form-data"),
  "a form with an action": () => form(aws + "/?Action=CreateUser&UserName=planted&Version=2010-05-08", "text/plain"),
  "an image": () => load("img", aws + "/_hyperpod/reset"),
  "a script": () => load("script", aws + "/_hyperpod/nodes"),
  "a frame": () => load("iframe", aws + "/_hyperpod/health"),
  "a beacon": async () => { navigator.sendBeacon(aws + "/_hyperpod/reset", "x"); return "refused"; },
  "a websocket": () => socket(aws.replace("http", "ws") + "/_aws/execute-api/abc/prod"),
  "a websocket of mqtt": () => socket(aws.replace("http", "ws") + "/mqtt"),
  "a stream of events": () => source(aws + "/"),
  "a name that leads here": () => ask(named + "/"),
  "a name that leads here, without cors": () => ask(named + "/_hyperpod/reset", {method: "POST", mode: "no-cors"}),
  "a websocket to a name that leads here": () => socket(named.replace("http", "ws") + "/_aws/execute-api/abc/prod"),
};
(async () => {
  const results = {};
  for (const [name, attack] of Object.entries(attacks))
    results[name] = await Promise.race([attack().catch(() => "refused"), late()]);
  document.title = "done";
  document.body.innerHTML = "";
  document.body.append(Object.assign(document.createElement("pre"), {textContent: JSON.stringify(results)}));
})();
</script></body>
"""
ATTACKS = tuple(re.findall(r'^  "([^"]+)": (?:async )?\(\)', PAGE, re.MULTILINE))


@pytest.fixture(scope="module")
def target(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Target]:
    """An embedded AWS, and a browser to attack it with."""
    require(bool(CHROMIUM), "chromium, as a browser (apt-get install chromium)")
    with running_target(tmp_path_factory.mktemp("attacked") / "local") as made:
        yield made


@pytest.fixture(scope="module")
def before(target: Target) -> dict[str, Any]:
    """The state before the page is opened."""
    return target.things()


def presigned(target: Target) -> str:
    """Values that the owner may share, so that a page may know them."""
    target.aws.client("s3").put_object(Bucket="precious", Key="shared", Body=b"shared")
    url: str = target.aws.client("s3").generate_presigned_url("get_object", Params={"Bucket": "precious", "Key": "shared"})
    return url


@pytest.fixture(scope="module")
def results(target: Target, before: dict[str, Any], tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """The loot of a page on another port of this machine, by attack."""
    page = PAGE.replace("ENDPOINT", target.aws.endpoint).replace("NAMED", named(target)).replace("FUNCTION", FUNCTION)
    with site(page.replace("PRESIGNED", presigned(target))) as url:
        dom = browse(url, tmp_path_factory.mktemp("profile"))
    found = re.search(r"<pre>(.*)</pre>", dom, re.DOTALL)
    assert found is not None, dom
    got: dict[str, str] = json.loads(html.unescape(found[1]))
    return got


def named(target: Target) -> str:
    return f"http://{NAME}:{urlsplit(target.aws.endpoint).port}"


class site:  # noqa: N801
    """A web site of one page, on a port of its own."""

    def __init__(self, page: str) -> None:
        class Handler(BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                self.send_response(200)
                self.send_header("Content-Type", "text/html; charset=utf-8")
                self.end_headers()
                self.wfile.write(page.encode())

            def log_message(self, format: str, *arguments: Any) -> None:
                """Say nothing."""

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)

    def __enter__(self) -> str:
        threading.Thread(target=self._server.serve_forever, daemon=True).start()
        return f"http://127.0.0.1:{self._server.server_port}/"

    def __exit__(self, *_: object) -> None:
        self._server.shutdown()
        self._server.server_close()


def browse(url: str, profile: Path) -> str:
    """The final state of the page in the browser."""
    options = [*OPTIONS, f"--user-data-dir={profile}", "--virtual-time-budget=120000", "--dump-dom"]
    done = subprocess.run([CHROMIUM, *options, url], capture_output=True, text=True, timeout=300, check=False)  # noqa: S603
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.mark.parametrize("attack", ATTACKS)
def test_a_page_of_another_origin_gets_nothing_by(attack: str, results: dict[str, str]) -> None:
    assert results[attack] == "refused"


def test_a_page_of_another_origin_changes_nothing(target: Target, before: dict[str, Any], results: dict[str, str]) -> None:
    target.aws.client("s3").delete_object(Bucket="precious", Key="shared")
    assert results
    assert target.things() == before


def test_a_name_that_now_leads_here_shows_nothing(target: Target, tmp_path: Path) -> None:
    dom = browse(f"{named(target)}/", tmp_path)
    assert "AccessDenied" in dom
    assert "precious" not in dom


def test_the_function_runs_for_its_owner(target: Target, before: dict[str, Any], results: dict[str, str]) -> None:
    """Otherwise the service could not tell requests of a page."""
    assert ":assumed-role/marker/" in target.invoke()
    assert "the-function-ran" in target.things()["objects"]
