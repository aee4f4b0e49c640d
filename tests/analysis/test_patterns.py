"""Texts with unknown parts against patterns."""

from __future__ import annotations

import pytest

from hyperpod_constructs.analysis.schema.patterns import matches
from hyperpod_constructs.analysis.texts.ssm import WHOLES
from tests.templates.models import by_id, model_of

ADDRESS = "${Files.DNSName}@tcp:/${Files.LustreMountName}"


@pytest.mark.parametrize(
    ("pattern", "text", "answer"),
    [
        ("fs-[0-9a-f]+", ADDRESS, False),
        (r"[\w.-]+", ADDRESS, False),
        (r"[\w.-]+@tcp:/[a-z0-9]+", ADDRESS, None),
        (r"[\w.@:/-]+", ADDRESS, None),
        (r"\S+", ADDRESS, None),
        ("[^ ]+", ADDRESS, None),
        (".*", ADDRESS, None),
        (r"[a-z]+/\d+", "${Files}/A", False),
        (r"(?i:[a-z]+/[a-z])", "${Files}/A", None),
        (r"[a-z]+\/[A-F]", "${Files}/A", None),
        ("(?:a|b){1,3}", "${Files}c", False),
        (r"[\s\S]+", "${Files}c", None),
    ],
)
def test_a_character_that_a_pattern_never_takes(pattern: str, text: str, answer: bool | None) -> None:
    model = model_of(f"{{Resources: {{Files: {{Type: AWS::FSx::FileSystem}}, A: {{Type: T, Properties: {{A: !Sub '{text}'}}}}}}}}")
    assert matches(pattern, by_id(model, "A").get("A")) is answer


@pytest.mark.parametrize(
    ("pattern", "wrong"), [("^fs-[0-9a-f]+$", 1), ("^fs-[0-9a-f]+", 0), ("fs", 0), ("^fs-.+$", 0), ("^[^ ]+@tcp:/[a-z0-9]+$", 0)]
)
def test_a_parameter_fits_its_own_pattern(pattern: str, wrong: int) -> None:
    model = model_of(f"""{{Resources: {{
        Files: {{Type: AWS::FSx::FileSystem}},
        Address: {{Type: AWS::SSM::Parameter, Properties: {{AllowedPattern: '{pattern}', Value: !Sub '{ADDRESS}'}}}}}}}}""")
    assert len(list(WHOLES["AWS::SSM::Parameter"](by_id(model, "Address")))) == wrong


CLUSTER = r"^arn:aws[a-z\-]*:sagemaker:[a-z0-9\-]*:[0-9]{12}:cluster/[a-z0-9]{12}$"
PLACE = "${AWS::Region}:${AWS::AccountId}"


@pytest.mark.parametrize(
    ("pattern", "text", "answer"),
    [
        (CLUSTER, f"arn:${{AWS::Partition}}:eks:{PLACE}:cluster/${{Files}}", False),
        (CLUSTER, f"arn:aws:sagemaker:{PLACE}:training-plan/${{Files}}", False),
        (CLUSTER, f"arn:aws:sagemaker:{PLACE}:cluster/${{Files}}", None),
        (CLUSTER, f"arn:aws:${{Other}}:{PLACE}:cluster/${{Files}}", None),
        (CLUSTER, f"arn:aws:sagemaker:{PLACE}:${{Other}}/x", None),
        (f"^$|{CLUSTER[1:]}", f"arn:aws:eks:{PLACE}:cluster/${{Files}}", None),
        ("^arn:aws(-(cn|iso(-[bef])?))?:iam::[0-9]{12}:role/.+$", "arn:aws:sts::${AWS::AccountId}:assumed-role/${Files}/a", False),
        ("^arn:[^:]+:acm:[^:]+:[^:]+:certificate/.+$", f"arn:aws:iam:{PLACE}:server-certificate/${{Files}}", False),
        ("^arn:[a-z-]+:(acm|iam):.+$", f"arn:aws:iam:{PLACE}:server-certificate/${{Files}}", None),
        ("^arn:aws:sso::aws:applicationProvider/.+$", "arn:aws:sso::aws:applicationProvider/${Files}", None),
        ("^arn:aws:imagebuilder:.+:(?:[0-9]{12}|aws):component/.+$", f"arn:aws:imagebuilder:{PLACE}:component/${{Files}}", None),
    ],
)
def test_an_arn_is_of_its_service_and_kind_whatever_its_name(pattern: str, text: str, answer: bool | None) -> None:
    model = model_of(f"""{{Parameters: {{Other: {{Type: String}}}}, Resources: {{
        Files: {{Type: AWS::FSx::FileSystem}}, A: {{Type: T, Properties: {{A: !Sub '{text}'}}}}}}}}""")
    assert matches(pattern, by_id(model, "A").get("A")) is answer
