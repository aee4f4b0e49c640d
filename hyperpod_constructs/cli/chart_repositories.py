"""Archives of charts in the two kinds of places where they are published: chart repositories and OCI registries.

Source: https://helm.sh/docs/topics/chart_repository/ and https://github.com/opencontainers/distribution-spec/blob/main/spec.md
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Mapping
from typing import Any
from urllib.parse import urlencode, urljoin, urlsplit

from hyperpod_constructs.cli.chart_download import Answer, download
from hyperpod_constructs.eks.chart_files import ChartError
from hyperpod_constructs.eks.chart_tree import Declared, read_values, same_version

MOST_ARCHIVE = 32 * 2**20
_MOST_INDEX = 16 * 2**20
_MOST_MANIFEST = 2**20
_MANIFEST = "application/vnd.oci.image.manifest.v1+json"
_LAYER = "application/vnd.cncf.helm.chart.content.v1.tar+gzip"
_DIGEST = re.compile(r"sha256:([0-9a-f]{64})")
_PARAMETER = re.compile(r'(\w+)="([^"]*)"')
_EXACT = re.compile(r"v?\d+\.\d+\.\d+[\w.+-]*")


def archive_of(chart: Declared) -> bytes:
    """The archive of a chart in exactly that version, as its repository's index or manifest states its hash.

    :raises ChartError: if it is not there, or its content is not what its own repository states.
    """
    if _EXACT.fullmatch(chart.version) is None:
        raise ChartError(f"{chart}: the version is a range; only an exact version can be fetched")
    place = chart.repository.rstrip("/")
    if place.startswith("oci:"):
        return _from_registry(chart, place.removeprefix("oci://"))
    return _from_repository(chart, place)


def _from_repository(chart: Declared, place: str) -> bytes:
    index = download(f"{place}/index.yaml", most=_MOST_INDEX).body
    entry = _entry(chart, read_values({"index.yaml": index}, "index.yaml", place, _MOST_INDEX), place)
    urls = entry.get("urls")
    if not isinstance(urls, list) or not urls or not isinstance(urls[0], str):
        raise ChartError(f"{place}: the index has no address of {chart.name} {chart.version}")
    url = urljoin(f"{place}/", urls[0])
    body = download(url, most=MOST_ARCHIVE, asked=place).body
    stated = entry.get("digest")
    if isinstance(stated, str):
        _compare(url, body, stated.removeprefix("sha256:"), "the repository's index states")
    return body


def _entry(chart: Declared, index: Mapping[str, Any], place: str) -> Mapping[str, Any]:
    entries = index.get("entries")
    listed = entries.get(chart.name) if isinstance(entries, Mapping) else None
    for entry in listed if isinstance(listed, list) else ():
        if isinstance(entry, Mapping) and same_version(chart.version, str(entry.get("version"))):
            return entry
    raise ChartError(f"{place}: the index has no {chart.name} {chart.version}")


def _from_registry(chart: Declared, place: str) -> bytes:
    host, _, folder = place.partition("/")
    scheme = "http" if urlsplit(f"//{host}").hostname in ("127.0.0.1", "localhost") else "https"
    name = "/".join(filter(None, (folder, chart.name)))
    base, tag = f"{scheme}://{host}/v2/{name}", chart.version.replace("+", "_")
    url = f"{base}/manifests/{tag}"
    manifest, token = _manifest(url, name)
    digest, size = _layer(manifest, url)
    body = download(f"{base}/blobs/{digest}", most=min(size, MOST_ARCHIVE), headers=token).body
    _compare(f"{base}/blobs/{digest}", body, digest.removeprefix("sha256:"), "the registry's manifest states")
    return body


def _manifest(url: str, name: str) -> tuple[Answer, Mapping[str, str]]:
    """The manifest, and the header with the token that the registry gives to anyone."""
    accept = {"Accept": _MANIFEST}
    answer = download(url, most=_MOST_MANIFEST, headers=accept, also=(401,))
    if answer.status != 401:
        return answer, {}
    asked = next((value for key, value in answer.headers.items() if key.lower() == "www-authenticate"), "")
    parameters = dict(_PARAMETER.findall(asked))
    if not asked.lower().startswith("bearer ") or "realm" not in parameters:
        raise ChartError(f"{url}: the registry does not let anyone read")
    query = {"service": parameters.get("service", ""), "scope": f"repository:{name}:pull"}
    realm = f"{parameters['realm']}?{urlencode(query)}"
    given = _json(download(realm, most=_MOST_MANIFEST, asked=url), parameters["realm"])
    token = given.get("token") or given.get("access_token")
    if not isinstance(token, str) or not token.isascii() or not token.isprintable():
        raise ChartError(f"{parameters['realm']}: the registry gives no token")
    bearer = {"Authorization": f"Bearer {token}"}
    return download(url, most=_MOST_MANIFEST, headers=accept | bearer), bearer


def _layer(manifest: Answer, url: str) -> tuple[str, int]:
    layers = _json(manifest, url).get("layers")
    for layer in layers if isinstance(layers, list) else ():
        if isinstance(layer, Mapping) and layer.get("mediaType") == _LAYER:
            digest, size = layer.get("digest"), layer.get("size")
            if isinstance(digest, str) and _DIGEST.fullmatch(digest) and isinstance(size, int) and size > 0:
                return digest, size
    raise ChartError(f"{url}: the manifest is not that of a chart")


def _json(answer: Answer, url: str) -> Mapping[str, Any]:
    try:
        found = json.loads(answer.body)
    except (ValueError, RecursionError) as error:
        raise ChartError(f"{url}: the answer is not JSON") from error
    if not isinstance(found, dict):
        raise ChartError(f"{url}: the answer is not a JSON object")
    return found


def _compare(url: str, body: bytes, stated: str, who: str) -> None:
    found = hashlib.sha256(body).hexdigest()
    if found != stated:
        raise ChartError(f"{url}: the archive has the SHA-256 {found}; {who} {stated[:80]}")
