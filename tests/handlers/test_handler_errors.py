from __future__ import annotations

import json

import pytest
from botocore.exceptions import ClientError, EndpointConnectionError, HTTPClientError, ProxyConnectionError, SSLError

from hyperpod_constructs.custom_resources.handlers.aws import transient, unsettled, whole_client
from hyperpod_constructs.custom_resources.handlers.errors import describe, fit


def refusal(code: str, status: int = 400) -> ClientError:
    response = {"Error": {"Code": code, "Message": "no"}, "ResponseMetadata": {"HTTPStatusCode": status}}
    return ClientError(response, "DescribeCluster")  # type: ignore[arg-type]  # the other metadata is not read


@pytest.mark.parametrize("text", ["x" * 5000, "ä" * 5000, '"\n' * 5000, "\U0001f600" * 3000])
@pytest.mark.parametrize("limit", [200, 2200])
def test_text_fits_as_json_and_keeps_both_ends(text: str, limit: int) -> None:
    short = fit(f"start {text} end", limit)
    assert limit * 0.6 < len(json.dumps(short, ensure_ascii=False).encode()) <= limit
    assert short.startswith("start")
    assert short.endswith("end")


def test_text_that_fits_stays() -> None:
    assert fit("short") == "short"


def test_cause_is_the_innermost_one() -> None:
    outer = RuntimeError("outer")
    outer.__cause__ = refusal("AccessDeniedException", 403)
    assert describe(outer) == "DescribeCluster: AccessDeniedException: no"


def test_kinds_of_errors() -> None:
    assert transient(refusal("ThrottlingException"))
    assert transient(refusal("InternalFailure", 500))
    assert transient(EndpointConnectionError(endpoint_url="https://x"))
    assert transient(SSLError(endpoint_url="https://x", error=OSError("EOF")))
    assert transient(ProxyConnectionError(proxy_url="http://x", error="refused"))
    assert transient(HTTPClientError(error="bad status line"))
    assert not transient(refusal("ValidationException"))
    assert not transient(KeyError("x"))
    assert unsettled(refusal("AccessDeniedException", 403))
    assert not unsettled(refusal("ValidationException"))


def test_a_whole_client_tries_twice_and_names_a_call_without_an_answer(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY"):
        monkeypatch.setenv(name, "test")
    monkeypatch.setenv("AWS_DEFAULT_REGION", "us-west-2")
    s3, asked = whole_client("s3"), []

    def refuse(**_: object) -> None:
        asked.append(1)
        raise EndpointConnectionError(endpoint_url="https://s3.example")

    s3.meta.events.register("before-send", refuse)
    monkeypatch.setattr("botocore.endpoint.time.sleep", lambda _: None)
    with pytest.raises(EndpointConnectionError) as failure:
        s3.get_object(Bucket="scripts", Key="a")
    assert describe(failure.value).startswith("GetObject: EndpointConnectionError: Could not connect")
    assert len(asked) == 2
