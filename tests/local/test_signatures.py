"""Signatures as the embedded AWS verifies them: botocore's requests pass, changed requests do not."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping
from datetime import UTC, datetime, timedelta
from typing import Any
from urllib.parse import parse_qs, urlsplit

import pytest
from botocore.auth import HmacV1QueryAuth, S3SigV4Auth, S3SigV4QueryAuth, SigV4Auth, SigV4QueryAuth
from botocore.awsrequest import AWSRequest
from botocore.credentials import Credentials

from hyperpod_constructs.local import signatures
from hyperpod_constructs.local.chunks import Chain
from hyperpod_constructs.local.claims import claim_in, refusing_nonsense
from hyperpod_constructs.local.signatures import Credential, Received, Refused, claim

HOST = "127.0.0.1:4566"
KEY = Credentials("AKIDEXAMPLE", "secret")
SESSION = Credentials("ASIAEXAMPLE", "secret", "token")
JSON = {"X-Amz-Target": "SageMaker.ListClusters", "Content-Type": "application/x-amz-json-1.1"}


def received(request: AWSRequest) -> Received:
    """A signed request, as it arrives."""
    url = urlsplit(str(request.url))
    headers = {"host": HOST, **{name.lower(): _text(value) for name, value in request.headers.items()}}
    return Received(str(request.method), url.path or "/", url.query, tuple(headers.items()))


def _text(value: Any) -> str:
    return value.decode() if isinstance(value, bytes) else str(value)


def signed(
    *,
    key: Credentials = KEY,
    body: bytes = b"{}",
    path: str = "/",
    method: str = "POST",
    headers: Mapping[str, str] = JSON,
    signer: Callable[..., Any] = SigV4Auth,
    service: str = "sagemaker",
) -> Received:
    request = AWSRequest(method, f"http://{HOST}{path}", dict(headers), body)
    signer(key, service, "us-west-2").add_auth(request)
    return received(request)


SECRET = Credential("secret")


def verify(
    request: Received,
    body: bytes = b"{}",
    credential: Credential = SECRET,
    later: float = 0,
    since: datetime | None = None,
) -> None:
    """Verify a request so many seconds after a moment; after now unless given."""
    with refusing_nonsense():
        claimed = claim_in(request, (since or datetime.now(UTC)) + timedelta(seconds=later))
        claimed.verify_head(request, credential)
        claimed.verify_body(request, body, credential)


def with_header(request: Received, name: str, value: str | None) -> Received:
    kept = tuple((key, old) for key, old in request.headers if key != name)
    return request._replace(headers=kept if value is None else (*kept, (name, value)))


def refused(request: Received, body: bytes = b"{}", **options: Any) -> str:
    with pytest.raises(Refused) as refusal:
        verify(request, body, **options)
    return refusal.value.code


@pytest.mark.parametrize("path", ["/", "/2015-03-31/functions/a%3Ab/invocations", "/x?Action=A&b=c%20d&b=a&empty="])
def test_takes_signatures_of_botocore(path: str) -> None:
    verify(signed(path=path))


@pytest.mark.parametrize(
    "path", ["/bucket/key", "/bucket/a%20b/%C3%BC%2B.txt", "/bucket//double/../dots", "/bucket?list-type=2&prefix=a%2Fb"]
)
def test_takes_paths_of_s3_as_they_are(path: str) -> None:
    verify(signed(path=path, headers={}, signer=S3SigV4Auth, service="s3"))


def test_takes_a_session_with_its_token() -> None:
    verify(signed(key=SESSION), credential=Credential("secret", "token"))


def test_takes_a_date_header_in_place_of_x_amz_date() -> None:
    verify(signed(headers={**JSON, "Date": "now"}))


def test_takes_another_region_and_service_as_the_caller_scopes_them() -> None:
    assert claim(signed(service="sns")).service == "sns"
    verify(signed(service="sns"))


CHANGES: dict[str, Callable[[Received], Received]] = {
    "the method": lambda request: request._replace(method="PUT"),
    "the path": lambda request: request._replace(path="/other"),
    "the query": lambda request: request._replace(query="Action=DeleteStack"),
    "the operation": lambda request: with_header(request, "x-amz-target", "SageMaker.DeleteCluster"),
    "the host": lambda request: with_header(request, "host", "evil.test"),
    "a signed header taken away": lambda request: with_header(request, "content-type", None),
    "a header of aws added": lambda request: with_header(request, "x-amz-security-token", "token"),
    "a signed header sent twice": lambda request: request._replace(headers=(*request.headers, ("x-amz-target", "SageMaker.X"))),
}


@pytest.mark.parametrize("change", CHANGES.values(), ids=CHANGES)
def test_refuses_a_changed_request(change: Callable[[Received], Received]) -> None:
    assert refused(change(signed())) in ("SignatureDoesNotMatch", "InvalidToken")


def test_refuses_a_changed_body() -> None:
    assert refused(signed(), b'{"ClusterName": "mine"}') == "SignatureDoesNotMatch"
    assert refused(signed(path="/b/k", headers={}, signer=S3SigV4Auth, service="s3"), b"other") == "SignatureDoesNotMatch"


def test_refuses_another_secret() -> None:
    assert refused(signed(), credential=Credential("another")) == "SignatureDoesNotMatch"


@pytest.mark.parametrize("part", [1, 2, 3])
def test_refuses_another_day_region_or_service_than_the_signed_one(part: int) -> None:
    request = signed()
    header = str(request.header("authorization"))
    credential = header.partition("Credential=")[2].partition(",")[0]
    scope = credential.split("/")
    scope[part] = ("", "20200101", "eu-west-1", "iam")[part]
    assert refused(with_header(request, "authorization", header.replace(credential, "/".join(scope)))) in (
        "SignatureDoesNotMatch",
        "CredentialDateMismatch",
    )


@pytest.mark.parametrize(("later", "code"), [(16 * 60, "RequestTimeTooSkewed"), (-16 * 60, "RequestTimeTooSkewed")])
def test_refuses_a_date_that_is_not_now(later: float, code: str) -> None:
    assert refused(signed(), later=later) == code
    verify(signed(), later=later * 14 / 16)


@pytest.mark.parametrize("expected", [None, "another"])
def test_refuses_a_token_that_is_not_the_keys(expected: str | None) -> None:
    assert refused(signed(key=SESSION), credential=Credential("secret", expected)) == "InvalidToken"


def test_refuses_a_session_without_its_token() -> None:
    assert refused(signed(), credential=Credential("secret", "token")) == "InvalidToken"


MALFORMED = {
    "nothing": (None, "MissingAuthenticationToken"),
    "empty": ("", "IncompleteSignature"),
    "basic": ("Basic YTpi", "IncompleteSignature"),
    "version 2": ("AWS AKIDEXAMPLE:c2lnbmF0dXJl", "IncompleteSignature"),
    "version 4a": (
        "AWS4-ECDSA-P256-SHA256 Credential=A/20260101/s3/aws4_request, SignedHeaders=host, Signature=0",
        "IncompleteSignature",
    ),
    "no signature": ("AWS4-HMAC-SHA256 Credential=A/20260101/r/s/aws4_request, SignedHeaders=host", "IncompleteSignature"),
    "two keys": (
        "AWS4-HMAC-SHA256 Credential=A/20260101/r/s/aws4_request, Credential=B/20260101/r/s/aws4_request, "
        "SignedHeaders=host, Signature=0",
        "IncompleteSignature",
    ),
    "no scope": ("AWS4-HMAC-SHA256 Credential=A, SignedHeaders=host, Signature=0", "IncompleteSignature"),
    "unsorted headers": (
        "AWS4-HMAC-SHA256 Credential=A/20260101/r/s/aws4_request, SignedHeaders=x;host, Signature=0",
        "SignatureDoesNotMatch",
    ),
}


@pytest.mark.parametrize(("header", "code"), MALFORMED.values(), ids=MALFORMED)
def test_refuses_a_header_that_is_no_signature(header: str | None, code: str) -> None:
    assert refused(with_header(signed(), "authorization", header)) == code


def test_refuses_a_host_that_is_not_signed() -> None:
    request = signed()
    header = str(request.header("authorization")).replace(";host;", ";")
    assert refused(with_header(request, "authorization", header)) == "SignatureDoesNotMatch"


@pytest.mark.parametrize("target", ["*", "http://127.0.0.1/", "/a#b"])
def test_refuses_a_target_that_is_no_path(target: str) -> None:
    assert refused(signed()._replace(path=target)) == "IncompleteSignature"


@pytest.mark.parametrize(
    "declared", ["UNSIGNED-PAYLOAD", "STREAMING-UNSIGNED-PAYLOAD-TRAILER", "STREAMING-AWS4-HMAC-SHA256-PAYLOAD"]
)
def test_only_s3_takes_a_body_that_is_not_signed_as_a_whole(declared: str) -> None:
    assert refused(signed(headers={**JSON, "X-Amz-Content-SHA256": declared})) == "SignatureDoesNotMatch"


@pytest.mark.parametrize("declared", ["UNSIGNED-PAYLOAD", "STREAMING-UNSIGNED-PAYLOAD-TRAILER"])
def test_s3_takes_a_body_that_is_declared_unsigned(declared: str) -> None:
    request = signed(path="/b/k", method="PUT", headers={"X-Amz-Content-SHA256": declared}, service="s3")
    verify(request, b"whatever")


def test_refuses_a_body_of_s3_that_is_declared_in_no_known_way() -> None:
    assert refused(signed(path="/b/k", headers={"X-Amz-Content-SHA256": "anything"}, service="s3")) == "SignatureDoesNotMatch"


# ---- presigned


def presigned(
    signer: Callable[..., Any] = S3SigV4QueryAuth, service: str = "s3", key: Credentials = KEY, path: str = "/b/k"
) -> Received:
    request = AWSRequest("GET", f"http://{HOST}{path}")
    signer(key, service, "us-west-2", expires=600).add_auth(request)
    return received(request)


@pytest.mark.parametrize(("signer", "service"), [(S3SigV4QueryAuth, "s3"), (SigV4QueryAuth, "sts")])
def test_takes_a_presigned_url_until_it_expires(signer: Callable[..., Any], service: str) -> None:
    url = presigned(signer, service)
    signed_at = datetime.strptime(parse_qs(url.query)["X-Amz-Date"][0], "%Y%m%dT%H%M%S%z")
    verify(url, b"", later=600, since=signed_at)
    assert refused(url, b"", later=601, since=signed_at) == "RequestExpired"
    assert refused(url, b"", later=-16 * 60, since=signed_at) == "RequestTimeTooSkewed"


def test_takes_a_presigned_url_of_a_session() -> None:
    verify(presigned(key=SESSION), b"", credential=Credential("secret", "token"))
    assert refused(presigned(key=SESSION), b"", credential=Credential("secret", "another")) == "InvalidToken"


@pytest.mark.parametrize(
    ("old", "new", "code"),
    [
        ("X-Amz-Expires=600", "X-Amz-Expires=604800", "SignatureDoesNotMatch"),
        ("X-Amz-Expires=600", "X-Amz-Expires=604801", "IncompleteSignature"),
        ("X-Amz-Expires=600", "X-Amz-Expires=-1", "IncompleteSignature"),
        ("X-Amz-Signature=", "X-Amz-Signature=0", "SignatureDoesNotMatch"),
        ("X-Amz-Signature=", "x-amz-signature=", "IncompleteSignature"),
        ("X-Amz-Algorithm=AWS4-HMAC-SHA256&", "", "IncompleteSignature"),
        ("us-west-2", "eu-west-1", "SignatureDoesNotMatch"),
        (
            "X-Amz-Credential=",
            "X-Amz-Credential=AKIDOTHER%2F20260101%2Fr%2Fs3%2Faws4_request&X-Amz-Credential=",
            "IncompleteSignature",
        ),
        ("X-Amz-SignedHeaders=host", "X-Amz-SignedHeaders=", "IncompleteSignature"),
    ],
)
def test_refuses_a_presigned_url_that_was_changed(old: str, new: str, code: str) -> None:
    url = presigned()
    assert old in url.query
    assert refused(url._replace(query=url.query.replace(old, new)), b"") == code


def test_refuses_more_in_a_presigned_url_than_was_signed() -> None:
    url = presigned()
    assert refused(url._replace(query=f"{url.query}&acl="), b"") == "SignatureDoesNotMatch"
    assert refused(with_header(url, "x-amz-acl", "public-read"), b"") == "SignatureDoesNotMatch"
    assert refused(presigned(SigV4QueryAuth, "sts"), b"Action=DeleteRole") == "SignatureDoesNotMatch"


def test_refuses_a_request_that_is_signed_in_header_and_query() -> None:
    request = signed()
    assert refused(request._replace(query=presigned().query)) == "InvalidArgument"
    assert refused(request._replace(query="AWSAccessKeyId=AKIDOTHER")) == "InvalidArgument"


def legacy(path: str = "/b/k", key: Credentials = KEY) -> Received:
    request = AWSRequest("GET", f"http://{HOST}{path}")
    HmacV1QueryAuth(key, 600).add_auth(request)
    return received(request)


def test_takes_an_old_presigned_url_of_s3_until_it_expires() -> None:
    verify(legacy(), b"")
    verify(legacy("/b/k?versionId=1"), b"")
    verify(legacy(key=SESSION), b"", credential=Credential("secret", "token"))
    assert refused(legacy(), b"", later=602) == "RequestExpired"
    assert refused(legacy(), b"", credential=Credential("another")) == "SignatureDoesNotMatch"
    assert refused(legacy()._replace(path="/b/other"), b"") == "SignatureDoesNotMatch"


def test_refuses_what_an_old_presigned_url_does_not_cover() -> None:
    assert refused(legacy()._replace(query=f"{legacy().query}&Action=DeleteStack"), b"") == "MissingAuthenticationToken"


# ---- what a presigned url lets its holder do besides

FORM = "application/x-www-form-urlencoded"


@pytest.mark.parametrize("kind", [FORM, f"{FORM}; charset=utf-8", FORM.upper(), f" {FORM}", "multipart/form-data; boundary=x"])
def test_a_presigned_url_of_s3_takes_no_form_which_would_name_another_operation(kind: str) -> None:
    """Its body is not signed, and services are found by the `Action` of a form."""
    assert refused(with_header(presigned(), "content-type", kind), b"Action=CreateUser") == "SignatureDoesNotMatch"
    twice = with_header(with_header(presigned(), "content-type", "text/plain"), "x", "y")
    assert refused(twice._replace(headers=(*twice.headers, ("content-type", kind))), b"Action=A") == "SignatureDoesNotMatch"


def test_a_presigned_url_of_s3_takes_other_types_of_content() -> None:
    office = "application/vnd.openxmlformats-officedocument.wordprocessingml.document"
    for kind in ("", "text/plain", "application/json", office):
        verify(with_header(presigned(), "content-type", kind), b"whatever")


def test_a_body_that_is_declared_unsigned_is_a_form_only_if_that_is_signed() -> None:
    headers = {"X-Amz-Content-SHA256": "UNSIGNED-PAYLOAD"}
    request = signed(path="/b/k", method="PUT", headers=headers, service="s3")
    assert refused(with_header(request, "content-type", FORM), b"Action=A") == "SignatureDoesNotMatch"
    verify(signed(path="/b/k", method="PUT", headers={**headers, "Content-Type": FORM}, service="s3"), b"a=b")


def test_a_presigned_url_that_names_the_hash_of_its_body_takes_no_other() -> None:
    digest = hashlib.sha256(b"mine").hexdigest()

    class Signer(S3SigV4QueryAuth):
        def payload(self, request: AWSRequest) -> str:
            return digest

    url = presigned(Signer, path=f"/b/k?X-Amz-Content-Sha256={digest}")
    verify(url, b"mine")
    assert refused(url, b"other") == "SignatureDoesNotMatch"


@pytest.mark.parametrize("kind", [FORM, "multipart/form-data"])
def test_an_old_presigned_url_takes_no_form(kind: str) -> None:
    request = AWSRequest("POST", f"http://{HOST}/b/k", {"Content-Type": kind})
    signer = HmacV1QueryAuth(KEY, 600)
    signer.add_auth(request)
    url = received(request)
    kept = url.query.replace(f"&content-type={kind.replace('/', '%2F')}", "")
    assert refused(url._replace(query=kept), b"Action=CreateUser") == "SignatureDoesNotMatch"


@pytest.mark.parametrize("name", ["Content-Type", "Content-MD5"])
def test_an_old_presigned_url_takes_a_header_that_it_signs_once(name: str) -> None:
    twice = (*legacy().headers, (name.lower(), "a"), (name.lower(), "b"))
    assert refused(legacy()._replace(headers=twice)) == "IncompleteSignature"


def test_an_old_presigned_url_takes_no_other_signature_beside_its_own() -> None:
    url = legacy()
    other = "AWS4-HMAC-SHA256 Credential=AKIDEXAMPLE/20260101/us-west-2/iam/aws4_request, SignedHeaders=host, Signature=0"
    for header in (other, "AWS AKIDEXAMPLE:c2ln", "Basic YTpi", ""):
        assert refused(with_header(url, "authorization", header), b"") == "InvalidArgument"
    assert refused(url._replace(query=f"{presigned().query}&{url.query}"), b"") == "InvalidArgument"
    assert refused(url._replace(query=f"{url.query}&X-Amz-Signature=0"), b"") == "InvalidArgument"


@pytest.mark.parametrize("name", ["%61cl", "%74agging", "ac%6C", "version%49d"])
def test_an_old_presigned_url_takes_no_parameter_under_an_encoded_name(name: str) -> None:
    """The signature covers the name as it is written, and the service reads what it means."""
    assert refused(legacy()._replace(query=f"{legacy().query}&{name}=1"), b"") == "IncompleteSignature"


ODD_TARGETS = {
    "a fragment": "/b/k#x",
    "a name in brackets": "[x",
    "no slash": "*",
    "another host": "http://[evil/",
    "a tab": "/b\t/k",
    "a line": "/b\r\n/k",
    "a space": "/b /k",
    "a letter that is none of ascii": "/b/\xfc",
    "nothing": "",
}


@pytest.mark.parametrize("target", ODD_TARGETS.values(), ids=ODD_TARGETS)
@pytest.mark.parametrize("url", [legacy, presigned, signed])
def test_every_signature_needs_a_target_that_is_written_plainly(url: Callable[[], Received], target: str) -> None:
    assert refused(url()._replace(path=target), b"") == "IncompleteSignature"


@pytest.mark.parametrize("url", [legacy, presigned, signed])
@pytest.mark.parametrize("more", ["#", "\xfc", "\n", "\x00"])
def test_every_signature_needs_a_query_that_is_written_plainly(url: Callable[[], Received], more: str) -> None:
    assert refused(url()._replace(query=f"{url().query}&acl{more}"), b"") == "IncompleteSignature"


# ---- nonsense in the place of a signature


def header_of(signature: str) -> str:
    day = datetime.now(UTC).strftime("%Y%m%d")
    return f"AWS4-HMAC-SHA256 Credential=A/{day}/r/s/aws4_request, SignedHeaders=date;host, Signature={signature}"


@pytest.mark.parametrize(
    "date",
    [
        "Fri, 31 Dec 9999 23:59:59 -2300",
        "Fri, 31 Dec 99999999999 23:59:59 +0000",
        "Mon, 99 Jan 2026 99:99:99 +9999999999",
        "",
        "\xfc",
        "0",
    ],
)
def test_a_malformed_date_is_refused(date: str) -> None:
    request = with_header(with_header(signed(), "x-amz-date", None), "date", date)
    assert refused(with_header(request, "authorization", header_of("0"))) == "IncompleteSignature"


def test_a_signature_in_other_letters_is_refused() -> None:
    stamp = str(signed().header("x-amz-date"))
    header = str(signed().header("authorization"))
    odd = header.partition("Signature=")[0] + "Signature=\xfc"
    assert refused(with_header(with_header(signed(), "authorization", odd), "x-amz-date", stamp)) == "SignatureDoesNotMatch"
    url = presigned()
    assert refused(url._replace(query=url.query.partition("X-Amz-Signature=")[0] + "X-Amz-Signature=%C3%BC")) == (
        "SignatureDoesNotMatch"
    )
    old = legacy()
    assert refused(old._replace(query=old.query.replace("Signature=", "Signature=%C3%BC"))) == "SignatureDoesNotMatch"


@pytest.mark.parametrize("error", [ValueError, OverflowError])
def test_whatever_fails_while_a_claim_is_read_is_a_refusal(error: type[Exception], monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*given: object) -> None:
        raise error("nonsense")

    monkeypatch.setattr(signatures, "_in_header", fail)
    assert refused(signed()) == "IncompleteSignature"


# ---- what is known before the body


DECLARED = ("UNSIGNED-PAYLOAD", "STREAMING-UNSIGNED-PAYLOAD-TRAILER", "STREAMING-AWS4-HMAC-SHA256-PAYLOAD", "0" * 64)


@pytest.mark.parametrize("declared", DECLARED)
def test_a_declared_body_is_refused_by_the_head_alone(declared: str) -> None:
    request = signed(path="/b/k", method="PUT", headers={"X-Amz-Content-SHA256": declared}, service="s3")
    assert head_alone(request)
    with pytest.raises(Refused, match="does not match"):
        head_alone(request, Credential("another"))


@pytest.mark.parametrize("url", [presigned, legacy])
def test_a_presigned_url_of_s3_is_refused_by_the_head_alone(url: Callable[[], Received]) -> None:
    assert head_alone(url())
    with pytest.raises(Refused, match="does not match"):
        head_alone(url(), Credential("another"))


def test_an_undeclared_body_is_a_part_of_the_signature() -> None:
    assert not head_alone(signed(), Credential("another"))
    assert not head_alone(presigned(SigV4QueryAuth, "sts"), Credential("another"))


def head_alone(request: Received, credential: Credential = SECRET) -> bool:
    """Whether the head names the signer. Like the guard, it refuses before it reads the body."""
    return claim_in(request, datetime.now(UTC)).verify_head(request, credential)


# ---- chunks, with the example that AWS documents

EXAMPLE_SECRET = "wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY"
STAMP, SCOPE = "20130524T000000Z", "20130524/us-east-1/s3/aws4_request"
DATA = b"a" * 66560
SIGNED = (
    "4f232c4386841ef735655705268965c44a0e4690baa4adea153f7db9fa80a0a9",
    "ad80c730a21e5b8d04586a2213dd63b9a0e99e0e2307b0ade35a65485a288648",
    "0055627c9e194cb4542bae2aa5492e3c1575bbb81b612b7d234b86a503ef5497",
    "b6c6ea8a5354eaf15b3cb7646744f4275b71ea724fed81ceb9323e279d449df9",
)
WITH_TRAILER = (
    "106e2a8a18243abcf37539882f36619c00e2dfc72633413f02d3b74544bfeb8e",
    "b474d8862b1487a5145d686f57f013e54db672cee1c953b3010fb58501ef5aa2",
    "1c1344b170168f8e65b41376b44b20fe354e373826ccbbe2c1d40a8cae51e5c7",
    "2ca2aba2005185cf7159c6277faf83795951dd77a3a99e6e65d5c9f85863f992",
)
TRAILER = (
    b"x-amz-checksum-crc32c:sOO8/Q==\r\n"
    b"x-amz-trailer-signature:d81f82fc3505edab99d459891051a732e8730629a2e4a59689829ca17fe2e435\r\n\r\n"
)


def chunked(of: tuple[str, ...], end: bytes = b"\r\n", data: bytes = DATA) -> bytes:
    pieces = (data[:65536], data[65536:], b"")
    made = [b"%x;chunk-signature=%s\r\n%s" % (len(piece), mark.encode(), piece) for piece, mark in zip(pieces, of[1:], strict=True)]
    return b"\r\n".join(made) + end


def chain(of: tuple[str, ...]) -> Chain:
    key = signatures._signing_key(EXAMPLE_SECRET, "20130524", "us-east-1", "s3")
    signer = signatures._Signer.__new__(signatures._Signer)
    signer._key = key
    return Chain(STAMP, SCOPE, of[0], signer.sign)


def test_takes_the_chunks_of_the_example() -> None:
    assert chain(SIGNED).matches(chunked(SIGNED), trailer=False)
    assert chain(WITH_TRAILER).matches(chunked(WITH_TRAILER, TRAILER), trailer=True)


@pytest.mark.parametrize(
    "body",
    [
        b"",
        DATA,
        chunked(SIGNED)[:-100],
        chunked(SIGNED) + b"more",
        chunked(SIGNED, data=b"b" + DATA[1:]),
        chunked(SIGNED, data=DATA[:-1] + b"b"),
        chunked((*SIGNED[:3], SIGNED[2])),
        b"0;chunk-signature=" + SIGNED[3].encode() + b"\r\n\r\n",
    ],
)
def test_refuses_chunks_that_were_changed(body: bytes) -> None:
    assert not chain(SIGNED).matches(body, trailer=False)


@pytest.mark.parametrize("end", [b"\r\n", TRAILER.replace(b"sOO8", b"sOO9"), TRAILER.replace(b"d81f", b"d81e"), TRAILER + b"more"])
def test_refuses_a_trailer_that_was_changed(end: bytes) -> None:
    assert not chain(WITH_TRAILER).matches(chunked(WITH_TRAILER, end), trailer=True)


def test_a_body_in_chunks_is_verified_with_its_request() -> None:
    request = signed(
        path="/b/k", method="PUT", headers={"X-Amz-Content-SHA256": "STREAMING-AWS4-HMAC-SHA256-PAYLOAD"}, service="s3"
    )
    claimed = claim(request)
    signer = signatures._Signer(claimed, "secret", "")
    text = f"AWS4-HMAC-SHA256-PAYLOAD\n{claimed.timestamp}\n{claimed.day}/us-west-2/s3/aws4_request\n{claimed.signature}\n"
    empty = hashlib.sha256(b"").hexdigest()
    body = f"0;chunk-signature={signer.sign(f'{text}{empty}{chr(10)}{empty}')}\r\n\r\n".encode()
    verify(request, body)
    assert refused(request, body.replace(b"signature=", b"signature=0")) == "SignatureDoesNotMatch"
