"""Rules, findings, silencing and acknowledgement."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from dataclasses import fields, replace

import pytest

from hyperpod_constructs.rules import rule as registry
from hyperpod_constructs.rules.acknowledgement import Acknowledgement
from hyperpod_constructs.rules.checking import check, load_catalogue
from hyperpod_constructs.rules.finding import Hit, Level
from hyperpod_constructs.rules.rule import CATALOGUE, Check, Rule, rule
from hyperpod_constructs.templates.model import Model
from tests.templates.models import by_id, model_of

MODEL = model_of(
    """
    Resources:
      B: {Type: X, Properties: {p: [!Ref A]}}
      A: {Type: X, Metadata: {"aws:cdk:path": S/A/Resource}}
    """,
    "Resources: {C: {Type: X, Properties: {p: 1}}}",
)


def every_x(model: Model) -> Iterator[Hit]:
    for resource in model.resources("X"):
        yield Hit(resource, ("p", 0), f"{resource.logical_id} is an X", found=resource.get("p"))


def a_rule(id: str = "HP-TST-001", level: Level = Level.ERROR, silences: tuple[str, ...] = (), check: Check = every_x) -> Rule:
    return Rule(
        id=id,
        level=level,
        title="no X",
        why="it hurts",
        fix="remove it",
        source="https://x",
        allowed="none",
        silences=silences,
        check=check,
    )


def found(*rules: Rule, acknowledged: tuple[Acknowledgement, ...] = ()) -> list[tuple[str, str]]:
    return [(finding.rule, finding.resource) for finding in check(MODEL, acknowledged, rules=rules)]


def test_a_finding_has_its_place_its_message_and_its_fix() -> None:
    findings = check(MODEL, rules=[a_rule()])
    assert findings[1].to_dict() == {
        "rule": "HP-TST-001",
        "level": "error",
        "template": "t0",
        "resource": "B",
        "construct": None,
        "path": "Properties/p/0",
        "found": ["${A}"],
        "allowed": "none",
        "message": "B is an X",
        "why": "it hurts",
        "fix": "remove it",
        "source": "https://x",
    }
    assert findings[0].construct == "S/A/Resource"


def test_a_hit_can_name_the_allowed_values_of_its_case() -> None:
    def better(model: Model) -> Iterator[Hit]:
        yield Hit(by_id(model, "A"), (), "wrong", allowed="this")

    (finding,) = check(MODEL, rules=[a_rule(check=better)])
    assert (finding.path, finding.allowed, finding.fix, finding.found) == ("", "this", "remove it", None)


def test_findings_are_sorted_by_template_level_and_place_and_each_is_there_once() -> None:
    def twice(model: Model) -> Iterator[Hit]:
        yield from every_x(model)
        yield from every_x(model)

    warning = a_rule("HP-TST-002", Level.WARNING)
    assert found(warning, a_rule(check=twice)) == [
        ("HP-TST-001", "A"),
        ("HP-TST-001", "B"),
        ("HP-TST-002", "A"),
        ("HP-TST-002", "B"),
        ("HP-TST-001", "C"),
        ("HP-TST-002", "C"),
    ]


def test_a_rule_silences_others_on_its_resources_only() -> None:
    def only_a(model: Model) -> Iterator[Hit]:
        yield Hit(by_id(model, "A"), (), "cause", covers=(by_id(model, "B"),))

    first = a_rule(silences=("HP-TST-002",), check=only_a)
    assert found(a_rule("HP-TST-002"), first) == [("HP-TST-001", "A"), ("HP-TST-002", "C")]


@pytest.mark.parametrize(
    ("resource", "left"), [(None, []), ("A", ["B", "C"]), ("S/A/*", ["B", "C"]), ("S/*", ["B", "C"]), ("D", ["A", "B", "C"])]
)
def test_an_acknowledged_finding_is_left_out(resource: str | None, left: list[str]) -> None:
    accepted = Acknowledgement(rule="HP-TST-001", reason="known", resource=resource)
    assert [name for _, name in found(a_rule(), acknowledged=(accepted,))] == left


def test_an_acknowledged_cause_still_silences() -> None:
    accepted = Acknowledgement(rule="HP-TST-001", reason="known")
    assert found(a_rule(silences=("HP-TST-002",)), a_rule("HP-TST-002"), acknowledged=(accepted,)) == []


def test_metadata_acknowledge_with_a_reason() -> None:
    model = model_of("""
        Resources:
          A: {Type: X, Metadata: {HyperPodRules: {Acknowledge: [{Rule: HP-TST-001, Reason: known}]}}}
          B: {Type: X, Metadata: {HyperPodRules: {Acknowledge: [{Rule: HP-TST-001}, text]}}}
          C: {Type: X, Metadata: {HyperPodRules: {Acknowledge: [{Rule: HP-TST-002, Reason: other}]}}}
    """)
    assert [finding.resource for finding in check(model, rules=[a_rule()])] == ["B", "C"]


def test_an_acknowledgement_of_a_former_id_counts() -> None:
    renamed = replace(a_rule(), aliases=("HP-OLD-001",))
    accepted = Acknowledgement(rule="HP-OLD-001", reason="known", resource="A")
    assert found(renamed, acknowledged=(accepted,)) == [("HP-TST-001", "B"), ("HP-TST-001", "C")]


def test_metadata_acknowledge_a_former_id() -> None:
    model = model_of("Resources: {A: {Type: X, Metadata: {HyperPodRules: {Acknowledge: [{Rule: HP-OLD-001, Reason: known}]}}}}")
    assert check(model, rules=[replace(a_rule(), aliases=("HP-OLD-001",))]) == []


def test_fails_for_an_acknowledgement_without_a_reason() -> None:
    with pytest.raises(ValueError, match="has no reason"):
        Acknowledgement(rule="HP-TST-001", reason=" ")


def test_rules_register_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(registry, "_RULES", {})

    def register(id: str) -> None:
        rule(id, Level.ERROR, title="t", why="w", fix="f", source="s", silences=["HP-TST-002"])(every_x)

    register("HP-TST-001")
    register("HP-TST-001")
    assert registry._RULES["HP-TST-001"].silences == ("HP-TST-002",)
    with pytest.raises(ValueError, match=r"'HP-TST-001' is taken by tests\.rules\.test_rule\.every_x"):
        rule("HP-TST-001", Level.ERROR, title="t", why="w", fix="f", source="s")(lambda model: iter(()))
    with pytest.raises(ValueError, match="looks like HP-NET-004"):
        register("NET-1")


def test_the_catalogue_is_filled_by_importing_its_modules() -> None:
    assert load_catalogue() is CATALOGUE
    for id, known in CATALOGUE.items():
        assert id == known.id
        assert known.title
        assert known.why
        assert known.fix
        assert known.source
        assert set(known.silences) <= set(CATALOGUE)


def test_a_former_id_is_no_other_rule_s() -> None:
    former = [alias for known in load_catalogue().values() for alias in known.aliases]
    assert former
    assert len(former) == len(set(former))
    assert not set(former) & set(CATALOGUE)


def test_a_prefix_is_one_file() -> None:
    homes = {(id.rpartition("-")[0], known.check.__module__) for id, known in load_catalogue().items()}
    assert len(homes) == len({prefix for prefix, _ in homes}) == len({module for _, module in homes})


def test_a_finding_has_the_fix_of_its_rule() -> None:
    """A hit has no words of its own for the fix; a computed value is in its message."""
    assert "fix" not in {field.name for field in fields(Hit)}


def test_a_check_starts_no_jsii_and_no_boto3() -> None:
    script = (
        "import sys; from hyperpod_constructs.rules.checking import check; from hyperpod_constructs.templates.model import Model;"
        "check(Model.of({'t': {'Resources': {}}}));"
        "print(sorted({'aws_cdk', 'boto3', 'botocore', 'jsii', 'yaml'} & set(sys.modules)))"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)  # noqa: S603
    assert done.stdout.strip() == "[]"
