from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from tests.lint.acknowledgements import Acknowledgement, Finding, read, unacknowledged, unused

REASON = "the account's trail of data events says who read what"
FINDING = Finding(tool="cdk-nag", rule="AwsSolutions-S1", resource="Foundation/Data/Resource", message="no access log")
ENTRY = Acknowledgement(tool="cdk-nag", rule="AwsSolutions-S1", resource="Foundation/Data/Resource", reason=REASON)


def test_an_acknowledged_finding_and_a_used_acknowledgement_pass() -> None:
    assert unacknowledged([FINDING], [ENTRY]) == []
    assert unused([FINDING], [ENTRY]) == []


@pytest.mark.parametrize(
    "other",
    [
        replace(FINDING, tool="checkov"),
        replace(FINDING, rule="AwsSolutions-S10"),
        replace(FINDING, resource="Foundation/Data/ResourceToo"),
        replace(FINDING, resource="More/Foundation/Data/Resource"),
    ],
)
def test_another_tool_rule_or_resource_is_not_covered(other: Finding) -> None:
    assert unacknowledged([FINDING, other], [ENTRY]) == [other]
    assert unused([other], [ENTRY]) == [ENTRY]


@pytest.mark.parametrize(
    ("pattern", "rule", "covered"),
    [
        ("IAM5[Resource::*]", "IAM5[Resource::arn:aws:s3:::x]", True),
        (r"IAM5[Resource::\*]", "IAM5[Resource::*]", True),
        (r"IAM5[Resource::\*]", "IAM5[Resource::arn:aws:s3:::x]", False),
        (r"IAM5[Resource::*/\*]", "IAM5[Resource::arn:aws:s3:::x/*]", True),
        (r"IAM5[Resource::*/\*]", "IAM5[Resource::arn:aws:s3:::x/y]", False),
        ("IAM5.", "IAM5x", False),
    ],
)
def test_a_star_is_any_text_unless_escaped(pattern: str, rule: str, covered: bool) -> None:
    assert replace(ENTRY, rule=pattern).covers(replace(FINDING, rule=rule)) is covered


@pytest.mark.parametrize(("key", "value"), [("tool", "nagger"), ("reason", "  "), ("reason", "false positive")])
def test_fails_for_an_unknown_tool_or_no_reason(key: str, value: str) -> None:
    with pytest.raises(ValueError, match=r"is no (tool|reason)"):
        replace(ENTRY, **{key: value})


def test_fails_for_an_unknown_key(tmp_path: Path) -> None:
    file = tmp_path / "acknowledged.toml"
    file.write_text("[[acknowledged]]\n" + "".join(f'{key} = "{REASON}"\n' for key in ("tool", "rule", "path", "reason")))
    with pytest.raises(TypeError, match="path"):
        read(file)
