"""The rules at every synthesis."""

from __future__ import annotations

import json
from pathlib import Path
from threading import current_thread
from typing import Any

import pytest
from aws_cdk import Acknowledgment, App, CfnResource, NestedStack, RemovalPolicy, Stack, Stage, Validations, assertions
from aws_cdk import aws_ec2 as ec2
from aws_cdk import aws_fsx as fsx
from aws_cdk import aws_iam as iam
from aws_cdk import aws_kms as kms
from aws_cdk import aws_sagemaker as sagemaker
from constructs import Construct

from hyperpod_constructs import (
    ClusterInstanceType,
    ClusterNetwork,
    ExecutionRole,
    HyperPodCluster,
    InstanceGroup,
    LifecycleScripts,
    LustreStorage,
    SlurmNodeType,
)
from hyperpod_constructs.rules import plugin as rules_plugin
from hyperpod_constructs.rules.checking import load_catalogue
from hyperpod_constructs.rules.finding import Finding
from hyperpod_constructs.rules.plugin import RulesPlugin
from hyperpod_constructs.templates.model import Model

UNTRUSTED, WIDE = "HP-ROL-001", "HP-ROL-006"
NEW_KEY = "arn:aws:kms:us-west-2:123456789012:key/new"
CONTROLLER = InstanceGroup(
    name="controller", node_type=SlurmNodeType.CONTROLLER, instance_type=ClusterInstanceType.M5_XLARGE, count=1
)


def untrusted_cluster(scope: Construct) -> iam.Role:
    """A cluster whose role SageMaker cannot assume: one error, on the role that is returned."""
    role = iam.Role(scope, "Role", assumed_by=iam.ServicePrincipal("ec2.amazonaws.com"))
    HyperPodCluster(scope, "Cluster", instance_groups=[CONTROLLER], execution_role=role, lifecycle_scripts=LifecycleScripts.none())
    return role


def failure(app: App) -> str:
    with pytest.raises(RuntimeError, match="ValidationFailed") as caught:
        app.synth()
    return str(caught.value)


def report(app: App, part: str = "violations") -> dict[str, list[dict[str, Any]]]:
    """The plug-in's report, by rule."""
    content = json.loads(Path(app.outdir, "validation-report.json").read_text())
    found: dict[str, list[dict[str, Any]]] = {}
    for plugin in content["pluginReports"]:
        for violation in plugin.get(part, []) if plugin["pluginName"] == "hyperpod" else ():
            found.setdefault(violation["ruleName"], []).append(violation)
    return found


def test_an_error_fails_the_synthesis_and_says_all_there_is_to_know() -> None:
    app = App()
    untrusted_cluster(Stack(app, "Stack"))
    text = failure(app)
    rule = load_catalogue()[UNTRUSTED]
    for part in (
        "ERROR AssumeRolePolicyDocument: the role of group 'controller' of Cluster",
        f"allowed: {rule.allowed}; {rule.why}",
        "Stack/Role/Resource (Role1ABCC5F0)",
        f"Suggested fix: {rule.fix}",
        "Acknowledge with 'hyperpod::HP-ROL-001'",
    ):
        assert part in text


def test_the_report_has_the_finding() -> None:
    app = App()
    untrusted_cluster(Stack(app, "Stack"))
    failure(app)
    (violation,) = report(app)[UNTRUSTED]
    assert violation["severity"] == "error"
    assert violation["ruleMetadata"]["source"] == load_catalogue()[UNTRUSTED].source
    (construct,) = violation["violatingConstructs"]
    assert construct["constructPath"] == "Stack/Role/Resource"
    assert construct["cloudFormationResource"]["templatePath"] == "Stack.template.json"
    assert construct["cloudFormationResource"]["propertyPaths"] == ["Properties/AssumeRolePolicyDocument"]


def test_a_warning_fails_nothing() -> None:
    app = App()
    stack = Stack(app, "Stack")
    HyperPodCluster(stack, "Cluster", instance_groups=[CONTROLLER])
    role = iam.Role(stack, "Deployer", assumed_by=iam.AccountRootPrincipal())
    role.add_to_policy(iam.PolicyStatement(actions=["iam:PassRole"], resources=["*"]))
    app.synth()
    (violation,) = report(app)[WIDE]
    assert violation["severity"] == "warning"


@pytest.mark.parametrize("at", ["Stack/Role", "Stack", ""])
def test_findings_acknowledged_with_a_reason_pass(at: str) -> None:
    app = App()
    stack = Stack(app, "Stack")
    scopes = {"Stack/Role": untrusted_cluster(stack), "Stack": stack, "": app}
    Validations.of(scopes[at]).acknowledge(Acknowledgment(id=f"hyperpod::{UNTRUSTED}", reason="trusted by another stack"))
    app.synth()
    assert UNTRUSTED not in report(app)
    (violation,) = report(app, "suppressedViolations")[UNTRUSTED]
    assert (violation["reason"], violation["acknowledgedId"]) == ("trusted by another stack", f"hyperpod::{UNTRUSTED}")


def test_fails_when_something_else_is_acknowledged() -> None:
    app = App()
    stack = Stack(app, "Stack")
    untrusted_cluster(stack)
    elsewhere = iam.Role(stack, "Elsewhere", assumed_by=iam.AccountRootPrincipal())
    Validations.of(elsewhere).acknowledge(Acknowledgment(id=f"hyperpod::{UNTRUSTED}", reason="not this one"))
    Validations.of(app).acknowledge(Acknowledgment(id=f"hyperpod::{WIDE}", reason="not this rule"))
    assert UNTRUSTED in failure(app)


@pytest.mark.parametrize("id", ["HP-FSN-004", "HP-FSX-023"])
def test_a_former_id_is_acknowledged_too(id: str) -> None:
    app = App()
    stack = Stack(app, "Stack")
    ExecutionRole(stack, "Role")
    vpc = ec2.Vpc(stack, "Vpc", max_azs=1)
    scratch = fsx.LustreConfiguration(deployment_type=fsx.LustreDeploymentType.SCRATCH_2)
    for name in ("Files", "Others"):
        fsx.LustreFileSystem(
            stack, name, vpc=vpc, vpc_subnet=vpc.private_subnets[0], storage_capacity_gib=1200, lustre_configuration=scratch
        )
    Validations.of(stack.node.find_child("Files")).acknowledge(Acknowledgment(id=f"hyperpod::{id}", reason="rarely too late"))
    app.synth()
    (accepted,) = report(app, "suppressedViolations")[id]
    assert accepted["violatingConstructs"][0]["constructPath"] == "Stack/Files/Resource"
    (left,) = report(app)["HP-FSN-004"]
    assert left["violatingConstructs"][0]["constructPath"] == "Stack/Others/Resource"


def test_templates_under_test_are_checked() -> None:
    stack = Stack(App(), "Stack")
    untrusted_cluster(stack)
    with pytest.raises(RuntimeError, match=UNTRUSTED):
        assertions.Template.from_stack(stack)


def test_stacks_in_a_stage_are_checked() -> None:
    app = App()
    untrusted_cluster(Stack(Stage(app, "Prod"), "Stack"))
    assert "Prod/Stack/Role/Resource (" in failure(app)
    assert len(report(app)[UNTRUSTED]) == 1


def test_nested_stacks_are_checked() -> None:
    app = App()
    untrusted_cluster(NestedStack(Stack(app, "Stack"), "Nested"))
    assert "Stack/Nested/Role/Resource (" in failure(app)
    (violation,) = report(app)[UNTRUSTED]
    assert "Nested" in violation["violatingConstructs"][0]["cloudFormationResource"]["templatePath"]


def test_two_apps_in_one_process() -> None:
    wrong, right = App(), App()
    untrusted_cluster(Stack(wrong, "Stack"))
    ExecutionRole(Stack(right, "Stack"), "Role")
    right.synth()
    assert UNTRUSTED in failure(wrong)


def test_many_constructs_register_it_once() -> None:
    app = App()
    stack = Stack(app, "Stack")
    network = ClusterNetwork(stack, "Network", availability_zone_id="usw2-az4")
    LustreStorage(stack, "Lustre", network=network)
    ExecutionRole(stack, "Own")
    untrusted_cluster(stack)
    failure(app)
    assert len(report(app)[UNTRUSTED]) == 1


@pytest.mark.parametrize("made", ["network", "storage", "role", "cluster"])
def test_each_construct_brings_the_rules(made: str) -> None:
    """The rules also check resources from outside this library."""
    bare = App()
    stack = Stack(bare, "Stack")
    elsewhere = ClusterNetwork.from_attributes(
        vpc=ec2.Vpc.from_vpc_attributes(stack, "Vpc", vpc_id="vpc-1", availability_zones=["us-west-2a"]),
        node_subnet=ec2.Subnet.from_subnet_id(stack, "Subnet", "subnet-1"),
        security_group=ec2.SecurityGroup.from_security_group_id(stack, "Group", "sg-1"),
    )
    if made == "network":
        ClusterNetwork(stack, "Made", availability_zone_id="usw2-az4")
    elif made == "storage":
        LustreStorage(stack, "Made", network=elsewhere)
    elif made == "role":
        ExecutionRole(stack, "Made")
    else:
        HyperPodCluster(stack, "Made", instance_groups=[CONTROLLER])
    role = iam.Role(stack, "Role", assumed_by=iam.ServicePrincipal("ec2.amazonaws.com"))
    group = sagemaker.CfnCluster.ClusterInstanceGroupProperty(
        instance_group_name="a", instance_type="ml.m5.xlarge", instance_count=1, execution_role=role.role_arn
    )
    sagemaker.CfnCluster(stack, "Bare", instance_groups=[group])
    assert UNTRUSTED in failure(bare)


@pytest.mark.parametrize("value", [False, "false"])
def test_the_switch_turns_it_off(value: object) -> None:
    app = App(context={"hyperpod:rules": value})
    stack = Stack(app, "Stack")
    untrusted_cluster(stack)
    app.synth()
    assert not Path(app.outdir, "validation-report.json").exists()


@pytest.mark.parametrize("value", [True, "true"])
def test_the_switch_leaves_it_on(value: object) -> None:
    app = App(context={"hyperpod:rules": value})
    untrusted_cluster(Stack(app, "Stack"))
    assert UNTRUSTED in failure(app)


@pytest.mark.parametrize("value", ["False", "no", "0", ""])
def test_fails_for_a_switch_that_is_neither_on_nor_off(value: str) -> None:
    with pytest.raises(ValueError, match=f"hyperpod:rules is '{value}'; allowed: true, false"):
        ExecutionRole(Stack(App(context={"hyperpod:rules": value}), "Stack"), "Role")


def test_an_empty_stack_beside_is_no_mistake() -> None:
    app = App()
    Stack(app, "Empty")
    ExecutionRole(Stack(app, "Stack"), "Role")
    app.synth()
    assert report(app) == {}


def test_cdk_s_own_validation_speaks_for_the_rules_by_schemas() -> None:
    """Also where it is switched off, as in these tests; a limit that only the service has is said."""
    app = App()
    stack = Stack(app, "S")
    ClusterNetwork(stack, "Network", availability_zone_id="usw2-az4")
    CfnResource(stack, "Bucket", type="AWS::S3::Bucket", properties={"VersioningConfiguration": {"Status": "enabled"}})
    CfnResource(stack, "Addon", type="AWS::EKS::Addon", properties={"AddonName": "x", "ClusterName": "-x"})

    assert "ClusterName is '-x'" in failure(app)
    assert [rule for rule in report(app) if rule.startswith("HP-SCH")] == ["HP-SCH-007"]


def test_the_plugin_names_its_rules() -> None:
    plugin = RulesPlugin()
    assert plugin.name == "hyperpod"
    assert plugin.rule_ids == sorted(load_catalogue())


def storage(
    previous: Path | str | None = None, *, key: str | None = None, permission: str | None = None, second: bool = False
) -> App:
    """An app with a file system that goes with its stack; another key replaces it."""
    app = App(context={} if previous is None else {"hyperpod:previous-template": str(previous)})
    stack = Stack(app, "Stack")
    if second:
        Stack(app, "Second")
    network = ClusterNetwork(stack, "Network", availability_zone_id="usw2-az4")
    LustreStorage(
        stack,
        "Lustre",
        network=network,
        removal_policy=RemovalPolicy.DESTROY,
        kms_key=None if key is None else kms.Key.from_key_arn(stack, "Key", key),
        allow_data_loss=permission,
    )
    return app


def test_fails_for_a_change_that_loses_data() -> None:
    before = Path(storage().synth().directory)
    app = storage(before, key=NEW_KEY)
    text = failure(app)
    assert "HP-LOSS-001" in text
    assert "Stack/Lustre/Resource" in text
    assert "loses data" in text
    (violation,) = report(app)["HP-LOSS-001"]
    assert violation["severity"] == "fatal"


def test_a_loss_cannot_be_acknowledged_for_a_whole_app() -> None:
    before = Path(storage().synth().directory)
    app = storage(before, key=NEW_KEY)
    Validations.of(app).acknowledge(Acknowledgment(id="hyperpod::HP-LOSS-001", reason="nobody reads this"))
    assert "HP-LOSS-001" in failure(app)


def test_a_loss_with_its_permission_passes() -> None:
    before = Path(storage().synth().directory)
    app = storage(before, key=NEW_KEY, permission="scratch data only")
    app.synth()
    assert "HP-LOSS-001" not in report(app)


@pytest.mark.parametrize("second", [False, True])
def test_no_change_loses_nothing_whatever_the_previous_template_is(second: bool) -> None:
    before = Path(storage().synth().directory)
    for previous in (before, before / "Stack.template.json"):
        app = storage(previous, second=second)
        app.synth()
        assert "HP-LOSS-001" not in report(app)


def test_a_previous_template_in_a_file_belongs_to_the_stack_of_its_name() -> None:
    before = Path(storage().synth().directory) / "Stack.template.json"
    app = storage(before, key=NEW_KEY, second=True)
    assert "HP-LOSS-001" in failure(app)


def test_fails_for_a_previous_template_of_no_stack(tmp_path: Path) -> None:
    other = tmp_path / "other.json"
    other.write_text('{"Resources": {}}')
    with pytest.raises(RuntimeError, match=r"other.json: has none of the new stacks \(Stack, Second\)"):
        storage(other, second=True).synth()


def test_fails_for_a_previous_assembly_without_the_only_stack() -> None:
    before = Path(storage(second=True).synth().directory)
    app = App(context={"hyperpod:previous-template": str(before)})
    ExecutionRole(Stack(app, "Renamed"), "Role")
    with pytest.raises(RuntimeError, match=r"has none of the new stacks \(Renamed\)"):
        app.synth()


@pytest.mark.parametrize("file", ["", "Stack.template.json"])
def test_fails_for_a_previous_template_that_the_synthesis_itself_wrote(tmp_path: Path, file: str) -> None:
    app = App(outdir=str(tmp_path), context={"hyperpod:previous-template": str(tmp_path / file)})
    ExecutionRole(Stack(app, "Stack"), "Role")
    with pytest.raises(RuntimeError, match=r"is what this synthesis has just written"):
        app.synth()


def test_fails_for_a_previous_template_that_is_not_there() -> None:
    with pytest.raises(RuntimeError, match=r"nowhere.json: cannot be read: No such file or directory"):
        storage("nowhere.json").synth()


def checking_threads(monkeypatch: pytest.MonkeyPatch, error: Exception | None = None) -> list[str]:
    """The names of the threads in which the rules are heard from now on, or fail with an error."""
    found: list[str] = []
    original = rules_plugin._findings

    def findings(model: Model) -> list[Finding]:
        found.append(current_thread().name)
        if error is not None:
            raise error
        return original(model)

    monkeypatch.setattr(rules_plugin, "_findings", findings)
    return found


def test_the_rules_are_heard_once_beside_the_synthesis(monkeypatch: pytest.MonkeyPatch) -> None:
    heard = checking_threads(monkeypatch)
    app = App()
    untrusted_cluster(Stack(app, "Stack"))
    assert heard == []
    assert UNTRUSTED in failure(app)
    assert heard == ["hyperpod-rules"]


def test_rules_that_fail_beside_the_synthesis_are_heard_again_and_their_failure_reported(monkeypatch: pytest.MonkeyPatch) -> None:
    heard = checking_threads(monkeypatch, ImportError("no such module"))
    app = App()
    untrusted_cluster(Stack(app, "Stack"))
    assert "no such module" in failure(app)
    assert heard == ["hyperpod-rules", current_thread().name]


def test_without_rules_none_are_heard(monkeypatch: pytest.MonkeyPatch) -> None:
    heard = checking_threads(monkeypatch)
    app = App(context={"hyperpod:rules": False})
    untrusted_cluster(Stack(app, "Stack"))
    app.synth()
    assert heard == []


def test_a_later_synthesis_into_the_same_directory_is_checked_as_it_is_then(tmp_path: Path) -> None:
    for names in (["Stack"], ["Second", "Stack"]):
        app = App(outdir=str(tmp_path))
        for name in names:
            untrusted_cluster(Stack(app, name))
        failure(app)
        found = report(app)[UNTRUSTED]
        assert sorted(one["constructPath"].split("/")[0] for each in found for one in each["violatingConstructs"]) == names
