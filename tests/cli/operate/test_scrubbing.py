from __future__ import annotations

import json
from typing import Any

import pytest

from hyperpod_constructs.cli.operate.scrubbing import Lines, Scrubber

NAMED = {"value with a secret's name": 1}
PEM = "MIIEvQIBADANBgkqhkiG9w0BAQEFAASCBKcwggSjAgEAAoIBAQC7VJTUt9Us8cKj"


@pytest.mark.parametrize(
    "value",
    [
        {"MasterUserPassword": "hunter2"},
        {"pass": "hunter2"},
        {"Authorization": "Digest a\nhunter2"},
        {"Name": "DB_PASSWORD", "Value": "hunter2"},
        {"ParameterKey": "DbPassword", "ParameterValue": "hunter2"},
        {"Environment": {"Variables": {"API_TOKEN": "hunter2 and more"}}},
        {"UserData": ["#!/bin/sh", "export PGPASSWORD=hunter2", "echo done"]},
        {"Settings": '{"user": "bob", "password": "hunter2"}'},
    ],
)
def test_a_secret_in_a_structure_is_masked_and_counted_once(value: dict[str, Any]) -> None:
    scrubber = Scrubber()
    found = json.dumps(scrubber.data(value))
    assert "hunter2" not in found
    assert scrubber.counts == NAMED


@pytest.mark.parametrize(
    "value",
    [
        {"SecretArn": "arn:aws:secretsmanager:us-west-2:111122223333:secret:db-AbCdEf"},
        {"Tags": [{"Key": "Name", "Value": "trainer"}], "KeyName": "mine", "Count": 2, "Nothing": None},
        {"Type": "AWS::IAM::Policy", "Action": ["s3:GetObject"], "MaxTokens": "512"},
    ],
)
def test_what_is_no_secret_stays(value: dict[str, Any]) -> None:
    scrubber = Scrubber()
    assert scrubber.data(value) == value
    assert scrubber.counts == {}


def test_a_private_key_over_many_lines_of_a_stream_leaves_nothing() -> None:
    scrubber = Scrubber()
    lines = Lines(scrubber)
    log = [
        ("a", "-----BEGIN RSA PRIVATE KEY-----"),
        ("a", PEM),
        ("b", "beside it"),
        ("a", "c2hvcnQ="),
        ("a", "-----END RSA PRIVATE KEY-----"),
    ]
    shown = [lines.scrubbed(stream, line) for stream, line in [*log, ("a", "after it")]]
    assert shown == ["***", "***", "beside it", "***", "***", "after it"]
    assert scrubber.counts == {"private key": 1}


def test_a_key_that_never_ends_hides_the_log_for_a_while_only() -> None:
    lines = Lines(Scrubber())
    lines.scrubbed("a", "-----BEGIN PRIVATE KEY-----")
    shown = [lines.scrubbed("a", "words") for _ in range(300)]
    assert (shown[0], shown[-1]) == ("***", "words")


def test_a_long_text_keeps_every_line() -> None:
    scrubber = Scrubber()
    text = "".join(f"line {number} password=hunter{number}\n" for number in range(10_000))
    assert scrubber.text(text) == "".join(f"line {number} password=***\n" for number in range(10_000))
    assert scrubber.counts == {"value with a secret's name": 10_000}
    assert scrubber.shortened == 0


def test_a_long_line_loses_its_middle_and_is_counted() -> None:
    scrubber = Scrubber()
    assert len(scrubber.text("word " * 20_000)) < 50_000
    assert scrubber.shortened == 1


def test_a_known_name_stays_however_random_it_looks() -> None:
    name = "HyperPodNodeInventoryProviderLogs3FB5D437"[-40:]
    scrubber = Scrubber()
    assert scrubber.data({name: {"Ref": name}}) == {"***": {"Ref": "***"}}
    value = {name: {"Fn::GetAtt": [name, "Arn"]}, "Sub": f"${{{name}}} password=hunter2 (name 7)"}
    assert scrubber.data(value, {name}) == {**value, "Sub": f"${{{name}}} password=*** (name 7)"}


def test_two_masked_names_keep_both_values() -> None:
    first, second = "wJalrXUtnFEMI7K7MDENGabPxRfiCYEXAMPLEKEY", "aJalrXUtnFEMI7K7MDENGabPxRfiCYEXAMPLEKEY"
    assert Scrubber().data({first: 1, second: 2}) == {"***": 1, "*** 1": 2}
