"""The functions of custom resources, by counting: calls and bytes do not depend on the machine."""

from __future__ import annotations

import gzip
from pathlib import Path

import botocore
import pytest

from bench.functions import HANDLERS, MOST_BYTES, MOST_CALLS, NODES, archive_bytes, gate_calls
from hyperpod_constructs.custom_resources.handlers.wire.models import MODELS

DATA = Path(botocore.__file__).parent / "data"


def test_a_look_of_the_gate_makes_few_calls() -> None:
    assert gate_calls() <= MOST_CALLS
    assert gate_calls(NODES + 100) == gate_calls() + 1


def test_the_archive_is_small() -> None:
    assert 0 < archive_bytes() <= MOST_BYTES


@pytest.mark.parametrize("module", HANDLERS)
def test_a_handler_reads_a_third_of_the_bytes_of_whole_models_at_its_start(module: str) -> None:
    vendored = {service for service in HANDLERS[module] if (MODELS / service).is_dir()}
    whole = {service: _whole(service) for service in HANDLERS[module]}
    read = sum(_vendored(service) if service in vendored else whole[service] for service in whole)
    assert read <= sum(whole.values()) / 3


def _vendored(service: str) -> int:
    [path] = (MODELS / service).glob("*/service-2.json")
    return path.stat().st_size


def _whole(service: str) -> int:
    path = sorted((DATA / service).glob("*/service-2.json.gz"))[-1]
    return len(gzip.decompress(path.read_bytes()))
