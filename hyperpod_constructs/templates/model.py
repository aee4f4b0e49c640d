"""The template model: a typed, read-only view of CloudFormation templates, resolved as far as possible offline.

>>> model = load([Path("cdk.out")])
>>> for cluster in model.resources("AWS::SageMaker::Cluster"):
...     cluster.get("VpcConfig", "Subnets")
(${NetworkNodeSubnetC16332AA.SubnetId},)
"""

from __future__ import annotations

import json
from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import cached_property
from pathlib import Path
from typing import TypeVar, cast

from hyperpod_constructs._support.grouping import grouped
from hyperpod_constructs.templates.accounts import claimed_account
from hyperpod_constructs.templates.deployment import Deployment
from hyperpod_constructs.templates.documents import NESTED_STACK, Document, resources_of
from hyperpod_constructs.templates.doubts import Doubts, key_of
from hyperpod_constructs.templates.environment import Environment
from hyperpod_constructs.templates.intrinsics import Depth, Resolver
from hyperpod_constructs.templates.loading import documents_of
from hyperpod_constructs.templates.once import Once
from hyperpod_constructs.templates.parameters import flat, given_parameter, given_value, parameter_value
from hyperpod_constructs.templates.raw import Raw, has_function, raw_template
from hyperpod_constructs.templates.transforms import may_add, may_rewrite
from hyperpod_constructs.templates.values import ABSENT, UNKNOWN, Account, Reference, Value, as_str, at

T = TypeVar("T")

_WITH_BLOCK = ("AWS::EC2::VPC", "AWS::EC2::Subnet")


class Resource:
    """A resource of a template. Equality is identity."""

    def __init__(self, template: Template, logical_id: str, raw: Mapping[str, Raw]) -> None:
        self.template = template
        self.logical_id = logical_id
        self.key = key_of(template.document, logical_id)
        self.written = template.model.doubts.meant(self.key, raw)
        """The resource as written, functions unresolved, whatever is in doubt."""
        self.raw = template.model.doubts.written(self.key, self.written)
        """The resource as written, with null in the place of a value that is in doubt."""
        self.type: str = template.model.doubts.types.get(self.key, str(raw["Type"]))

    def __repr__(self) -> str:
        return f"<{self.type} {self.template.name}:{self.logical_id}>"

    @property
    def construct_path(self) -> str | None:
        """The path of its CDK construct, if the metadata or the assembly tells."""
        known = at(self.metadata, "aws:cdk:path")
        return known if isinstance(known, str) else self.template.document.construct_paths.get(self.logical_id)

    @cached_property
    def properties(self) -> Mapping[str, Value]:
        """The resolved properties; empty if they are unknown as a whole (`get` then gives `UNKNOWN`)."""
        return self._properties if isinstance(self._properties, Mapping) else {}

    def get(self, *path: str | int) -> Value:
        """The value at a path in the properties: `ABSENT` if there is none, `UNKNOWN` behind an unknown value."""
        return at(self._properties, *path)

    @staticmethod
    def path(*path: str | int) -> str:
        """A property's path from the resource, such as `Properties/VpcConfig/Subnets`."""
        return "/".join(["Properties", *map(str, path)])

    @cached_property
    def metadata(self) -> Value:
        """The metadata, resolved."""
        return self.template.resolver.resolve(self.raw.get("Metadata", {}))

    @property
    def condition(self) -> str | None:
        """The name of its condition; `None` without one."""
        name = self.raw.get("Condition")
        return name if isinstance(name, str) else None

    @property
    def exists(self) -> bool | None:
        """Whether its condition holds; `None` if that is unknown. A model leaves out resources under a false condition."""
        return True if self.condition is None else self.template.condition(self.condition)

    def policy(self, name: str) -> Value:
        """A policy of the resource, such as `DeletionPolicy`, resolved; `ABSENT` without one."""
        return self.template.resolver.resolve(self.raw[name]) if name in self.raw else ABSENT

    @property
    def deletion_policy(self) -> Value:
        """`DeletionPolicy`, resolved; `ABSENT` without one."""
        return self.policy("DeletionPolicy")

    @property
    def update_replace_policy(self) -> Value:
        """`UpdateReplacePolicy`, resolved; `ABSENT` without one."""
        return self.policy("UpdateReplacePolicy")

    @cached_property
    def nested(self) -> Template | None:
        """The template of this nested stack, if it is known."""
        return self.template.nested.get(self.logical_id)

    @cached_property
    def _properties(self) -> Value:
        if self.template.rewritten:
            return UNKNOWN
        found = self.template.resolver.resolve(self.raw.get("Properties", {}))
        return self.template.model.doubts.applied(self.key, {} if found is None or found is ABSENT else found)


_OF_STACKS = ('"Fn::ImportValue"', '"Fn::GetStackOutput"')
"""The functions, in JSON, that give what other stacks have."""


class Template:
    """A template of the model, or one use of it as a nested stack; the scope in which its functions are resolved."""

    def __init__(self, model: Model, document: Document, parent: Resource | None = None) -> None:
        self.model = model
        self.document = document
        self.parent = parent
        """The nested stack of this template; `None` for a stack of its own."""
        self.resolver = Resolver(self, model.depth)
        self._once = Once(model.depth)
        self._conditions: dict[str, bool | None] = {}

    def __repr__(self) -> str:
        return f"<Template {self.name}>"

    @cached_property
    def number(self) -> int:
        """Its place among the templates of the model: a short name, as paths may be long."""
        return self.model.templates.index(self)

    @property
    def name(self) -> str:
        """The path of the file, the display name in an assembly, or the given name; `parent/id` for a nested stack."""
        return self.document.name

    @property
    def root(self) -> Template:
        """The outermost template: itself, unless it belongs to a nested stack."""
        return self if self.parent is None else self.parent.template.root

    @property
    def file(self) -> Path | None:
        """The file of the template."""
        return self.document.file

    @cached_property
    def environment(self) -> Environment:
        """The place of the stack, as far as it is known."""
        known, region = self.document.environment, self.model.deployment.region
        return known if region is None or known.region is not None else replace(known, region=region)

    @property
    def owner(self) -> Value:
        """The account of the stack, known or not."""
        return self.environment.account or self.model.account

    @property
    def raw(self) -> Mapping[str, Raw]:
        """The template as written."""
        return self.document.body

    @cached_property
    def written(self) -> Mapping[str, Mapping[str, Raw]]:
        """The well-formed resources as written, also those that no deployment makes."""
        return resources_of(self.raw)

    @cached_property
    def by_id(self) -> Mapping[str, Resource]:
        """The resources that exist or may exist, by logical id."""
        found = {name: Resource(self, name, raw) for name, raw in self.written.items()}
        absent = self.model.doubts.absent
        return {name: one for name, one in found.items() if one.exists is not False and one.key not in absent}

    @cached_property
    def resources(self) -> tuple[Resource, ...]:
        """The resources that exist or may exist, in the order of the template."""
        return tuple(self.by_id.values())

    @cached_property
    def nested(self) -> Mapping[str, Template]:
        """The templates of its nested stacks, as far as they are known, by logical id."""
        return {
            name: Template(self.model, child, self.by_id[name])
            for name, child in self.document.nested.items()
            if name in self.by_id
        }

    @cached_property
    def complete(self) -> bool:
        """Whether the template lists all its resources: no macro adds more."""
        return not self.looped and not may_add(self.raw)

    @property
    def looped(self) -> bool:
        """Whether a loop (`Fn::ForEach`) makes resources that the template does not list."""
        return has_function(self.document.section("Resources"))

    @cached_property
    def rewritten(self) -> bool:
        """Whether a custom macro may change any property, so that all are unknown."""
        return may_rewrite(self.raw)

    def ref(self, name: str) -> Value:
        """The value of `Ref`."""
        if name.startswith("AWS::"):
            pseudo = self.owner if name == "AWS::AccountId" else self.environment.pseudo_parameter(name)
            return UNKNOWN if pseudo is None else pseudo
        if name in self.document.section("Parameters"):
            return self._once.value("Parameters", name, self._parameter)
        resource = self.by_id.get(name)
        return UNKNOWN if resource is None else Reference(resource)

    def attribute(self, resource: str, name: str) -> Value:
        """The value of `Fn::GetAtt`; for a nested stack with a known template, the output there."""
        found = self.by_id.get(resource)
        if found is None:
            return UNKNOWN
        if found.type == NESTED_STACK and name.startswith("Outputs."):
            child = self.nested.get(resource)
            return UNKNOWN if child is None else child.output(name.removeprefix("Outputs."))
        block = self._once.value("CidrBlock", resource, self._block) if name == "CidrBlock" and found.type in _WITH_BLOCK else None
        return block if isinstance(block, str) else Reference(found, name)

    def condition(self, name: str) -> bool | None:
        """Whether a condition holds; `None` if that is unknown."""
        if name not in self._conditions:
            self._conditions[name] = None
            self._conditions[name] = self.resolver.holds(self.document.section("Conditions").get(name))
        return self._conditions[name]

    def filled(self, name: str) -> bool:
        """Whether a parameter is sure not to be empty, though its value is not known."""
        above = None if self.parent is None else given_parameter(self.parent.raw.get("Properties"), name)
        if self.parent is not None:
            return above is not None and self.parent.template.filled(above)
        return key_of(self.document, name) in self.model.deployment.filled

    def mapping(self, name: str) -> Value:
        """A mapping of the template; `ABSENT` without one of this name."""
        section = self.document.section("Mappings")
        return self.resolver.resolve(section[name]) if name in section else UNKNOWN if has_function(section) else ABSENT

    def output(self, name: str) -> Value:
        """The value of an output; `UNKNOWN` if it does not exist or its condition may be false."""
        return self._once.value("Outputs", name, self._output) if name in self.document.section("Outputs") else UNKNOWN

    def exported(self, name: str) -> Value:
        """The export of a stack of the model, by name."""
        return self.model.exported(name, self.environment)

    def stack_output(self, stack: str, name: str, place: Mapping[str, Value]) -> Value:
        """An output of a stack of the model, in the place that `place` computes."""
        return self.model.stack_output(stack, name, self.environment.place(place))

    def outputs(self) -> Iterator[Value]:
        """The values of its outputs."""
        return (self.output(name) for name in self.document.section("Outputs"))

    def exports(self) -> Iterator[tuple[str, str]]:
        """The known names of its exports, each with the name of the output; a name that other stacks give is not known."""
        for output, declaration in self.document.section("Outputs").items():
            export = declaration.get("Export") if isinstance(declaration, dict) else None
            written = export.get("Name") if isinstance(export, dict) else None
            name = None if any(one in json.dumps(written) for one in _OF_STACKS) else self.resolver.resolve(written)
            if isinstance(name, str):
                yield name, output

    def _parameter(self, name: str) -> Value:
        if key_of(self.document, name) in self.model.doubts.parameters:
            return UNKNOWN
        parent = self.parent
        if parent is None:
            given = self.model.deployment.given.get(key_of(self.document, name), ABSENT)
        else:
            given = given_value(parent.raw.get("Properties"), name, parent.template.resolver.resolve)
        return parameter_value(self.document.section("Parameters")[name], given)

    def _block(self, name: str) -> Value:
        """The block of a VPC or a subnet, which its attribute repeats."""
        properties = self.by_id[name].raw.get("Properties")
        block = properties.get("CidrBlock") if isinstance(properties, dict) else None
        return UNKNOWN if self.rewritten or block is None else self.resolver.resolve(block)

    def _output(self, name: str) -> Value:
        declaration = self.document.section("Outputs")[name]
        if self.rewritten or not isinstance(declaration, dict):
            return UNKNOWN
        condition = declaration.get("Condition")
        if isinstance(condition, str) and self.condition(condition) is not True:
            return UNKNOWN
        found = flat(self.resolver.resolve(declaration.get("Value")))
        handed = (target_of(found).key, found.attribute) if isinstance(found, Reference) else as_str(found)
        return UNKNOWN if handed in self.model.doubts.handed else found


class Model:
    """Templates of one deployment."""

    def __init__(self, documents: Sequence[Document], doubts: Doubts | None = None, deployment: Deployment | None = None) -> None:
        self.depth = Depth()
        self.doubts = doubts or Doubts()
        self.deployment = deployment or Deployment()
        self._roots = tuple(Template(self, document) for document in documents)
        self._facts: dict[Hashable, object] = {}

    @classmethod
    def of(cls, templates: Mapping[str, Mapping[str, object]]) -> Model:
        """A model of parsed templates, by name.

        :raises TemplateError: if one of them is not a template.
        """
        return cls([Document(name=name, body=raw_template(body)) for name, body in templates.items()])

    def doubting(self, doubts: Doubts) -> Model:
        """The same templates, with some of their parts not known."""
        return Model([root.document for root in self._roots], doubts, self.deployment)

    def deployed(self, deployment: Deployment) -> Model:
        """The same templates in another deployment."""
        return Model([root.document for root in self._roots], self.doubts, deployment)

    @cached_property
    def templates(self) -> tuple[Template, ...]:
        """All templates, nested ones after their parents."""
        found: list[Template] = []
        waiting = list(reversed(self._roots))
        while waiting:
            template = waiting.pop()
            found.append(template)
            waiting.extend(reversed(tuple(template.nested.values())))
        return tuple(found)

    def resources(self, *types: str) -> tuple[Resource, ...]:
        """The resources that exist or may exist, in the order of the templates.

        :param types: their types; all by default.
        """
        if not types:
            return self._all
        if len(types) == 1:
            return self._by_type.get(types[0], ())
        return self.cached((Model.resources, types), lambda: tuple(one for one in self._all if one.type in types))

    @cached_property
    def account(self) -> Account:
        """The account of the stacks whose environment is not known."""
        return Account(claimed_account(root.raw for root in self._roots))

    @cached_property
    def complete(self) -> bool:
        """Whether all templates list all their resources; see `Template.complete`."""
        return all(template.complete for template in self.templates)

    def exported(self, name: str, environment: Environment) -> Value:
        """The export under a name; `UNKNOWN` unless exactly one stack of that account and region is known to export it."""
        found = [
            (template, output) for template, output in self._exports.get(name, ()) if template.environment.is_beside(environment)
        ]
        return found[0][0].output(found[0][1]) if len(found) == 1 else UNKNOWN

    def exporters(self, name: str, environment: Environment) -> list[Template]:
        """The templates in that account and region with an export of this name."""
        return [template for template, _ in self._exports.get(name, ()) if template.environment.is_beside(environment)]

    def stack_output(self, stack: str, name: str, environment: Environment) -> Value:
        """An output of a stack, by the stack's name; `UNKNOWN` unless the model has exactly one such stack in that place."""
        found = self.stacks_named(stack, environment)
        return found[0].output(name) if len(found) == 1 else UNKNOWN

    def stacks_named(self, stack: str, environment: Environment) -> list[Template]:
        """The stacks with this name in that account and region."""
        named = [root for root in self._roots if stack == (root.environment.stack_name or root.name)]
        return [root for root in named if root.environment.is_beside(environment)]

    @cached_property
    def roots(self) -> Mapping[str, Template]:
        """The outermost templates, by name."""
        return {root.name: root for root in self._roots}

    def cached(self, key: Hashable, compute: Callable[[], T]) -> T:
        """The result of `compute`, computed once for each key: facts that several rules derive from the model."""
        if key not in self._facts:
            self._facts[key] = compute()
        return cast("T", self._facts[key])

    @cached_property
    def _all(self) -> tuple[Resource, ...]:
        return tuple(resource for template in self.templates for resource in template.resources)

    @cached_property
    def _by_type(self) -> Mapping[str, tuple[Resource, ...]]:
        found = grouped((resource.type, resource) for resource in self._all)
        return {type_: tuple(resources) for type_, resources in found.items()}

    @cached_property
    def _exports(self) -> Mapping[str, Sequence[tuple[Template, str]]]:
        return grouped((name, (template, output)) for template in self.templates for name, output in template.exports())


def resource_of(value: Value, *types: str) -> Resource | None:
    """The resource to which a value refers, by `Ref` or by an attribute; `None` for any other value.

    :param types: the accepted types of the resource; all by default.
    """
    found = target_of(value) if isinstance(value, Reference) else None
    return found if found is not None and (not types or found.type in types) else None


def target_of(reference: Reference) -> Resource:
    """The resource of a reference."""
    found = reference.resource
    assert isinstance(found, Resource)
    return found


def load(paths: Sequence[Path]) -> Model:
    """A model of template files (JSON, or YAML with short forms) and cloud assemblies (`cdk.out` directories).

    :raises TemplateError: if a path is neither.
    """
    return Model(documents_of(paths))
