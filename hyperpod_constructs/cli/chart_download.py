"""Downloads from strangers: encrypted, and bounded in size, time and redirections."""

from __future__ import annotations

import http.client
import time
import urllib.error
import urllib.request
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlsplit

from hyperpod_constructs.eks.chart_files import ChartError

SECONDS_OF_SILENCE = 30.0
SECONDS = 300.0
_CHUNK = 2**16
_LOOPBACK = frozenset({"127.0.0.1", "::1", "localhost"})


@dataclass(frozen=True, slots=True)
class Answer:
    """What a server said."""

    status: int
    headers: Mapping[str, str]
    body: bytes


class _Redirections(urllib.request.HTTPRedirectHandler):
    max_redirections = 5

    def redirect_request(
        self, req: urllib.request.Request, fp: Any, code: int, msg: str, headers: http.client.HTTPMessage, newurl: str
    ) -> urllib.request.Request | None:
        try:
            check(newurl, asked=req.full_url)
        except ChartError:
            fp.close()
            raise
        following = super().redirect_request(req, fp, code, msg, headers, newurl)
        if following is not None and urlsplit(newurl).netloc != urlsplit(req.full_url).netloc:
            following.remove_header("Authorization")
        return following


def check(url: str, *, asked: str | None = None) -> None:
    """Refuse an address without encryption, unless both it and the one asked for are of this machine.

    :raises ChartError: for such an address.
    """
    parts = urlsplit(url)
    is_own = parts.scheme == "http" and parts.hostname in _LOOPBACK and (asked is None or urlsplit(asked).hostname in _LOOPBACK)
    if not is_own and (parts.scheme != "https" or not parts.hostname):
        raise ChartError(f"{asked or url}: it leads to {url[:200]}, which is not https")


def download(
    url: str, *, most: int, asked: str | None = None, headers: Mapping[str, str] | None = None, also: tuple[int, ...] = ()
) -> Answer:
    """Get an address.

    :param most: bytes of the largest allowed answer.
    :param asked: the address that led to this one; it was given by the user unless named.
    :param headers: of the request.
    :param also: statuses besides 200 that are answers too.
    :raises ChartError: for anything else, and for an answer that is too large, too slow or cut off.
    """
    check(url, asked=asked)
    opener = urllib.request.build_opener(_Redirections)
    request = urllib.request.Request(url, headers={"User-Agent": "hyperpod-constructs", **(headers or {})})
    try:
        with opener.open(request, timeout=SECONDS_OF_SILENCE) as answer:
            return Answer(answer.status, dict(answer.headers.items()), _body(answer, url, most))
    except urllib.error.HTTPError as error:
        with error:
            if error.code in also:
                return Answer(error.code, dict(error.headers.items()), _body(error, url, most))
        raise ChartError(f"{url}: the server answered {error.code}") from error
    except (OSError, http.client.HTTPException, ValueError) as error:
        if isinstance(error, ChartError):
            raise
        raise ChartError(f"{url}: {getattr(error, 'reason', None) or error or type(error).__name__}; try again") from error


def _body(answer: Any, url: str, most: int) -> bytes:
    expected, ends = answer.headers.get("Content-Length"), time.monotonic() + SECONDS
    body = bytearray()
    while chunk := answer.read1(_CHUNK):  # `read` waits for a whole chunk, however slowly it drips
        body += chunk
        if len(body) > most:
            raise ChartError(f"{url}: the answer is larger than {most} bytes")
        if time.monotonic() > ends:
            raise ChartError(f"{url}: the answer took more than {SECONDS:g} seconds; try again")
    if expected is not None and expected.isdecimal() and len(body) != int(expected):
        raise ChartError(f"{url}: the answer was cut off after {len(body)} of {expected} bytes; try again")
    return bytes(body)
