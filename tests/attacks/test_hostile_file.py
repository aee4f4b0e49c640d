"""Hostile templates, assemblies and prices: no file hangs a command, leads it to another file, or forges its output."""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner, Result

from hyperpod_constructs._support.printable import printable, printable_lines
from hyperpod_constructs.cli.commands import app
from hyperpod_constructs.rules import rule as registry
from hyperpod_constructs.rules.checking import check, load_catalogue
from hyperpod_constructs.templates.errors import TemplateError
from hyperpod_constructs.templates.model import Model, load
from hyperpod_constructs.templates.reading import parsed_json
from hyperpod_constructs.templates.yaml_reading import parsed
from tests.attacks.test_silenced_rules import a_rule, every_x, raises
from tests.templates.models import model_of

EMPTY = '{"Resources": {}}'
STACK = {"type": "aws:cloudformation:stack", "properties": {"templateFile": "S.template.json"}}


def run(*arguments: object) -> Result:
    return CliRunner().invoke(app, list(map(str, arguments)))


def refused(result: Result) -> str:
    """The single sentence of a command with unusable input."""
    assert (result.exit_code, result.stdout) == (2, "")
    assert result.stderr.startswith("hyperpod: ")
    assert result.stderr.count("\n") == 1
    return result.stderr


def assembly(folder: Path, artifacts: dict[str, Any] | None = None, **files: str) -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "manifest.json").write_text(json.dumps({"artifacts": {"S": STACK} if artifacts is None else artifacts}))
    (folder / "S.template.json").write_text(files.pop("template", EMPTY))
    for name, text in files.items():
        (folder / name).write_text(text)
    return folder


def stage(directory: str) -> dict[str, Any]:
    return {"type": "cdk:cloud-assembly", "properties": {"directoryName": directory}}


def nested(**resource: Any) -> str:
    return json.dumps({"Resources": {"N": {"Type": "AWS::CloudFormation::Stack", **resource}}})


def a_pipe(path: Path) -> Path:
    os.mkfifo(path)
    return path


def a_large_file(path: Path) -> Path:
    with path.open("wb") as file:
        file.truncate(30_000_000)
    return path


NO_FILES: dict[str, tuple[Callable[[Path], Path], str]] = {
    "a pipe without a writer": (lambda folder: a_pipe(folder / "t.json"), "a folder, a pipe or a device"),
    "a device": (lambda folder: Path("/dev/zero"), "a folder, a pipe or a device"),
    "a large file": (lambda folder: a_large_file(folder / "t.json"), "larger than 20 MB"),
    "a name that is too long": (lambda folder: Path("x" * 5000), "cannot be read: File name too long"),
    "a circle of links": (lambda folder: a_circle_of_links(folder), "cannot be read: Too many levels of symbolic links"),
}


def a_circle_of_links(folder: Path) -> Path:
    (folder / "t.json").symlink_to(folder / "t.json")
    return folder / "t.json"


@pytest.mark.parametrize("kind", NO_FILES)
@pytest.mark.parametrize("command", ["check", "cost", "plan", "prices"])
def test_folders_pipes_and_devices_are_refused(tmp_path: Path, kind: str, command: str) -> None:
    make, message = NO_FILES[kind]
    path = make(tmp_path)
    (tmp_path / "right.json").write_text(EMPTY)
    right = tmp_path / "right.json"
    arguments: dict[str, list[str | Path]] = {
        "check": [path],
        "cost": [path],
        "plan": [path, right],
        "prices": [right, "--prices", path],
    }
    assert message in refused(run("cost" if command == "prices" else command, *arguments[command]))


STRANGE_JSON = {
    "a byte that is no UTF-8": (b'{"Resources": {"\xff": 1}}', "is not UTF-8"),
    "a NUL": (b'{"Resources": {"\x00": 1}}', "not JSON"),
    "half of a pair": (b'{"Resources": {"\\ud800": {"Type": "X"}}}', "half of a surrogate pair"),
    "a key twice": (b'{"Resources": {}, "Resources": {}}', "appears twice in one object"),
    "a number without end": (b'{"Resources": {"A": ' + b"9" * 9999 + b"}}", "is not JSON"),
    "brackets without end": (b'{"Resources": ' + b"[" * 100_000, "nests too deeply"),
    "a folder": (None, "is a directory without manifest.json"),
}


@pytest.mark.parametrize("kind", STRANGE_JSON)
def test_a_strange_template_is_refused_in_one_line(tmp_path: Path, kind: str) -> None:
    content, message = STRANGE_JSON[kind]
    path = tmp_path / "t.json"
    if content is None:
        path.mkdir()
    else:
        path.write_bytes(content)
    assert message in refused(run("check", path))


def test_a_mark_of_byte_order_is_no_mistake(tmp_path: Path) -> None:
    (tmp_path / "t.json").write_bytes(b"\xef\xbb\xbf" + EMPTY.encode())
    assert run("check", tmp_path / "t.json").exit_code == 0


class Counted(str):
    """A key that counts how often it is compared."""

    compared = 0
    __hash__ = str.__hash__

    def __eq__(self, other: object) -> bool:
        Counted.compared += 1
        return str.__eq__(self, other)


def test_a_duplicate_among_many_keys_is_found_in_one_pass() -> None:
    from hyperpod_constructs.templates.reading import _object

    Counted.compared = 0
    with pytest.raises(TemplateError, match="'k29999' appears twice in one object"):
        _object([*((Counted(f"k{index}"), 1) for index in range(30_000)), (Counted("k29999"), 2)])
    assert Counted.compared < 200_000


def test_aliases_that_double_are_counted() -> None:
    lines = ["a0: &a0 [x, x]", *(f"a{index}: &a{index} [*a{index - 1}, *a{index - 1}]" for index in range(1, 60)), "Resources: {}"]
    with pytest.raises(TemplateError, match="more than 300,000 values"):
        Model.of({"t": parsed("\n".join(lines))})  # type: ignore[dict-item]


def test_merges_of_merges_are_counted() -> None:
    many = ", ".join(f"k{index}: 1" for index in range(2000))
    with pytest.raises(TemplateError, match="values"):
        parsed(f"a: &a {{{many}}}\nb:\n  <<: [{', '.join(['*a'] * 2000)}]")


# --- assemblies ---


def test_an_assembly_without_stacks_is_no_clean_one(tmp_path: Path) -> None:
    assert "has no stack" in refused(run("check", assembly(tmp_path, {})))


CIRCLES: dict[str, Callable[[Path], Path]] = {
    "itself": lambda folder: assembly(folder, {"S": STACK, "A": stage(".")}),
    "itself three times": lambda folder: assembly(folder, {"S": STACK, **{str(index): stage(".") for index in range(3)}}),
    "its parent": lambda folder: assembly(assembly(folder, {"A": stage("a")}) / "a", {"A": stage("..")}).parent,
    "one folder twice": lambda folder: assembly(assembly(folder, {"A": stage("a"), "B": stage("a")}) / "a").parent,
}


@pytest.mark.parametrize("named", CIRCLES)
def test_a_stage_that_comes_again_is_refused(tmp_path: Path, named: str) -> None:
    assert "is a stage of itself" in refused(run("check", CIRCLES[named](tmp_path / "out")))


def secret(tmp_path: Path) -> Path:
    """A template beside the input that nobody passed to the command."""
    path = tmp_path / "secret.json"
    path.write_text(EMPTY)
    return path


def linked(folder: Path, name: str, target: Path) -> str:
    folder.mkdir(parents=True, exist_ok=True)
    (folder / name).unlink(missing_ok=True)
    (folder / name).symlink_to(target)
    return name


def stack_of(template: str) -> dict[str, Any]:
    return {"S": {**STACK, "properties": {"templateFile": template}}}


def with_link(folder: Path, name: str, target: Path) -> Path:
    linked(assembly(folder), name, target)
    return folder


OUTSIDE: dict[str, Callable[[Path, Path], Path]] = {
    "a template above": lambda out, file: assembly(out, stack_of("../secret.json")),
    "an absolute template": lambda out, file: assembly(out, stack_of(str(file))),
    "a template that is a link": lambda out, file: with_link(out, "S.template.json", file),
    "a manifest that is a link": lambda out, file: with_link(out, "manifest.json", file),
    "a report that is a link": lambda out, file: with_link(out, "validation-report.json", file),
    "assets that are a link": lambda out, file: with_link(out, "S.assets.json", file),
    "metadata above": lambda out, file: assembly(out, {"S": {**STACK, "additionalMetadataFile": "../secret.json"}}),
    "a stage above": lambda out, file: assembly(assembly(out.parent / "other").parent / "out", {"A": stage("../other")}),
    "a nested template above": lambda out, file: assembly(out, template=nested(Metadata={"aws:asset:path": "../secret.json"})),
    "an absolute nested template": lambda out, file: assembly(out, template=nested(Metadata={"aws:asset:path": str(file)})),
}


@pytest.mark.parametrize("kind", OUTSIDE)
def test_an_assembly_leads_to_no_file_outside(tmp_path: Path, kind: str) -> None:
    message = refused(run("check", OUTSIDE[kind](tmp_path / "out", secret(tmp_path))))
    assert "which is not inside" in message


@pytest.mark.parametrize("url", ["../secret.json", "{}/secret.json", "link.json", "a/../../secret.json"])
def test_a_template_leads_to_no_file_outside(tmp_path: Path, url: str) -> None:
    folder = tmp_path / "given"
    (folder / "a").mkdir(parents=True)
    linked(folder, "link.json", secret(tmp_path))
    (folder / "t.json").write_text(nested(Properties={"TemplateURL": url.format(tmp_path)}))
    assert "which is not inside" in refused(run("check", folder / "t.json"))


def test_a_malformed_address_of_a_template_is_nobodys(tmp_path: Path) -> None:
    for url in ("https://[", "https://x/[/..", "\0", "x" * 1000):
        (tmp_path / "t.json").write_text(nested(Properties={"TemplateURL": url}))
        assert run("check", tmp_path / "t.json").exit_code == 0


def test_nested_stacks_do_not_multiply_without_end(tmp_path: Path) -> None:
    """A file of a few kilobytes may stand for millions of resources."""
    inner = {f"R{i}": {"Type": "AWS::SNS::Topic"} for i in range(600)}
    stacks = {f"N{i}": {"Type": "AWS::CloudFormation::Stack", "Properties": {"TemplateURL": "n.json"}} for i in range(100)}
    (tmp_path / "t.json").write_text(json.dumps({"Resources": stacks}))
    (tmp_path / "n.json").write_text(json.dumps({"Resources": inner}))
    assert "has more than 50,000 resources, nested stacks included" in refused(run("check", tmp_path / "t.json"))


def test_a_nested_template_is_read_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from hyperpod_constructs.templates import files, reading

    read: list[str] = []
    original = files.read_text

    def counted(path: Path) -> str:
        read.append(path.name)
        return original(path)

    monkeypatch.setattr(reading, "read_text", counted)
    stacks = {f"N{i}": {"Type": "AWS::CloudFormation::Stack", "Properties": {"TemplateURL": "n.json"}} for i in range(100)}
    (tmp_path / "t.json").write_text(json.dumps({"Resources": stacks}))
    (tmp_path / "n.json").write_text(EMPTY)
    load([tmp_path / "t.json"])
    assert read.count("n.json") == 1


# --- the content of a template ---


def test_a_circle_is_an_error() -> None:
    model = model_of("""
        Resources:
          A: {Type: X, Properties: {p: !GetAtt B.x}}
          B: {Type: X, DependsOn: C}
          C: {Type: X, Properties: {p: !Sub "${A}"}}
          D: {Type: X, DependsOn: A}
          Self: {Type: X, Properties: {p: !Ref Self}}
    """)
    assert [(found.rule, found.resource, found.message) for found in check(model)] == [
        ("HP-DEP-001", "A", "A awaits B, which awaits C, which awaits A"),
        ("HP-DEP-001", "Self", "Self awaits itself"),
    ]


def test_a_seeming_circle_is_allowed() -> None:
    model = model_of("""
        Parameters: {P: {Type: String}, Q: {Type: String}}
        Conditions: {C: !Equals [!Ref P, !Ref Q], Never: !Equals [a, b]}
        Resources:
          A: {Type: X, Properties: {p: !Sub ["${A}", {A: 1}], q: !If [C, !Ref B, 1], r: !If [Never, !Ref A, 1]}}
          B: {Type: X, DependsOn: A, Metadata: {m: !Ref B}}
    """)
    assert check(model) == []


def test_a_chain_of_stacks_is_followed_without_an_error() -> None:
    bodies = {
        f"t{index}": {
            "Resources": {"A": {"Type": "X", "Properties": {"p": {"Fn::ImportValue": f"e{index - 1}"}}}},
            "Outputs": {"O": {"Value": {"Fn::ImportValue": f"e{index - 1}"}, "Export": {"Name": f"e{index}"}}},
        }
        for index in range(1000)
    }
    assert check(Model.of(bodies)) == []


HOSTILE_TEXTS = {
    "an escape sequence": ("A\x1b[2J", "\\x1b[2J"),
    "a new line": ("A\n::error title=x::forged", "A\\n::error"),
    "a return": ("A\rno findings", "A\\rno"),
    "a mark of direction": ("A\u202eB", "A\\u202eB"),
    "an isolate": ("A\u2066B", "A\\u2066B"),
    "a line separator": ("A\u2028B", "A\\u2028B"),
    "an eight-bit control": ("A\x9b2J", "A\\x9b2J"),
    "nothing that is seen": ("A\u200bB", "A\\u200bB"),
    # Harmless where something stands before it on its line, and with a Python escape where nothing does.
    "a command of a workflow": ("::error title=x::forged", ":error title=x"),
    "an old command of a workflow": ("A##[error]forged", "A#\\x23[error]"),
}


@pytest.mark.parametrize("text", HOSTILE_TEXTS)
@pytest.mark.parametrize("form", ["check", "check --format github", "cost", "plan"])
def test_no_name_in_a_template_speaks_to_the_terminal_or_the_log(tmp_path: Path, form: str, text: str) -> None:
    name, shown = HOSTILE_TEXTS[text]
    path, before = tmp_path / "t.json", tmp_path / "old.json"
    path.write_text(json.dumps({"Resources": {name: {"Type": "AWS::EC2::NatGateway", "DependsOn": name, "Properties": {}}}}))
    before.write_text(EMPTY)
    command, *options = form.split()
    output = run(command, *([before] if command == "plan" else []), path, *options).stdout
    assert shown in output or (options and "%" in output)
    assert all(line.isprintable() and not line.lstrip().startswith("::error title=x") for line in output.split("\n"))
    assert "##[" not in output


def test_a_folded_name_does_not_begin_a_command_either(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "40")
    name = f"{'A' * 36} ::error title=x::forged"
    (tmp_path / "t.json").write_text(json.dumps({"Resources": {name: {"Type": "AWS::EC2::NatGateway"}}}))
    lines = [line.strip() for line in run("check", tmp_path / "t.json").stdout.splitlines()]
    assert any(line.startswith("\\x3a:error title=x") for line in lines)
    assert not [line for line in lines if line.startswith("::")]


def test_an_error_is_one_line_whatever_is_in_it(tmp_path: Path) -> None:
    (tmp_path / "t.json").write_text('{"Resources": {"a\\n::error::b\\u001b[1m": 1, "a\\n::error::b\\u001b[1m": 2}}')
    refused(run("check", tmp_path / "t.json"))


@pytest.mark.parametrize("text", ["::/0", "AWS::EC2::VPC", "a 100% é — …", "10.0.0.0/8", "::1"])
def test_an_honest_text_stays_as_it_is(text: str) -> None:
    assert printable(text) == text


def test_a_log_keeps_its_lines_and_loses_its_commands() -> None:
    assert printable_lines("end of log:\n::stop-commands::x\n\x07") == "end of log:\n\\x3a:stop-commands::x\n\\x07"


@pytest.mark.parametrize("form", ["json", "sarif"])
def test_programs_get_json_of_whole_characters(tmp_path: Path, form: str) -> None:
    """The name of a file can contain a byte outside any encoding."""
    path = os.fsdecode(os.fsencode(tmp_path) + b"/\xff.json")
    Path(path).write_text(json.dumps({"Resources": {"A": {"Type": "X", "DependsOn": "A"}}}))
    output = run("check", path, "--format", form).stdout
    json.dumps(parsed_json(output), ensure_ascii=False).encode()


def test_a_rule_that_fails_is_a_finding_of_the_command(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    load_catalogue()
    monkeypatch.setitem(registry._RULES, "HP-TST-001", a_rule(raises(KeyError("x"))))
    monkeypatch.setitem(registry._RULES, "HP-TST-002", a_rule(every_x, "HP-TST-002"))
    (tmp_path / "t.json").write_text('{"Resources": {"A": {"Type": "X"}}}')
    for form in ("text", "json", "sarif", "github"):
        result = run("check", tmp_path / "t.json", "--format", form)
        assert result.exit_code == 1
        assert "this rule failed" in result.stdout
        assert "HP-TST-002" in result.stdout


@pytest.mark.parametrize("command", ["check", "cost", "plan"])
def test_a_mistake_of_the_library_is_one_sentence(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, command: str) -> None:
    def failing(*_: object, **__: object) -> None:
        raise KeyError("x\n::error::y")

    names = {"check": "rules.checking.check", "cost": "cost.estimate.model_cost", "plan": "plan.plan.plan"}
    monkeypatch.setattr(f"hyperpod_constructs.{names[command]}", failing)
    (tmp_path / "t.json").write_text(EMPTY)
    paths = [tmp_path / "t.json"] * (2 if command == "plan" else 1)
    assert "by a mistake of hyperpod: KeyError" in refused(run(command, *paths))
