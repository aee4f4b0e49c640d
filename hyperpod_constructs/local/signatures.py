"""AWS Signature Version 4 from the service's side: who claims to have signed a request, and whether that is true.

botocore's own signer computes what a signature should be. What AWS refuses before that is refused here: a date that is not now,
a host or an `x-amz-` header that is not signed, a body that is not the signed one.
"""

from __future__ import annotations

import hashlib
import hmac
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from email.utils import parsedate_to_datetime
from functools import lru_cache
from typing import Any, NamedTuple
from urllib.parse import quote, unquote

from botocore.auth import SIGV4_TIMESTAMP, UNSIGNED_PAYLOAD, SigV4Auth
from botocore.awsrequest import AWSRequest
from botocore.credentials import Credentials

from hyperpod_constructs.local import chunks

ALGORITHM = "AWS4-HMAC-SHA256"
WINDOW = timedelta(minutes=15)
LONGEST = 7 * 24 * 3600
"""Seconds that a presigned URL holds at most."""

MISMATCH = (
    "The request signature we calculated does not match the signature you provided. "
    "Check your AWS Secret Access Key and signing method."
)
_QUERY = frozenset(
    {
        "X-Amz-Algorithm",
        "X-Amz-Credential",
        "X-Amz-Date",
        "X-Amz-Expires",
        "X-Amz-Security-Token",
        "X-Amz-Signature",
        "X-Amz-SignedHeaders",
    }
)
_SHA256 = re.compile(r"[0-9a-f]{64}")
_UNSIGNED = frozenset({UNSIGNED_PAYLOAD, chunks.UNSIGNED_WITH_TRAILER})
_FORMS = ("application/x-www-form-urlencoded", "multipart/form-data")


class Refused(Exception):  # noqa: N818
    """A request without a valid signature: AWS's code and message."""

    def __init__(self, code: str, message: str) -> None:
        super().__init__(message)
        self.code = code
        self.message = message


class Received(NamedTuple):
    """The head of a request as it came over the wire; header names are lower case, a repeated header comes twice."""

    method: str
    path: str
    query: str
    headers: tuple[tuple[str, str], ...]

    def values(self, name: str) -> list[str]:
        """Every value of a header."""
        return [value for key, value in self.headers if key == name]

    def header(self, name: str) -> str | None:
        """The value of a header; None if it is missing. A header that comes twice is refused."""
        found = self.values(name)
        if len(found) > 1:
            raise Refused("IncompleteSignature", f"the header {name} comes {len(found)} times; send it once")
        return found[0] if found else None

    def parameters(self) -> list[tuple[str, str]]:
        """The parameters of the query, decoded."""
        pairs = (pair.partition("=") for pair in self.query.split("&") if pair)
        return [(unquote(name), unquote(value)) for name, _, value in pairs]


class Credential(NamedTuple):
    """What belongs to an access key id: its secret, and its session token where it is temporary."""

    secret: str
    token: str | None = None


@dataclass(frozen=True, kw_only=True, slots=True)
class Claim:
    """Who says to have signed, for which day, region and service, over which headers. Nothing of it is known to be true."""

    key_id: str
    day: str
    region: str
    service: str
    signed: tuple[str, ...]
    signature: str
    timestamp: str
    token: str | None
    lifetime: int | None
    """Seconds that a presigned URL holds; None for a signature in the header."""

    @property
    def s3(self) -> bool:
        """Whether the rules of S3 hold: paths are signed as they are, and a body may stay unsigned."""
        return self.service.startswith("s3")

    def check(self, received: Received, now: datetime) -> None:
        """Refuse claims that are wrong under every key."""
        signed_at = _moment(self.timestamp)
        if self.timestamp[:8] != self.day:
            raise Refused("CredentialDateMismatch", "Date in Credential scope does not match YYYYMMDD of the request's date")
        if signed_at > now + WINDOW:
            raise Refused("RequestTimeTooSkewed", f"Signature not yet current: {self.timestamp}")
        if self.lifetime is None and signed_at < now - WINDOW:
            raise Refused("RequestTimeTooSkewed", f"Signature expired: {self.timestamp} is more than 15 minutes ago")
        if self.lifetime is not None and now > signed_at + timedelta(seconds=self.lifetime):
            raise Refused("RequestExpired", "Request has expired")
        self._check_signed_headers(received)
        self._check_form(received)

    def _check_form(self, received: Received) -> None:
        """Refuse an unsigned form: its operation would choose the service, so a changed body would be another call."""
        covered = self._declared(received) not in _UNSIGNED
        if not covered and (self.lifetime is not None or "content-type" not in self.signed):
            refuse_form(received)

    def _check_signed_headers(self, received: Received) -> None:
        present = {name for name, _ in received.headers}
        required = {"host"} | {name for name in present if name.startswith("x-amz-")}
        if missing := sorted(required - set(self.signed)):
            raise Refused("SignatureDoesNotMatch", f"there are headers in the request that are not signed: {', '.join(missing)}")
        if absent := sorted(set(self.signed) - present):
            raise Refused("SignatureDoesNotMatch", f"there are signed headers that the request does not have: {', '.join(absent)}")

    def verify_head(self, received: Received, credential: Credential) -> bool:
        """Refuse unless the secret made this signature. False if that is not known before the body: its hash is signed."""
        check_token(self.token, credential.token)
        declared = self._declared(received)
        if declared is not None:
            self._verify_signature(received, declared, credential)
        return declared is not None

    def verify_body(self, received: Received, body: bytes, credential: Credential) -> None:
        """Refuse a body that is not the signed one, after the head."""
        declared = self._declared(received)
        if declared is None:
            self._verify_signature(received, hashlib.sha256(body).hexdigest(), credential)
        elif _SHA256.fullmatch(declared):
            if not hmac.compare_digest(declared, hashlib.sha256(body).hexdigest()):
                raise Refused("SignatureDoesNotMatch", "the x-amz-content-sha256 header does not match the body")
        elif declared in chunks.SIGNED:
            self._verify_chunks(body, self._signer(declared, credential), trailer=declared == chunks.SIGNED_WITH_TRAILER)

    def _verify_signature(self, received: Received, payload: str, credential: Credential) -> None:
        signer = self._signer(payload, credential)
        request = AWSRequest(received.method, f"http://host{received.path}?{_canonical_query(received)}")
        for name, value in received.headers:
            if name in self.signed:
                request.headers.add_header(name, value)
        request.context["timestamp"] = self.timestamp
        expected = signer.signature(signer.string_to_sign(request, signer.canonical_request(request)), request)
        if not hmac.compare_digest(expected.encode(), self.signature.encode()):
            raise Refused("SignatureDoesNotMatch", MISMATCH)

    def _signer(self, payload: str, credential: Credential) -> _Signer:
        return _Signer(self, credential.secret, payload)

    def _declared(self, received: Received) -> str | None:
        """The payload hash that the head declares and the signature covers; None without one."""
        declared = received.header("x-amz-content-sha256")
        if declared is None and self.lifetime is not None and self.s3:
            declared = dict(received.parameters()).get("X-Amz-Content-Sha256", UNSIGNED_PAYLOAD)
        if declared is None or _SHA256.fullmatch(declared):
            return declared
        if not self.s3:
            raise Refused("SignatureDoesNotMatch", f"found x-amz-content-sha256 {declared!r}; only S3 takes such a body")
        if declared not in chunks.SIGNED | _UNSIGNED:
            raise Refused("SignatureDoesNotMatch", f"found x-amz-content-sha256 {declared!r}, which is no hash")
        return declared

    def _verify_chunks(self, body: bytes, signer: _Signer, *, trailer: bool) -> None:
        scope = f"{self.day}/{self.region}/{self.service}/aws4_request"
        if not chunks.Chain(self.timestamp, scope, self.signature, signer.sign).matches(body, trailer=trailer):
            raise Refused("SignatureDoesNotMatch", MISMATCH)


class _Signer(SigV4Auth):
    """botocore's signer, for headers that the claim names instead of its own choice."""

    def __init__(self, claim: Claim, secret: str, payload: str) -> None:
        super().__init__(Credentials(claim.key_id, secret), claim.service, claim.region)
        self._payload = payload
        self._s3 = claim.s3
        self._key = _signing_key(secret, claim.day, claim.region, claim.service)

    def headers_to_sign(self, request: AWSRequest) -> Any:
        return request.headers

    def payload(self, request: AWSRequest) -> str:
        return self._payload

    def signature(self, string_to_sign: str, request: AWSRequest) -> str:
        return self.sign(string_to_sign)

    def sign(self, text: str) -> str:
        """The signature of a text under the derived key."""
        return hmac.new(self._key, text.encode(), hashlib.sha256).hexdigest()

    def _normalize_url_path(self, path: str) -> str:
        return path if self._s3 else str(super()._normalize_url_path(path))  # type: ignore[misc]


@lru_cache(maxsize=256)
def _signing_key(secret: str, *scope: str) -> bytes:
    """The key that is derived for a day, a region and a service."""
    key = f"AWS4{secret}".encode()
    for part in (*scope, "aws4_request"):
        key = hmac.new(key, part.encode(), hashlib.sha256).digest()
    return key


def claim(received: Received) -> Claim:
    """The claim in the header or in the query.

    :raises Refused: without one, and for an ambiguous one.
    """
    header = received.header("authorization")
    parameters = received.parameters()
    in_query = [name for name, _ in parameters if name.lower() in _LOWER_QUERY]
    if header is not None:
        return _in_header(received, header)
    if not in_query:
        raise Refused("MissingAuthenticationToken", "Missing Authentication Token")
    if len(set(in_query)) != len(in_query) or not set(in_query) <= _QUERY:
        raise Refused("IncompleteSignature", f"found the query parameters {', '.join(sorted(in_query))}; write each of AWS's once")
    return _in_query(dict(parameters))


_LOWER_QUERY = frozenset(name.lower() for name in _QUERY)
_LOWER_CREDENTIALS = _LOWER_QUERY - {"x-amz-security-token", "x-amz-date", "x-amz-expires"}
_LOWER_LEGACY = frozenset({"awsaccesskeyid", "signature"})
_TARGET = re.compile(r"/[!-~]*")
_PLAIN = re.compile(r"[!-~]*")


def check_target(received: Received) -> None:
    """Refuse a target that two readers could take for two things."""
    if not _TARGET.fullmatch(received.path) or not _PLAIN.fullmatch(received.query) or "#" in received.path + received.query:
        raise Refused("IncompleteSignature", "the request target must be a path, with a query at most, percent-encoded")


def check_mechanisms(received: Received) -> None:
    """Refuse a request that is signed in more than one way: what reads it may believe the other one."""
    names = {name.lower() for name, _ in received.parameters()}
    ways = (received.values("authorization"), names & _LOWER_CREDENTIALS, names & _LOWER_LEGACY)
    if sum(bool(way) for way in ways) > 1:
        raise Refused("InvalidArgument", "Only one auth mechanism allowed: sign in the header or in the query")


def refuse_form(received: Received) -> None:
    """Refuse a request with a form as its body."""
    if any(kind.strip().lower().startswith(_FORMS) for kind in received.values("content-type")):
        raise Refused("SignatureDoesNotMatch", "a form in a body that is not signed; name its Content-Type, or sign the body")


def _in_header(received: Received, header: str) -> Claim:
    algorithm, _, rest = header.partition(" ")
    if algorithm != ALGORITHM:
        raise Refused("IncompleteSignature", f"found the algorithm {algorithm[:30]!r}; sign with {ALGORITHM}")
    fields = [part.strip().partition("=") for part in rest.split(",")]
    if sorted(name for name, _, _ in fields) != ["Credential", "Signature", "SignedHeaders"]:
        raise Refused("IncompleteSignature", "Authorization header requires Credential, SignedHeaders and Signature, each once")
    given = {name: value for name, _, value in fields}
    return Claim(
        **_scope(given["Credential"]),
        signed=_names(given["SignedHeaders"].split(";")),
        signature=given["Signature"],
        timestamp=received.header("x-amz-date") or _date(received.header("date")),
        token=received.header("x-amz-security-token"),
        lifetime=None,
    )


def _in_query(given: Mapping[str, str]) -> Claim:
    if given.get("X-Amz-Algorithm") != ALGORITHM:
        raise Refused("IncompleteSignature", f"AWS query-string parameters must include X-Amz-Algorithm={ALGORITHM}")
    required = ("X-Amz-Credential", "X-Amz-Date", "X-Amz-SignedHeaders", "X-Amz-Signature")
    if missing := [name for name in required if not given.get(name)]:
        raise Refused("IncompleteSignature", f"AWS query-string parameters must include {', '.join(missing)}")
    lifetime = given.get("X-Amz-Expires", str(int(WINDOW.total_seconds())))
    if not re.fullmatch(r"[0-9]{1,6}", lifetime) or int(lifetime) > LONGEST:
        raise Refused("IncompleteSignature", f"found X-Amz-Expires {lifetime[:30]!r}; write 0 to {LONGEST} seconds")
    return Claim(
        **_scope(given["X-Amz-Credential"]),
        signed=_names(given["X-Amz-SignedHeaders"].split(";")),
        signature=given["X-Amz-Signature"],
        timestamp=given["X-Amz-Date"],
        token=given.get("X-Amz-Security-Token"),
        lifetime=int(lifetime),
    )


def _scope(credential: str) -> dict[str, str]:
    parts = credential.split("/")
    if len(parts) != 5 or parts[4] != "aws4_request" or not all(re.fullmatch(r"[A-Za-z0-9_-]{1,128}", part) for part in parts):
        raise Refused("IncompleteSignature", "Credential must be keyid/date/region/service/aws4_request")
    return dict(zip(("key_id", "day", "region", "service"), parts, strict=False))


def _names(signed: Iterable[str]) -> tuple[str, ...]:
    names = tuple(signed)
    if list(names) != sorted(set(names)) or any(name != name.lower() for name in names):
        raise Refused("SignatureDoesNotMatch", "SignedHeaders must be lower case, sorted, and each once")
    return names


def _date(header: str | None) -> str:
    if not header:
        raise Refused("IncompleteSignature", "Authorization header requires an 'X-Amz-Date' or a 'Date' header")
    return parsedate_to_datetime(header).astimezone(UTC).strftime(SIGV4_TIMESTAMP)


def _moment(timestamp: str) -> datetime:
    try:
        return datetime.strptime(timestamp, SIGV4_TIMESTAMP).replace(tzinfo=UTC)
    except ValueError:
        raise Refused("IncompleteSignature", f"found the date {timestamp[:30]!r}; write it as 20260131T235959Z") from None


def check_token(given: str | None, expected: str | None) -> None:
    if not hmac.compare_digest((given or "").encode(), (expected or "").encode()):
        raise Refused("InvalidToken", "The security token included in the request is invalid")


def _canonical_query(received: Received) -> str:
    """The query without its signature, encoded as AWS encodes it; botocore sorts it."""
    pairs = [(name, value) for name, value in received.parameters() if name != "X-Amz-Signature"]
    return "&".join(f"{quote(name, safe='-_.~')}={quote(value, safe='-_.~')}" for name, value in pairs)
