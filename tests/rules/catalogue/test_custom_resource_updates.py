"""Functions of custom resources: an update writes what a creation writes, and a failure is answered."""

from __future__ import annotations

from typing import Any

import pytest

from tests.rules.catalogue.templates import findings
from tests.rules.catalogue.text_bases import att, function, resource

FILES = {"a.sh": "echo a", "settings.env": "A=1"}
BY_FILES = 'for name, text in wanted["Files"].items(): s3.put_object(Bucket="b", Key=name, Body=text.encode())'
BY_KEY = 's3.put_object(Bucket="b", Key=wanted["Key"], Body=wanted["Body"])'
HANDLER = """
import boto3
import cfnresponse

s3 = boto3.client("s3")


def handler(event, context):
    kind, wanted = event["RequestType"], event["ResourceProperties"]
    try:
        if kind == "Delete":
            print("stays")
        elif WHEN:
            WRITE
        cfnresponse.send(event, context, cfnresponse.SUCCESS, {}, "files")
    except Exception as error:
        cfnresponse.send(event, context, cfnresponse.FAILED, {}, "files", reason=str(error))
"""


def said(code: str, **properties: Any) -> list[str]:
    own = resource("Custom::Files", ServiceToken=att("Writer"), ServiceTimeout=60, **properties)
    found = findings({"Resources": {"Files": own, "Writer": function(code)}}, rules="HP-TXT")
    return [one.message for one in found]


def code(when: str = "kind", write: str = BY_FILES) -> str:
    return HANDLER.replace("WHEN", when).replace("WRITE", write)


NOTHING = "calls PutObject to create Files, and nothing to update it: its changes are not written"


@pytest.mark.parametrize(
    ("given", "properties"),
    [
        (code('kind == "Create"'), {"Files": FILES}),
        (code('kind != "Update"'), {"Files": FILES}),
        (code('kind not in ("Update",)'), {"Scripts": FILES, "Files": FILES}),
        (code('kind == "Create"', BY_KEY), {"Bucket": "b", "Key": "k", "Body": "text"}),
    ],
)
def test_fails_update_that_writes_nothing(given: str, properties: dict[str, Any]) -> None:
    (found,) = said(given, **properties)
    assert NOTHING in found


@pytest.mark.parametrize(
    ("given", "properties"),
    [
        (code(), {"Files": FILES}),
        (code('kind in ("Create", "Update")'), {"Files": FILES}),
        (code('kind == "Create"', 's3.put_object(Bucket="b", Key="made", Body=b"")'), {"Prefix": "runs"}),
        (code('kind == "Create" or event["OldResourceProperties"]["Files"] != wanted["Files"]'), {"Files": FILES}),
        (
            code('kind == "Create"')
            .replace('print("stays")', "pass")
            .replace("cfnresponse.send(", "others(event, s3)\n        cfnresponse.send(", 1),
            {"Files": FILES},
        ),
        (
            code('kind == "Create"')
            .replace('print("stays")', "pass")
            .replace("cfnresponse.SUCCESS", "cfnresponse.FAILED if kind == 'Update' else cfnresponse.SUCCESS"),
            {"Files": FILES},
        ),
    ],
)
def test_an_update_that_may_write(given: str, properties: dict[str, Any]) -> None:
    assert NOTHING not in "".join(said(given, **properties))


INNER = """        try:
            s3.head_bucket(Bucket="b")
        except s3.exceptions.ClientError:
            raise
        if kind =="""
AGAIN = "catches a failure and raises it again, and nothing answers it"


@pytest.mark.parametrize(
    ("old", "new", "wrong"),
    [
        ('cfnresponse.send(event, context, cfnresponse.FAILED, {}, "files", reason=str(error))', "raise", True),
        (
            'cfnresponse.send(event, context, cfnresponse.FAILED, {}, "files", reason=str(error))',
            "raise RuntimeError() from error",
            True,
        ),
        ('cfnresponse.FAILED, {}, "files", reason=str(error))', 'cfnresponse.FAILED, {}, "files")\n        raise', False),
        ("except Exception as error:", "except ValueError:\n        raise\n    except Exception as error:", True),
        (
            "        if kind ==",
            INNER,
            False,
        ),
        (
            '        cfnresponse.send(event, context, cfnresponse.FAILED, {}, "files", reason=str(error))',
            '        raise\n    finally:\n        cfnresponse.send(event, context, cfnresponse.FAILED, {}, "files")',
            False,
        ),
    ],
)
def test_a_failure_that_is_raised_again(old: str, new: str, wrong: bool) -> None:
    assert old in HANDLER
    assert (AGAIN in "".join(said(code().replace(old, new), Files=FILES))) is wrong
