"""The ways of Slurm between nodes of different roles, where login nodes have a security group of their own."""

from __future__ import annotations

from typing import Any

import pytest

from hyperpod_constructs.analysis.placement import node_groups
from hyperpod_constructs.analysis.slurm_ways import side_of_nodes, slurm_ways
from hyperpod_constructs.templates.model import Model
from tests.rules.catalogue.cases import edited
from tests.rules.catalogue.templates import Template, findings, slurm
from tests.work import calls

EVERYTHING: Template = {"IpProtocol": "-1"}
LUSTRE = ((988, 988), (1018, 1023))


def tcp(first: int, last: int) -> Template:
    return {"IpProtocol": "tcp", "FromPort": first, "ToPort": last}


def rule(kind: str, group: str, other: str, traffic: Template) -> Template:
    peer = {"Ingress": "SourceSecurityGroupId", "Egress": "DestinationSecurityGroupId"}[kind]
    given = {"GroupId": {"Ref": group}, peer: {"Ref": other}, **traffic}
    return {"Type": f"AWS::EC2::SecurityGroup{kind}", "Properties": given}


def apart(into_nodes: list[Template], into_logins: list[Template]) -> Template:
    """Login nodes in a group of their own, with what it and that of the other nodes let in from each other, beside Lustre."""
    lustre = [tcp(*ports) for ports in LUSTRE]
    rules = {
        **{f"In{n}": rule("Ingress", "NodeGroup", "LoginGroup", one) for n, one in enumerate([*lustre, *into_nodes])},
        **{f"Out{n}": rule("Ingress", "LoginGroup", "NodeGroup", one) for n, one in enumerate([*lustre, *into_logins])},
        "Leave": rule("Egress", "NodeGroup", "LoginGroup", EVERYTHING),
    }
    group: Any = {"GroupDescription": "login", "VpcId": {"Ref": "Vpc"}}
    override = {"Subnets": [{"Ref": "NodeSubnet"}], "SecurityGroupIds": [{"Ref": "LoginGroup"}]}
    more = {
        **rules,
        "LoginGroup": {"Type": "AWS::EC2::SecurityGroup", "Properties": group},
        "Cluster/InstanceGroups/1/OverrideVpcConfig": override,
        "FileSystem/.DependsOn": [*slurm()["Resources"]["FileSystem"]["DependsOn"], *rules],
        "Cluster/.DependsOn": [*slurm()["Resources"]["Cluster"]["DependsOn"], *rules],
    }
    return edited(slurm(), more)


ASKED, ANSWERED = [tcp(6817, 6818)], [tcp(1024, 65535)]


@pytest.mark.parametrize(
    ("into_nodes", "into_logins"),
    [
        (ASKED, ANSWERED),
        ([EVERYTHING], [EVERYTHING]),
        ([tcp(6817, 6817), tcp(6818, 6818)], [tcp(60001, 63000)]),
        ([tcp(0, 65535)], [tcp(22, 1030)]),
    ],
)
def test_programs_of_slurm_reach_each_other_on_their_ports(into_nodes: list[Template], into_logins: list[Template]) -> None:
    """Of the ports on which srun listens one is enough, as SrunPortRange narrows them."""
    assert [one for one in findings(apart(into_nodes, into_logins)) if one.rule.startswith("HP-REACH")] == []


@pytest.mark.parametrize(
    ("into_nodes", "into_logins", "place", "words"),
    [
        ([], ANSWERED, "NodeGroup", "login cannot reach slurmctld on controller and slurmd on workers"),
        ([tcp(22, 22)], ANSWERED, "NodeGroup", "NodeGroup lets no TCP 6817 in"),
        ([tcp(6817, 6817)], ANSWERED, "NodeGroup", "login cannot reach slurmd on workers"),
        ([tcp(6818, 6818)], ANSWERED, "NodeGroup", "login cannot reach slurmctld on controller:"),
        (ASKED, [], "LoginGroup", "controller, workers cannot reach srun on login"),
        (ASKED, [tcp(22, 22)], "LoginGroup", "lets no TCP 1024-65535 in"),
        (ASKED, [{**tcp(60001, 63000), "IpProtocol": "udp"}], "LoginGroup", "srun on login"),
    ],
)
def test_a_missing_rule_between_roles_is_one_finding(
    into_nodes: list[Template], into_logins: list[Template], place: str, words: str
) -> None:
    (finding,) = [one for one in findings(apart(into_nodes, into_logins)) if one.rule.startswith("HP-REACH")]
    assert (finding.rule, finding.resource) == ("HP-REACH-002", place)
    assert words in finding.message


def crowded(count: int) -> Model:
    """So many groups of workers with one network, and so many rules in it."""
    template = slurm()
    groups = template["Resources"]["Cluster"]["Properties"]["InstanceGroups"]
    more = [{**groups[-1], "InstanceGroupName": f"more-{number}"} for number in range(count)]
    rules = {
        f"From{number}": {
            "Type": "AWS::EC2::SecurityGroupIngress",
            "Properties": {"GroupId": {"Ref": "NodeGroup"}, "CidrIp": f"10.1.{number}.0/24", **tcp(443, 443)},
        }
        for number in range(count)
    }
    groups += more
    return Model.of({"t": {**template, "Resources": {**template["Resources"], **rules}}})


def test_groups_of_one_role_and_network_ask_for_one_way() -> None:
    nothing, some, twice = (
        calls(lambda: [way for group in node_groups(model) for way in slurm_ways(group, side_of_nodes(group))])  # noqa: B023
        for model in map(crowded, (1, 40, 80))
    )
    assert twice - nothing < 2.5 * (some - nothing)


def test_groups_that_are_not_of_the_model_are_not_judged() -> None:
    override = {"Subnets": [{"Ref": "NodeSubnet"}], "SecurityGroupIds": ["sg-0123456789abcdef0"]}
    found = findings(edited(slurm(), {"Cluster/InstanceGroups/1/OverrideVpcConfig": override}))
    assert not [one for one in found if "slurm" in one.message or "srun" in one.message]
