"""What fails in a deployment that a template foresees is said, though the defaults are another deployment."""

from __future__ import annotations

import pytest

from hyperpod_constructs.rules.checking import check
from hyperpod_constructs.rules.finding import Finding
from tests.templates.models import model_of

NETWORK = """
  Vpc:
    Type: AWS::EC2::VPC
    Properties: {CidrBlock: 10.0.0.0/16}
"""
ZONES = """
Mappings:
  Zones:
    eu-west-1: {First: euw1-az1, Second: euw1-az2, Name: eu-west-1a}
    ap-south-1: {First: aps1-az1, Second: aps1-az3, Name: ap-south-1b}
"""
IN_ZONES = """
Resources:{network}
  A:
    Type: AWS::EC2::Subnet
    Properties:
      VpcId: !Ref Vpc
      CidrBlock: 10.0.0.0/24
      AvailabilityZoneId: !FindInMap [Zones, !Ref "AWS::Region", First]
  B:
    Type: AWS::EC2::Subnet
    Properties:
      VpcId: !Ref Vpc
      CidrBlock: 10.0.1.0/24
      AvailabilityZoneId: !FindInMap [Zones, !Ref "AWS::Region", Second]
  Group:
    Type: AWS::RDS::DBSubnetGroup
    Properties: {{DBSubnetGroupDescription: of the accounts, SubnetIds: [!Ref A, !Ref B]}}
"""
DECIDED = """
Parameters:
  Size: {Type: String, Default: large, AllowedValues: [large, small]}
  Key: {Type: String, Default: ""}
  Extra: {Type: String, Default: "no"}
Conditions:
  IsLarge: !Equals [!Ref Size, large]
  HasKey: !Not [!Equals [!Ref Key, ""]]
  WithExtra: !Equals [!Ref Extra, "yes"]
Mappings:
  Sizes:
    large: {Days: 365, Bytes: 512}
    small: {Days: 30, Bytes: 128}
Resources:
  Logs:
    Type: AWS::Logs::LogGroup
    Properties:
      LogGroupName: /team/jobs
      RetentionInDays: !FindInMap [Sizes, !Ref Size, Days]
      KmsKeyId: !If [HasKey, !Ref Key, !Ref "AWS::NoValue"]
  Lost:
    Type: AWS::SQS::Queue
    Condition: WithExtra
    Properties: {MessageRetentionPeriod: 86400}
  Kept:
    Type: AWS::SQS::Queue
    Condition: HasKey
    Properties: {KmsMasterKeyId: !Ref Key, DelaySeconds: 10}
"""


def _found(text: str) -> list[Finding]:
    return [one for one in check(model_of(text)) if not one.rule.startswith("HP-RET")]


def _in_zones(old: str = "", new: str = "") -> list[Finding]:
    text = ZONES + IN_ZONES.format(network=NETWORK)
    assert old in text
    return _found(text.replace(old, new))


@pytest.mark.parametrize(
    ("old", "new", "rule", "words"),
    [
        ('!Ref "AWS::Region", Second]', '!Ref "AWS::Region", First]', "HP-SUB-014", "are in one zone"),
        ("aps1-az3", "aps1-az1", "HP-SUB-014", "(in ap-south-1)"),
        ("aps1-az3", "use1-az3", "HP-REG-001", "(in ap-south-1)"),
        ("aps1-az3", "ap-south-1c", "HP-SUB-013", "(in ap-south-1)"),
        ('"AWS::Region", Second]', '"AWS::Region", Name]', "HP-SUB-013", "(in eu-west-1 and in ap-south-1)"),
        (", Second: aps1-az3", "", "HP-REF-003", "(in ap-south-1)"),
        ('AvailabilityZoneId: !FindInMap [Zones, !Ref "AWS::Region", Second]', "AvailabilityZone: euw1-az2", "HP-SUB-013", "zone"),
    ],
)
def test_a_row_of_a_region_is_judged_in_its_region(old: str, new: str, rule: str, words: str) -> None:
    assert _in_zones() == []
    (finding,) = _in_zones(old, new)
    assert finding.rule == rule
    assert words in finding.message


def test_zones_of_two_regions_are_one_mistake_wherever_the_stack_is() -> None:
    zones = ("eu-west-1a", "ap-south-1b")
    text = ZONES + IN_ZONES.format(network=NETWORK)
    for number, key in enumerate(("First", "Second")):
        text = text.replace(
            f'AvailabilityZoneId: !FindInMap [Zones, !Ref "AWS::Region", {key}]', f"AvailabilityZone: {zones[number]}"
        )
    assert [one.rule for one in _found(text)] == ["HP-REG-001"]


def test_a_value_of_a_mapping_is_one_mistake_wherever_it_is_used() -> None:
    text = ZONES.replace("First: aps1-az1", "First: use1-az1") + IN_ZONES.format(network=NETWORK)
    text = text.replace('"AWS::Region", Second]', '"AWS::Region", First]')
    (finding,) = [one for one in _found(text) if one.rule == "HP-REG-001"]
    assert "its mapping also gives AvailabilityZoneId of B" in finding.message


def test_rows_of_other_regions_than_that_of_other_places_are_not_used() -> None:
    here = 'AvailabilityZoneId: !FindInMap [Zones, !Ref "AWS::Region", Second]'
    assert _in_zones(here, "AvailabilityZoneId: euw1-az3") == []


def test_places_of_a_region_that_a_mapping_lacks_are_strange_in_all_its_regions() -> None:
    (finding,) = _in_zones('AvailabilityZoneId: !FindInMap [Zones, !Ref "AWS::Region", Second]', "AvailabilityZoneId: use1-az2")
    assert finding.rule == "HP-REG-001"


def _decided(old: str = "", new: str = "") -> list[Finding]:
    assert old in DECIDED
    return _found(DECIDED.replace(old, new))


@pytest.mark.parametrize(
    ("old", "new", "words"),
    [
        ("small: {Days: 30", "small: {Days: 31", "(with Size 'small')"),
        ("MessageRetentionPeriod: 86400", "MessageRetentionPeriod: 30", "(with Extra 'yes')"),
        ("DelaySeconds: 10", "DelaySeconds: 1000", "(with a value of Key)"),
    ],
)
def test_fails_with_another_value_of_a_parameter(old: str, new: str, words: str) -> None:
    assert _decided() == []
    (finding,) = _decided(old, new)
    assert words in finding.message


SHARED_KEY = """
Parameters:
  Size: {Type: String, Default: large, AllowedValues: [large, small]}
Conditions:
  IsLarge: !Equals [!Ref Size, large]
Resources:
  Key:
    Type: AWS::KMS::Key
    Properties:
      EnableKeyRotation: true
      KeyPolicy:
        Statement: [{Effect: Allow, Principal: {AWS: !Sub "arn:aws:iam::${AWS::AccountId}:root"}, Action: "kms:*", Resource: "*"}]
  Audit:
    Type: AWS::Logs::LogGroup
    Condition: IsLarge
    Properties: {LogGroupName: /a/audit, RetentionInDays: 30, KmsKeyId: !GetAtt Key.Arn}
  Jobs:
    Type: AWS::Logs::LogGroup
    Properties: {LogGroupName: /a/jobs, RetentionInDays: 30, KmsKeyId: !GetAtt Key.Arn}
"""


def test_what_a_finding_covers_is_not_said_again_of_another_deployment() -> None:
    (finding,) = _found(SHARED_KEY)
    assert (finding.rule, finding.resource) == ("HP-KEY-002", "Audit")
    assert "for Audit, Jobs" in finding.message


def test_fails_with_the_empty_text_that_a_condition_asks_for() -> None:
    (finding,) = _decided('!If [HasKey, !Ref Key, !Ref "AWS::NoValue"]', "!Ref Key")
    assert finding.rule == "HP-SCH-004"
    assert finding.resource == "Logs"


def test_an_empty_text_that_no_condition_asks_for_is_yet_to_be_given() -> None:
    text = DECIDED.replace('!Not [!Equals [!Ref Key, ""]]', "!Equals [!Ref Size, small]")
    assert _found(text.replace('!If [HasKey, !Ref Key, !Ref "AWS::NoValue"]', "!Ref Key")) == []


def test_a_value_that_rules_refuse_is_no_deployment() -> None:
    rules = 'Rules:\n  OnlyLarge:\n    Assertions:\n      - Assert: !Equals [!Ref Size, large]\n        AssertDescription: "no"\n'
    assert _found(rules + DECIDED.replace("small: {Days: 30", "small: {Days: 31")) == []


def test_what_else_is_empty_may_be_given_in_another_deployment() -> None:
    """The VPC that is there is named where none is made."""
    text = """
    Parameters:
      Make: {Type: String, Default: "yes", AllowedValues: ["yes", "no"]}
      VpcId: {Type: String, Default: ""}
    Conditions:
      Makes: !Equals [!Ref Make, "yes"]
    Resources:
      Vpc:
        Type: AWS::EC2::VPC
        Condition: Makes
        Properties: {CidrBlock: 10.0.0.0/16}
      Group:
        Type: AWS::EC2::SecurityGroup
        Properties: {GroupDescription: of the team, VpcId: !If [Makes, !Ref Vpc, !Ref VpcId]}
    """
    assert _found(text) == []


def test_another_parameter_may_have_another_value_too() -> None:
    text = """
    Parameters:
      Kind: {Type: String, Default: gp3, AllowedValues: [gp3, io2]}
      Throughput: {Type: String, Default: "500"}
    Conditions:
      IsFast: !Equals [!Ref Kind, io2]
    Resources:
      Volume:
        Type: AWS::EC2::Volume
        DeletionPolicy: Delete
        UpdateReplacePolicy: Delete
        Properties:
          AvailabilityZone: us-west-2a
          Size: 100
          Encrypted: true
          VolumeType: !Ref Kind
          Iops: !If [IsFast, 4000, 3000]
          Throughput: THROUGHPUT
    """
    assert [one.resource for one in _found(text.replace("THROUGHPUT", "500"))] == ["Volume"]
    assert _found(text.replace("THROUGHPUT", "!Ref Throughput")) == []


def test_a_nested_stack_that_the_defaults_leave_out_is_judged_where_it_is_there() -> None:
    text = """
    Parameters:
      Watch: {Type: String, Default: "false"}
    Conditions:
      Watches: !Equals [!Ref Watch, "true"]
    Resources:
      Topic:
        Type: AWS::SNS::Topic
      Watching:
        Type: AWS::CloudFormation::Stack
        Condition: Watches
        Properties: {TemplateURL: "https://bucket.s3.amazonaws.com/watch.yaml", TimeoutInMinutes: soon}
    """
    (finding,) = _found(text)
    assert (finding.resource, "(with Watch 'true')" in finding.message) == ("Watching", True)


def test_a_zone_in_all_rows_tells_no_region_of_the_stack() -> None:
    (found,) = _in_zones("aps1-az1", "euw1-az1")
    assert (found.rule, found.resource) == ("HP-REG-001", "A")
    assert "(in ap-south-1)" in found.message
