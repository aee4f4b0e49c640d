"""A resource's tags are those that moto finds, without a look at the tags of other resources."""

from __future__ import annotations

from typing import Any

import pytest
from moto.ec2.models import ec2_backends
from moto.ec2.models.core import TaggedEC2Resource

from hyperpod_constructs.local.ec2.tags import look_up_by_id
from tests.local.moto_cloud import CALLER, moto_cloud


def test_tags_are_those_that_moto_finds(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(TaggedEC2Resource, "get_tags", TaggedEC2Resource.get_tags)  # comes back after the test
    with moto_cloud() as cloud:
        ec2 = cloud.client("ec2", CALLER)
        tags = [{"Key": "Name", "Value": "a"}, {"Key": "team", "Value": "b*"}]
        ec2.create_tags(Resources=[cloud.subnet], Tags=tags)
        backend: Any = ec2_backends[CALLER.account][CALLER.region]
        tagged, plain = backend.get_subnet(cloud.subnet), backend.vpcs[cloud.vpc]
        ec2.delete_tags(Resources=[cloud.vpc], Tags=[{"Key": tag["key"]} for tag in plain.get_tags()])
        expected = tagged.get_tags()
        assert {tag["key"] for tag in expected} >= {"Name", "team"}
        look_up_by_id()
        monkeypatch.setattr(type(backend), "describe_tags", None)
        assert tagged.get_tags() == tagged.tag_list == expected
        assert plain.get_tags() == []
        tagged.id = None
        assert tagged.get_tags() == []
