from __future__ import annotations

import json

import pytest
from botocore.exceptions import ClientError, EndpointConnectionError

from hyperpod_constructs.custom_resources.handlers.aws import client, transient, unsettled
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
    assert not transient(refusal("ValidationException"))
    assert not transient(KeyError("x"))
    assert unsettled(refusal("AccessDeniedException", 403))
    assert not unsettled(refusal("ValidationException"))


def test_client_knows_the_vendored_model_and_an_endpoint_of_its_own(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("AWS_REGION", "us-west-2")
    monkeypatch.setenv("AWS_DEFAULT_REGION", "us-west-2")
    monkeypatch.setenv("AWS_ENDPOINT_URL", "http://127.0.0.1:9")
    sagemaker = client("sagemaker")
    assert sagemaker.meta.endpoint_url == "http://127.0.0.1:9"
    assert hasattr(sagemaker, "list_cluster_events")
    assert not hasattr(sagemaker, "create_cluster")
    assert sagemaker.meta.config.retries["total_max_attempts"] == 2


def test_a_call_without_an_answer_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY"):
        monkeypatch.setenv(name, "test")
    monkeypatch.setenv("AWS_DEFAULT_REGION", "us-west-2")
    sagemaker = client("sagemaker")

    def refuse(**_: object) -> None:
        raise EndpointConnectionError(endpoint_url="https://sagemaker.example")

    sagemaker.meta.events.register("before-send", refuse)
    monkeypatch.setattr("botocore.endpoint.time.sleep", lambda _: None)
    with pytest.raises(EndpointConnectionError) as failure:
        sagemaker.describe_cluster(ClusterName="demo")
    assert describe(failure.value).startswith("DescribeCluster: EndpointConnectionError: Could not connect")
