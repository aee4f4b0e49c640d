"""Templates from files: JSON, YAML, assemblies, and unusable files."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest
from aws_cdk import App, CfnOutput, CfnParameter, Environment, NestedStack, Stack, Stage
from aws_cdk import aws_ec2 as ec2
from aws_cdk import aws_sns as sns

from hyperpod_constructs.templates.dependencies import awaits
from hyperpod_constructs.templates.errors import TemplateError
from hyperpod_constructs.templates.model import Model, load, resource_of
from hyperpod_constructs.templates.values import UNKNOWN, Reference, shown
from tests.presets import build
from tests.templates.models import by_id

YAML = """\
# a comment
Resources:
  A:
    Type: T::A
    Properties:
      Date: 2012-10-17
      Account: 012345678901
      Long: 123456789012345678901234
      Octal: 0755
      Number: 5
      Float: 1.5
      Time: 22:30
      Yes: yes
      Nothing:
      Quoted: "5"
      80: port
      Base: &base {x: 1, y: 1}
      Merged: {<<: *base, y: 2}
      Again: *base
      Block: |
        one
        two
"""


def write(directory: Path, name: str, text: str | bytes) -> Path:
    path = directory / name
    path.write_bytes(text.encode() if isinstance(text, str) else text)
    return path


def test_yaml_is_read_as_cloudformation_reads_it(tmp_path: Path) -> None:
    properties = by_id(load([write(tmp_path, "t.yaml", YAML)]), "A").properties
    assert properties == {
        "Date": "2012-10-17",
        "Account": "012345678901",
        "Long": "123456789012345678901234",
        "Octal": "0755",
        "Number": 5,
        "Float": 1.5,
        "Time": "22:30",
        "Yes": True,
        "Nothing": None,
        "Quoted": "5",
        "80": "port",
        "Base": {"x": 1, "y": 1},
        "Merged": {"x": 1, "y": 2},
        "Again": {"x": 1, "y": 1},
        "Block": "one\ntwo\n",
    }


@pytest.mark.parametrize("name", ["t.json", "t.template", "t.yaml", "t"])
def test_json_is_read_whatever_its_file_is_called(tmp_path: Path, name: str) -> None:
    template = write(tmp_path, name, b"\xef\xbb\xbf" + json.dumps({"Resources": {"A": {"Type": "T"}}}).encode())
    model = load([template, template])
    assert [(one.name, one.file) for one in model.templates] == [(str(template), template)]
    assert by_id(model, "A").type == "T"


def test_fails_for_yaml_where_its_reader_is_not_installed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delitem(sys.modules, "hyperpod_constructs.templates.yaml_reading", raising=False)
    monkeypatch.setitem(sys.modules, "yaml", None)
    file = tmp_path / "t.yaml"
    file.write_text("Resources: {}")
    with pytest.raises(TemplateError, match=r"t\.yaml: is not JSON, .*pip install 'hyperpod-constructs\[cli\]'"):
        load([file])


def test_yaml_in_flow_style_is_no_broken_json(tmp_path: Path) -> None:
    assert by_id(load([write(tmp_path, "t", "{Resources: {A: {Type: T}}}")]), "A").type == "T"


@pytest.mark.parametrize(
    ("name", "text", "message"),
    [
        ("t.json", '{"Resources": ', "t.json:1: is not JSON"),
        ("t.json", '{"Resources": {"A": {"Type": "T"}, "A": {}}}', "key 'A' appears twice in one object"),
        ("t.json", '{"Resources": {"A": NaN}}', "NaN is not a number"),
        ("t.json", '{"Resources": ' + "[" * 5000 + "]" * 5000 + "}", "nests"),
        ("t.json", '{"Resources": {"A": ' + "9" * 5000 + "}}", "is not JSON"),
        ("t.json", "[]", "this is a list"),
        ("t.json", "{}", "this one has none"),
        ("t.json", '{"Resources": []}', "has a list there"),
        ("t.yaml", "", "this is empty"),
        ("t.yaml", "text", "this is a string"),
        ("t.yaml", "Resources:\n  A: [\n", "t.yaml:3: is not YAML"),
        ("t.yaml", "Resources:\n  A: {Type: T}\n  A: {Type: T}\n", "t.yaml:3: key 'A' appears twice"),
        ("t.yaml", "Resources: {}\n---\nResources: {}\n", "t.yaml:2: has a second YAML document"),
        ("t.yaml", "Resources:\n  ? [a]\n  : b\n", "t.yaml:2: a key must be a string"),
        ("t.yaml", "Resources: &r\n  A: *r\n", "t.yaml:2: alias *r is not defined"),
        ("t.yaml", "Resources: {A: {<<: text}}\n", "t.yaml:1: << merges mappings"),
        ("t.yaml", "Resources: " + "[" * 100_000, "t.yaml:1: nests more than"),
        ("t.yaml", b"Resources:\n  \xff: 1\n", "t.yaml:2: is not UTF-8"),
        ("t.yaml", "Resources: {}".encode("utf-16"), "t.yaml:1: is not UTF-8"),
        ("t.yaml", b"Resources: {a: \x00}", "is not YAML"),
    ],
)
def test_fails_for_a_document_other_than_a_template(tmp_path: Path, name: str, text: str | bytes, message: str) -> None:
    with pytest.raises(TemplateError) as raised:
        load([write(tmp_path, name, text)])
    assert message in str(raised.value)
    assert raised.value.file == tmp_path / name


def test_fails_for_aliases_that_multiply(tmp_path: Path) -> None:
    lines = ["a0: &a0 [x, x, x, x, x, x, x, x]"]
    lines += [f"a{level}: &a{level} [{', '.join([f'*a{level - 1}'] * 8)}]" for level in range(1, 12)]
    with pytest.raises(TemplateError, match="has more than"):
        load([write(tmp_path, "t.yaml", "\n".join([*lines, "Resources: {}"]))])


def test_fails_for_unreadable_paths(tmp_path: Path) -> None:
    with pytest.raises(TemplateError, match=r"nothing\.yaml: cannot be read: No such file"):
        load([tmp_path / "nothing.yaml"])
    with pytest.raises(TemplateError, match=r"a directory without manifest\.json"):
        load([tmp_path])
    with pytest.raises(TemplateError, match="contains a set, which a template cannot contain"):
        Model.of({"t": {"Resources": {"A": {1, 2}}}})


def test_no_number_is_an_infinity(tmp_path: Path) -> None:
    with pytest.raises(TemplateError, match="is not JSON: 1e999 is not a number"):
        load([write(tmp_path, "t.json", '{"Resources": {"A": {"Type": "T", "Properties": {"a": 1e999}}}}')])
    text = write(tmp_path, "t.yaml", "Resources: {A: {Type: T, Properties: {a: 1.0e999}}}")
    assert by_id(load([text]), "A").properties == {"a": "1.0e999"}


@pytest.mark.parametrize("text", ['{"Resources": {"A\\ud800": {"Type": "T"}}}', '{"Resources": {"A": {"Type": "\\udfff"}}}'])
def test_fails_for_half_a_surrogate_pair(tmp_path: Path, text: str) -> None:
    with pytest.raises(TemplateError, match=r"t.json: contains half of a surrogate pair, which is not a character: '.ud"):
        load([write(tmp_path, "t.json", text)])


def test_fails_for_an_assembly_without_its_template(tmp_path: Path) -> None:
    stack = {"type": "aws:cloudformation:stack", "properties": {"templateFile": "S.template.json"}}
    write(tmp_path, "manifest.json", json.dumps({"artifacts": {"S": stack, "T": {"type": "cdk:tree"}, "U": 5}}))
    with pytest.raises(TemplateError, match=r"S\.template\.json: cannot be read"):
        load([tmp_path])
    del stack["properties"]
    write(tmp_path, "manifest.json", json.dumps({"artifacts": {"S": stack}}))
    with pytest.raises(TemplateError, match="stack 'S' has no templateFile"):
        load([tmp_path])
    write(tmp_path, "manifest.json", "[]")
    with pytest.raises(TemplateError, match="is not a JSON object"):
        load([tmp_path])


@pytest.fixture(scope="module", params=["with metadata", "without metadata"])
def assembly(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Two dependent stacks, a nested stack in a nested stack, and a stack in a stage."""
    directory = tmp_path_factory.mktemp("assembly")
    shown_paths = request.param == "with metadata"
    context = {
        "@aws-cdk/core:defaultCrossStackReferences": "weak",
        "aws:cdk:enable-path-metadata": shown_paths,
        "aws:cdk:enable-asset-metadata": shown_paths,
    }
    app = App(outdir=str(directory), context=context)
    place = Environment(account="123456789012", region="cn-north-1")
    one, two = Stack(app, "One", env=place, stack_name="first"), Stack(app, "Two", env=place)
    topic = sns.CfnTopic(one, "Topic", display_name=one.partition)
    outer = NestedStack(two, "Outer", parameters={"Given": topic.ref, "Zones": "a,b"})
    CfnParameter(outer, "Given")
    CfnParameter(outer, "Zones", type="CommaDelimitedList")
    inner = NestedStack(outer, "Inner")
    vpc = ec2.CfnVPC(inner, "Vpc", cidr_block="10.0.0.0/16")
    sns.CfnTopic(outer, "Twin", display_name=topic.ref)
    sns.CfnTopic(two, "Twin", display_name=vpc.ref)
    CfnOutput(outer, "GivenOut", value="x")
    sns.CfnTopic(Stack(Stage(app, "Prod", env=place), "Three"), "Staged")
    app.synth()
    return directory


def test_an_assembly_with_its_stages_and_nested_stacks(assembly: Path) -> None:
    model = load([assembly])
    assert [one.name for one in model.templates][0::4] == ["One", "Prod/Three"]
    vpc = model.resources("AWS::EC2::VPC")[0]
    assert (vpc.construct_path, vpc.template.name.count("/")) == ("Two/Outer/Inner/Vpc", 2)
    twins = {one.construct_path: one for one in model.resources("AWS::SNS::Topic")}
    assert set(twins) == {"One/Topic", "Two/Outer/Twin", "Two/Twin", "Prod/Three/Staged"}
    assert resource_of(twins["Two/Twin"].get("DisplayName")) is vpc
    assert twins["One/Topic"].get("DisplayName") == "aws-cn"
    assert twins["Two/Outer/Twin"].template.ref("Zones") == ("a", "b")
    assert twins["Two/Outer/Twin"].template.ref("Given") == Reference(twins["One/Topic"])
    assert twins["One/Topic"].template.environment.stack_name == "first"
    assert awaits(twins["Two/Twin"], vpc)
    assert awaits(vpc, twins["One/Topic"])
    assert not awaits(twins["One/Topic"], vpc)


@pytest.mark.parametrize("strength", ["weak", "strong"])
def test_stacks_of_one_name_in_two_regions(tmp_path: Path, strength: str) -> None:
    app = App(outdir=str(tmp_path), context={"@aws-cdk/core:defaultCrossStackReferences": strength})
    for region in ("us-west-2", "eu-west-1"):
        stage = Stage(app, f"In-{region}", env=Environment(account="123456789012", region=region))
        one, two = Stack(stage, "One", stack_name="one"), Stack(stage, "Two", stack_name="two")
        sns.CfnTopic(two, "User", display_name=sns.CfnTopic(one, "Topic").attr_topic_name)
    app.synth()
    model = load([tmp_path])
    users = [resource for resource in model.resources() if resource.logical_id == "User"]
    assert len(users) == 2
    for user in users:
        topic = resource_of(user.get("DisplayName"))
        assert topic is not None
        assert topic.template.environment.region == user.template.environment.region
        assert awaits(user, topic)


def test_nested_stacks_among_files_are_found_by_their_names(tmp_path: Path) -> None:
    main = write(
        tmp_path,
        "main.yaml",
        """
        Resources:
          Net:
            Type: AWS::CloudFormation::Stack
            Properties: {TemplateURL: !Sub 'https://${B}/v1/net.yaml', Parameters: {C: 10.0.0.0/16}}
          Far: {Type: AWS::CloudFormation::Stack, Properties: {TemplateURL: https://example.com/far.yaml}}
          Near: {Type: AWS::CloudFormation::Stack, Properties: {TemplateURL: ./near.yaml}}
          Use: {Type: X, Properties: {a: !GetAtt Net.Outputs.Vpc, b: !GetAtt Far.Outputs.Vpc, c: !GetAtt Near.Outputs.N}}
        Parameters: {B: {Type: String}}
        """,
    )
    net = write(
        tmp_path,
        "net.yaml",
        """
        Parameters: {C: {Type: String}}
        Resources: {Vpc: {Type: V, Properties: {Cidr: !Ref C}}}
        Outputs: {Vpc: {Value: !Ref Vpc}}
        """,
    )
    write(tmp_path, "near.yaml", "{Resources: {N: {Type: N}}, Outputs: {N: {Value: !Ref N}}}")
    model = load([main, net])
    assert [one.name.rpartition("/")[2] for one in model.templates] == ["main.yaml", "Net", "Near"]
    use = by_id(model, "Use")
    assert shown(use.get("a")) == "${Vpc}"
    assert by_id(model, "Vpc").get("Cidr") == "10.0.0.0/16"
    assert use.get("b") is UNKNOWN
    assert shown(use.get("c")) == "${N}"
    assert awaits(use, by_id(model, "Vpc"))


def test_a_prefix_right_before_the_name_of_a_nested_template_is_its_folder(tmp_path: Path) -> None:
    url = "!Sub 'https://${Bucket}.s3.${AWS::Region}.amazonaws.com/${Prefix}net.yaml'"
    main = write(
        tmp_path, "main.yaml", f"Resources: {{Net: {{Type: AWS::CloudFormation::Stack, Properties: {{TemplateURL: {url}}}}}}}"
    )
    net = write(tmp_path, "net.yaml", "Resources: {Vpc: {Type: V}}")
    assert by_id(load([main, net]), "Vpc").template.parent is not None


def test_construct_paths_of_equal_ids_in_a_nested_stack(tmp_path: Path) -> None:
    def named(logical_id: str) -> list[dict[str, str]]:
        return [{"type": "aws:cdk:logicalId", "data": logical_id}]

    nested = {"Type": "AWS::CloudFormation::Stack", "Properties": {}, "Metadata": {"aws:asset:path": "n.json"}}
    write(tmp_path, "n.json", json.dumps({"Resources": {"Twin": {"Type": "X"}}}))
    write(tmp_path, "S.template.json", json.dumps({"Resources": {"N": nested, "Twin": {"Type": "Y"}}}))
    metadata = {"/S/N/Twin": named("Twin"), "/S/Twin": named("Twin"), "/S/N.NestedStack/N.NestedStackResource": named("N")}
    stack = {"type": "aws:cloudformation:stack", "properties": {"templateFile": "S.template.json"}, "metadata": metadata}
    write(tmp_path, "manifest.json", json.dumps({"artifacts": {"S": stack}}))
    paths = {resource.type: resource.construct_path for resource in load([tmp_path]).resources("X", "Y")}
    assert paths == {"X": "S/N/Twin", "Y": "S/Twin"}


def test_a_nested_stack_is_created_as_a_whole(tmp_path: Path) -> None:
    stack = "Type: AWS::CloudFormation::Stack, Properties: {TemplateURL: ./inner.yaml}"
    main = f"Resources: {{First: {{Type: X}}, Inner: {{{stack}, DependsOn: First}}, Last: {{Type: X, DependsOn: Inner}}}}"
    write(tmp_path, "inner.yaml", "Resources: {Part: {Type: X}}")
    model = load([write(tmp_path, "main.yaml", main)])
    first, part, last = (by_id(model, name) for name in ("First", "Part", "Last"))
    assert awaits(last, part)
    assert awaits(part, first)
    assert not awaits(part, last)
    assert not awaits(first, part)


def test_stacks_are_deployed_in_the_order_of_the_manifest(tmp_path: Path) -> None:
    app = App(outdir=str(tmp_path))
    one, two = Stack(app, "One"), Stack(app, "Two")
    two.add_stack_dependency(one)
    sns.CfnTopic(one, "A")
    sns.CfnTopic(two, "B")
    app.synth()
    model = load([tmp_path])
    assert awaits(by_id(model, "B"), by_id(model, "A"))
    assert not awaits(by_id(model, "A"), by_id(model, "B"))


def test_fails_for_a_stack_that_nests_itself(tmp_path: Path) -> None:
    stack = "{Type: AWS::CloudFormation::Stack, Properties: {TemplateURL: ./t.yaml}}"
    with pytest.raises(TemplateError, match="or a stack nests itself"):
        load([write(tmp_path, "t.yaml", f"Resources: {{A: {stack}, B: {stack}}}")])


def test_the_reference_app_across_its_stacks(tmp_path: Path) -> None:
    build("llm", tmp_path).synth()
    model = load([tmp_path])
    (cluster,) = model.resources("AWS::SageMaker::Cluster")
    (file_system,) = model.resources("AWS::FSx::FileSystem")
    assert cluster.construct_path is not None
    assert cluster.construct_path.startswith("Cluster/")
    assert resource_of(cluster.get("VpcConfig", "Subnets", 0), "AWS::EC2::Subnet") is not None
    assert awaits(cluster, file_system)
    assert cluster.template.environment.region == "us-west-2"


def test_a_nested_template_is_looked_up_by_its_path_before_its_name(tmp_path: Path) -> None:
    """Two folders with a template of the same name: each nested stack has the one of its own path."""
    stacks = "".join(
        f"  {name}: {{Type: AWS::CloudFormation::Stack, Properties: {{TemplateURL: ./{name.lower()}/template.yaml}}}}\n"
        for name in ("Network", "Storage")
    )
    main = write(tmp_path, "main.yaml", f"Resources:\n{stacks}")
    for name in ("network", "storage"):
        (tmp_path / name).mkdir()
        write(tmp_path / name, "template.yaml", f"{{Resources: {{{name.title()}Part: {{Type: {name}}}}}}}")
    expected = {"Network": "NetworkPart", "Storage": "StoragePart"}
    for given in ([main], [main, tmp_path / "network" / "template.yaml"]):
        found = load(given)
        parts = {one.parent.logical_id: next(iter(one.by_id)) for one in found.templates if one.parent is not None}
        assert parts == expected
