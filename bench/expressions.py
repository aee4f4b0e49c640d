"""Python expressions for the values of a template: typed structs, attributes of L1s, joined strings."""

from __future__ import annotations

import importlib
import inspect
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

_STRUCT = re.compile(r"'((?:Cfn\w+\.)?\w+Property|_aws_cdk_\w+\.CfnTag)'")


class FloorError(RuntimeError):
    """The floor and the library emit different stacks, or a template holds a part without an expression."""


@dataclass(frozen=True, slots=True)
class Resource:
    """A resource of the program: its variable and its class (None: generic)."""

    variable: str
    kind: type | None


@dataclass(slots=True)
class Namespace:
    """The names that the program has defined so far."""

    modules: set[str] = field(default_factory=set)
    resources: dict[tuple[str, str], Resource] = field(default_factory=dict)
    attributes: dict[tuple[str, str], str] = field(default_factory=dict)
    asset_hashes: dict[str, str] = field(default_factory=dict)
    exports: dict[str, tuple[str, Any]] = field(default_factory=dict)
    _count: int = 0

    def variable(self, prefix: str) -> str:
        """A new variable."""
        self._count += 1
        return f"{prefix}{self._count}"

    def define(self, artifact: str, name: str, resource_type: str) -> str:
        """The variable of a resource."""
        variable = self.variable("r")
        self.resources[artifact, name] = Resource(variable, l1_class(resource_type))
        return variable

    def constructor(self, resource_type: str) -> str:
        """The expression of the class, whose module the program then imports."""
        kind = l1_class(resource_type)
        if kind is None:
            return "cdk.CfnResource"
        module = kind.__module__.removeprefix("aws_cdk.")
        self.modules.add(module)
        return f"{module}.{kind.__name__}"


def l1_class(resource_type: str) -> type | None:
    """The typed L1 of a resource type; `None` for a custom resource, and for a type that the CDK lacks."""
    if resource_type.startswith("Custom::"):
        return None
    _, service, name = resource_type.split("::")
    kind: type | None = getattr(importlib.import_module(f"aws_cdk.aws_{service.lower()}"), f"Cfn{name}", None)
    return kind


def references(value: Any) -> set[str]:
    """Logical ids that a resource or value refers to or awaits."""
    return set(_references(value))


def _references(value: Any) -> Iterator[str]:
    if isinstance(value, dict):
        for key, part in value.items():
            if key == "Ref" and isinstance(part, str):
                yield part
            elif key == "Fn::GetAtt":
                yield part[0]
            elif key == "DependsOn":
                yield from part
            else:
                yield from _references(part)
    elif isinstance(value, list):
        for part in value:
            yield from _references(part)


@dataclass(slots=True)
class Writer:
    """Writes the values of one resource of a stack; `lines` are the assignments that its expressions need."""

    names: Namespace
    artifact: str
    lines: list[str] = field(default_factory=list)

    def arguments(self, resource_type: str, properties: dict[str, Any]) -> str:
        """The keyword arguments of an L1."""
        kind = l1_class(resource_type)
        if kind is None:
            return f"type={resource_type!r}, properties={self.value(properties)}"
        return self._keywords(kind, self.names.constructor(resource_type), properties)

    def value(self, value: Any, annotation: str = "", owner: str = "") -> str:
        """An expression for a value.

        :param annotation: the type of the value's parameter.
        :param owner: the L1 class around it.
        """
        if isinstance(value, dict):
            if len(value) == 1 and ("Ref" in value or next(iter(value)).startswith("Fn::")):
                return self._intrinsic(*next(iter(value.items())))
            return self._mapping(value, annotation, owner)
        if isinstance(value, list):
            return "[" + ", ".join(self.value(item, annotation, owner) for item in value) + "]"
        return self._text(value) if isinstance(value, str) else repr(value)

    def _mapping(self, value: dict[str, Any], annotation: str, owner: str) -> str:
        struct = _STRUCT.search(annotation)
        if struct is None:
            return "{" + ", ".join(f"{key!r}: {self.value(item)}" for key, item in value.items()) + "}"
        name = struct[1].rpartition(".")[2]
        if name == "CfnTag":
            return f"cdk.CfnTag(key={self.value(value['Key'])}, value={self.value(value['Value'])})"
        module, kind = owner.split(".")
        target = getattr(getattr(importlib.import_module(f"aws_cdk.{module}"), kind), name)
        return f"{owner}.{name}({self._keywords(target, owner, value)})"

    def _keywords(self, target: type, owner: str, properties: dict[str, Any]) -> str:
        known = {
            name.replace("_", ""): (name, str(parameter.annotation))
            for name, parameter in inspect.signature(target.__init__).parameters.items()  # type: ignore[misc]
        }
        parts = []
        for key, item in properties.items():
            name, annotation = known[key.lower()]
            parts.append(f"{name}={self.value(item, annotation, owner)}")
        return ", ".join(parts)

    def _text(self, text: str) -> str:
        for digest, expression in self.names.asset_hashes.items():
            if digest in text:
                before, _, after = text.partition(digest)
                return f"{before!r} + {expression} + {after!r}"
        return repr(text)

    def _intrinsic(self, function: str, operand: Any) -> str:
        if function == "Ref":
            if operand.startswith("AWS::"):
                words = re.findall(r"[A-Z]+(?![a-z])|[A-Z][a-z]+", operand.removeprefix("AWS::"))
                return "cdk.Aws." + "_".join(words).upper()
            return self._attribute(self.artifact, operand, "Ref")
        if function == "Fn::GetAtt":
            return self._attribute(self.artifact, operand[0], operand[1])
        if function == "Fn::ImportValue":
            return self._export(operand)
        if function == "Fn::Join":
            delimiter, parts = operand
            values = [self.value(part) for part in parts]
            if delimiter == "":
                return "(" + " + ".join(values) + ")"
            return f"cdk.Fn.join({delimiter!r}, [{', '.join(values)}])"
        if function == "Fn::Select":
            return f"cdk.Fn.select({int(operand[0])}, {self.value(operand[1])})"
        if function == "Fn::Split":
            return f"cdk.Fn.split({operand[0]!r}, {self.value(operand[1])})"
        if function == "Fn::Equals":
            return f"cdk.Fn.condition_equals({self.value(operand[0])}, {self.value(operand[1])})"
        if function == "Fn::If":
            condition, chosen, otherwise = operand
            return f"cdk.Token.as_string(cdk.Fn.condition_if({condition!r}, {self.value(chosen)}, {self.value(otherwise)}))"
        raise FloorError(f"{self.artifact}: the intrinsic function {function} cannot be written as a bare L1 yet")

    def _export(self, name: str) -> str:
        artifact, value = self.names.exports[name]
        if "Ref" in value:
            return self._attribute(artifact, value["Ref"], "Ref")
        return self._attribute(artifact, *value["Fn::GetAtt"])

    def _attribute(self, artifact: str, name: str, attribute: str) -> str:
        """The variable of a reference; the program reads it from the L1 once."""
        resource = self.names.resources[artifact, name]
        key = resource.variable, attribute
        if key not in self.names.attributes:
            self.names.attributes[key] = self.names.variable("a")
            self.lines.append(f"{self.names.attributes[key]} = {resource.variable}{_reader(resource.kind, attribute)}")
        return self.names.attributes[key]


def _reader(kind: type | None, attribute: str) -> str:
    if attribute == "Ref":
        return ".ref"
    wanted = "attr" + attribute.replace(".", "").lower()
    typed = next((name for name in dir(kind) if name.replace("_", "") == wanted), None)
    return f".get_att({attribute!r}).to_string()" if kind is None or typed is None else f".{typed}"
