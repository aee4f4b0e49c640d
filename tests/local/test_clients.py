"""The clients by which services reach each other: to the caller's endpoint, made once, with the partition's names."""

from __future__ import annotations

import json
from pathlib import Path
from unittest.mock import Mock

import botocore
import pytest

from hyperpod_constructs.local.clients import BotoClients, dns_suffix, partition
from hyperpod_constructs.local.models import ServiceModels
from tests.local.moto_cloud import CALLER


def test_a_client_goes_to_the_callers_endpoint_and_is_made_once() -> None:
    clients = BotoClients("secret")
    made = clients("logs", CALLER)
    assert made.meta.endpoint_url == CALLER.endpoint
    assert made.meta.region_name == CALLER.region
    assert clients("logs", CALLER) is made


def test_newer_models_come_first(tmp_path: Path) -> None:
    metadata = {"apiVersion": "2014-03-28", "protocol": "json", "endpointPrefix": "logs", "serviceId": "CloudWatch Logs"}
    model = json.dumps({"version": "2.0", "metadata": metadata, "operations": {}})
    folder = tmp_path / "logs" / "2099-01-01"
    folder.mkdir(parents=True)
    (folder / "service-2.json").write_text(model)
    assert BotoClients("secret", tmp_path)("logs", CALLER).meta.service_model.operation_names == []


def test_clients_and_judges_share_one_reading_of_a_model(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "logs").symlink_to(Path(botocore.__file__).parent / "data" / "logs")
    read = Mock(wraps=json.loads)
    monkeypatch.setattr("botocore.loaders.json.loads", read)
    model = ServiceModels(tmp_path).service("logs")
    before = read.call_count
    client = BotoClients("secret", tmp_path)("logs", CALLER)
    assert client.meta.service_model.operation_names == model.operation_names
    assert before > 0
    assert not [call for call in read.mock_calls[before:] if "CreateLogGroup" in call.args[0]]


@pytest.mark.parametrize(
    ("region", "names"),
    [
        ("us-west-2", ("aws", "amazonaws.com")),
        ("us-gov-west-1", ("aws-us-gov", "amazonaws.com")),
        ("cn-north-1", ("aws-cn", "amazonaws.com.cn")),
    ],
)
def test_partitions(region: str, names: tuple[str, str]) -> None:
    assert (partition(region), dns_suffix(region)) == names
