"""The model: resources, stacks beside and inside each other, and the order of creation."""

from __future__ import annotations

from hyperpod_constructs.templates.dependencies import awaits, depends_on
from hyperpod_constructs.templates.model import Model, resource_of
from hyperpod_constructs.templates.values import ABSENT, UNKNOWN, Either, Reference, shown
from tests.templates.models import by_id, model_of


def test_a_resource_in_short() -> None:
    model = model_of("""
        Resources:
          A:
            Type: T::A
            DeletionPolicy: Retain
            UpdateReplacePolicy: !If [Maybe, Retain, Delete]
            Condition: Maybe
            Metadata: {aws:cdk:path: Stack/A/Resource}
            Properties: {VpcConfig: {Subnets: [s-1, !Ref B]}}
          B: {Type: T::B}
        Parameters: {P: {Type: String}}
        Conditions: {Maybe: !Equals [!Ref P, x]}
    """)
    resource = by_id(model, "A")
    assert resource.get("VpcConfig", "Subnets", 0) == "s-1"
    assert resource.get("VpcConfig", "Subnets", 1) == Reference(by_id(model, "B"))
    assert resource.get("Nothing") is ABSENT
    assert resource.path("VpcConfig", "Subnets", 1) == "Properties/VpcConfig/Subnets/1"
    assert (resource.deletion_policy, resource.update_replace_policy) == ("Retain", Either(("Retain", "Delete")))
    assert (resource.condition, resource.exists, resource.construct_path) == ("Maybe", None, "Stack/A/Resource")
    assert by_id(model, "B").exists is True
    assert by_id(model, "B").construct_path is None
    assert by_id(model, "B").deletion_policy is ABSENT
    assert repr(resource) == "<T::A t0:A>"


def test_resources_by_type_in_order() -> None:
    model = model_of("Resources: {A: {Type: X}, B: {Type: Y}, C: {Type: X}}", "Resources: {D: {Type: Y}}")
    assert [one.logical_id for one in model.resources()] == ["A", "B", "C", "D"]
    assert [one.logical_id for one in model.resources("X")] == ["A", "C"]
    assert [one.logical_id for one in model.resources("Y", "X")] == ["A", "B", "C", "D"]
    assert model.resources("Z") == ()


def test_a_resource_whose_condition_fails_is_not_there() -> None:
    model = model_of("""
        Resources:
          A: {Type: X, Condition: Never}
          B: {Type: X, Properties: {a: !Ref A}, DependsOn: A}
        Conditions: {Never: !Equals [a, b]}
    """)
    assert [one.logical_id for one in model.resources("X")] == ["B"]
    assert by_id(model, "B").get("a") is UNKNOWN
    assert depends_on(by_id(model, "B")) == frozenset()


def test_what_metadata_name_is_awaited() -> None:
    """A handle with such metadata awaits a stack under a condition, as `DependsOn` cannot."""
    model = model_of("""
        Resources:
          Stack: {Type: X, Condition: Own}
          Other: {Type: X}
          Ready: {Type: AWS::CloudFormation::WaitConditionHandle, Metadata: {Stack: !If [Own, !GetAtt Stack.Version, none]}}
          Cluster: {Type: X, DependsOn: Ready}
        Conditions: {Own: !Equals [!Ref P, x]}
        Parameters: {P: {Type: String}}
    """)
    assert awaits(by_id(model, "Cluster"), by_id(model, "Stack"))
    assert not awaits(by_id(model, "Cluster"), by_id(model, "Other"))


def test_dependencies_follow_every_way_of_naming() -> None:
    model = model_of("""
        Resources:
          Explicit: {Type: X}
          Ref: {Type: X}
          Att: {Type: X}
          Sub: {Type: X}
          Hidden: {Type: X}
          Taken: {Type: X}
          Left: {Type: X}
          User:
            Type: Y
            DependsOn: [Explicit, Nothing]
            Properties:
              a: !Ref Ref
              b: !GetAtt Att.Arn
              c: !Sub "${ Sub.Arn}-${!Left}"
              d: !Select [0, !Split ["/", !GetAtt Hidden.Arn]]
              e: !If [Sure, !Ref Taken, !Ref Left]
          Second: {Type: Y, DependsOn: User}
        Conditions: {Sure: !Equals [a, a]}
    """)
    user, second = by_id(model, "User"), by_id(model, "Second")
    assert {one.logical_id for one in depends_on(user)} == {"Explicit", "Ref", "Att", "Sub", "Hidden", "Taken"}
    assert awaits(second, by_id(model, "Hidden"))
    assert not awaits(second, by_id(model, "Left"))
    assert not awaits(by_id(model, "Hidden"), second)
    assert not awaits(user, user)


def test_an_import_is_the_exported_resource_and_awaits_its_whole_stack() -> None:
    model = model_of(
        """
        Resources: {Vpc: {Type: V}, Other: {Type: V}}
        Outputs: {Id: {Value: !Ref Vpc, Export: {Name: net-vpc}}}
        """,
        """
        Resources:
          User: {Type: X, Properties: {Vpc: !ImportValue net-vpc, Text: !Sub ["${I}/x", {I: !ImportValue net-vpc}]}}
          Beside: {Type: X}
        """,
    )
    user, vpc, other = (by_id(model, name) for name in ("User", "Vpc", "Other"))
    assert resource_of(user.get("Vpc")) is vpc
    assert shown(user.get("Text")) == "${Vpc}/x"
    assert depends_on(user) == {vpc}
    assert awaits(user, other)
    assert awaits(by_id(model, "Beside"), other)
    assert not awaits(other, user)


def test_an_export_of_two_stacks_is_unknown() -> None:
    export = "{Resources: {R: {Type: X}}, Outputs: {O: {Value: !Ref R, Export: {Name: n}}}}"
    model = model_of(export, export, "Resources: {U: {Type: X, Properties: {a: !ImportValue n}}}")
    assert by_id(model, "U").get("a") is UNKNOWN


def test_the_output_of_another_stack_by_its_name() -> None:
    model = model_of(
        "{Resources: {R: {Type: X}, S: {Type: X}}, Outputs: {O: {Value: !GetAtt R.Arn}}}",
        "Resources: {U: {Type: X, Properties: {a: {Fn::GetStackOutput: {StackName: t0, OutputName: O}}}}}",
    )
    assert shown(by_id(model, "U").get("a")) == "${R.Arn}"
    assert awaits(by_id(model, "U"), by_id(model, "S"))


def test_stacks_that_import_from_each_other_are_unknown_and_end() -> None:
    model = model_of(
        "{Resources: {R: {Type: X, Properties: {a: !ImportValue n1}}}, Outputs: {O: {Value: !ImportValue n1, Export: {Name: n0}}}}",
        "{Resources: {S: {Type: X, Properties: {a: !ImportValue n0}}}, Outputs: {O: {Value: !ImportValue n0, Export: {Name: n1}}}}",
    )
    assert by_id(model, "R").get("a") is UNKNOWN
    assert awaits(by_id(model, "R"), by_id(model, "S"))


def test_an_output_under_a_condition_that_is_not_sure_is_unknown() -> None:
    model = model_of(
        """
        Resources: {R: {Type: X}}
        Parameters: {P: {Type: String}}
        Conditions: {Maybe: !Equals [!Ref P, x]}
        Outputs: {O: {Condition: Maybe, Value: !Ref R, Export: {Name: n}}}
        """,
        "Resources: {U: {Type: X, Properties: {a: !ImportValue n}}}",
    )
    assert by_id(model, "U").get("a") is UNKNOWN


def test_malformed_resources_are_left_out() -> None:
    model = Model.of({"t": {"Resources": {"A": {"Type": 5}, "B": [], "C": {"Type": "X", "Properties": None}, "D": {"Type": "X"}}}})
    assert [one.logical_id for one in model.resources()] == ["C", "D"]
    assert by_id(model, "C").properties == {}
    assert by_id(model, "C").get("x") is ABSENT


def test_facts_are_computed_once() -> None:
    model = model_of("Resources: {}")
    first: list[int] = model.cached("key", lambda: [1])
    assert model.cached("key", lambda: [2]) is first
