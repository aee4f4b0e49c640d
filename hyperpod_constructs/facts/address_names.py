"""Addresses of services with the id of a resource in them (as of 2026-11-29; read, not measured).

Sources: https://docs.aws.amazon.com/prometheus/latest/userguide/AMP-APIReference.html,
https://docs.aws.amazon.com/grafana/latest/userguide/AMG-create-workspace.html,
https://docs.aws.amazon.com/efs/latest/ug/mounting-fs-mount-cmd-dns-name.html and
https://docs.aws.amazon.com/fsx/latest/LustreGuide/mounting-ec2-instance.html
"""

from __future__ import annotations

import re
from typing import NamedTuple

from hyperpod_constructs.facts.arn_names import NAMES, NameForm


class AddressForm(NamedTuple):
    """An address with an id.

    :param place: the address around the id, which is its only group.
    :param service: the service, as ARNs spell it.
    :param name: the form of the id.
    """

    place: re.Pattern[str]
    service: str
    name: NameForm


_OTHER = r"[^./\s\"'=@:,]"
_WORD = rf"(?<!{_OTHER})({_OTHER}{{1,200}})"
_REGION = r"[^./\s\"']{1,64}"
"""A word from its beginning and of bounded length: a long text without an end is read once."""
ADDRESSES = (
    AddressForm(re.compile(r"aps-workspaces\.[^/\s\"']{1,100}/workspaces/([^/\s\"'?]{1,200})"), "aps", NAMES["aps", "workspace/"]),
    AddressForm(re.compile(rf"{_WORD}\.grafana-workspace\."), "grafana", NAMES["grafana", "/workspaces/"]),
    AddressForm(
        re.compile(rf"{_WORD}\.efs\.{_REGION}\.amazonaws\."), "elasticfilesystem", NAMES["elasticfilesystem", "file-system/"]
    ),
    AddressForm(re.compile(rf"{_WORD}\.fsx\.{_REGION}\.amazonaws\."), "fsx", NAMES["fsx", "file-system/"]),
)
"""The addresses of workspaces and file systems."""

SERVICES = {
    "aps-workspaces": "aps",
    "efs": "elasticfilesystem",
    "execute-api": "execute-api",
    "fsx": "fsx",
    "grafana-workspace": "grafana",
    "sqs": "sqs",
}
"""Services in whose hosts the region stands behind this word, as ARNs spell them: each has the ids of its own region alone.

Source: https://docs.aws.amazon.com/general/latest/gr/aws-service-information.html
"""
