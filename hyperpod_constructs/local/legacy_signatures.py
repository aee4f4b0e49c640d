"""Presigned URLs of S3 with Signature Version 2, which boto3 still makes by default where a region takes them."""

from __future__ import annotations

import hmac
from dataclasses import dataclass
from datetime import datetime
from urllib.parse import urlsplit

from botocore.auth import HmacV1QueryAuth
from botocore.awsrequest import HTTPHeaders
from botocore.credentials import Credentials

from hyperpod_constructs.local.signatures import MISMATCH, Credential, Received, Refused, check_token, refuse_form

_NAMES = ("AWSAccessKeyId", "Signature", "Expires")
_COVERED = frozenset({*_NAMES, "x-amz-security-token", *HmacV1QueryAuth.QSAOfInterest})


@dataclass(frozen=True, kw_only=True, slots=True)
class LegacyClaim:
    """Who says to have presigned, and until when it holds."""

    key_id: str
    signature: str
    expires: str
    token: str | None

    def check(self, received: Received, now: datetime) -> None:
        """Refuse claims that are wrong under every key."""
        if not self.expires.isdecimal() or len(self.expires) > 12 or int(self.expires) < now.timestamp():
            raise Refused("RequestExpired", "Request has expired")
        refuse_form(received)
        for name in ("content-type", "content-md5"):
            received.header(name)  # which refuses one that comes twice

    def verify_head(self, received: Received, credential: Credential) -> bool:
        """Refuse unless the secret made this signature over this head."""
        check_token(self.token, credential.token)
        headers = HTTPHeaders()
        for name, value in received.headers:
            headers.add_header(name, value)
        signer = _Signer(Credentials(self.key_id, credential.secret, credential.token))
        signer.moment = self.expires
        target = urlsplit(f"http://host{received.path}?{received.query}")
        expected = signer.get_signature(received.method, target, headers)  # type: ignore[arg-type]
        if not hmac.compare_digest(expected.encode(), self.signature.encode()):
            raise Refused("SignatureDoesNotMatch", MISMATCH)
        return True

    def verify_body(self, received: Received, body: bytes, credential: Credential) -> None:
        """Take every body: none is covered."""


class _Signer(HmacV1QueryAuth):
    """botocore's signer, for the moment in the URL instead of one of its own."""

    moment: str

    def _get_date(self) -> str:
        return self.moment


def legacy_claim(received: Received) -> LegacyClaim | None:
    """The claim of such a presigned URL; None without one, and for parameters outside the signature."""
    given = received.parameters()
    found = dict(given)
    if len(found) != len(given) or not all(found.get(name) for name in _NAMES) or not found.keys() <= _COVERED:
        return None
    if any("%" in pair.partition("=")[0] for pair in received.query.split("&")):
        raise Refused("IncompleteSignature", "found an encoded name in the query, which the signature does not cover; write it out")
    return LegacyClaim(
        key_id=found["AWSAccessKeyId"],
        signature=found["Signature"],
        expires=found["Expires"],
        token=found.get("x-amz-security-token"),
    )
