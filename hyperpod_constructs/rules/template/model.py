"""The template model: a typed, read-only view of CloudFormation templates, resolved as far as that can be done offline.

>>> model = load([Path("cdk.out")])
>>> for cluster in model.resources("AWS::SageMaker::Cluster"):
...     cluster.get("VpcConfig", "Subnets")
(${NetworkNodeSubnetC16332AA.SubnetId},)
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence
from functools import cached_property
from pathlib import Path
from typing import TypeVar, cast

from hyperpod_constructs.rules.template.dependencies import awaited, depends_on
from hyperpod_constructs.rules.template.documents import NESTED_STACK, Document, resources_of
from hyperpod_constructs.rules.template.environment import Environment
from hyperpod_constructs.rules.template.intrinsics import Depth, Resolver
from hyperpod_constructs.rules.template.loading import documents_of
from hyperpod_constructs.rules.template.parameters import flat, parameter_value
from hyperpod_constructs.rules.template.raw import Raw, raw_template
from hyperpod_constructs.rules.template.values import ABSENT, UNKNOWN, Reference, Value, as_str, at

T = TypeVar("T")

# Transforms that leave the resources as they are written; every other can change or add anything.
_HARMLESS_TRANSFORMS = frozenset({"AWS::LanguageExtensions", "AWS::SecretsManager-2020-07-23", "AWS::SecretsManager-2024-09-16"})
# It adds functions with what is theirs; only its connectors add policies to the roles of others.
_SERVERLESS = "AWS::Serverless-2016-10-31"
_ADDING_TRANSFORMS = frozenset({"AWS::CodeDeployBlueGreen", _SERVERLESS})


class Resource:
    """A resource of a template. Two are equal only if they are the same one."""

    def __init__(self, template: Template, logical_id: str, raw: Mapping[str, Raw]) -> None:
        self.template = template
        self.logical_id = logical_id
        self.raw = raw
        """The resource as it is written, functions unresolved."""
        self.type: str = str(raw["Type"])

    def __repr__(self) -> str:
        return f"<{self.type} {self.template.name}:{self.logical_id}>"

    @property
    def construct_path(self) -> str | None:
        """The path of the CDK construct that made it, where the template's metadata or the assembly tells."""
        known = at(self.metadata, "aws:cdk:path")
        return known if isinstance(known, str) else self.template.document.construct_paths.get(self.logical_id)

    @cached_property
    def properties(self) -> Mapping[str, Value]:
        """The resolved properties; empty where they are not known as a whole, which :meth:`get` tells apart."""
        return self._properties if isinstance(self._properties, Mapping) else {}

    def get(self, *path: str | int) -> Value:
        """What is at a path in the properties: :data:`ABSENT` if nothing is, :data:`UNKNOWN` behind what is not known."""
        return at(self._properties, *path)

    @staticmethod
    def path(*path: str | int) -> str:
        """A property's path from the resource: ``Properties/VpcConfig/Subnets``."""
        return "/".join(["Properties", *map(str, path)])

    @cached_property
    def metadata(self) -> Value:
        """The metadata, resolved."""
        return self.template.resolver.resolve(self.raw.get("Metadata", {}))

    @property
    def condition(self) -> str | None:
        """The name of the condition under which it exists."""
        name = self.raw.get("Condition")
        return name if isinstance(name, str) else None

    @property
    def exists(self) -> bool | None:
        """Whether its condition holds; ``None`` if that is not known. A model holds no resource that does not exist."""
        return True if self.condition is None else self.template.condition(self.condition)

    @property
    def deletion_policy(self) -> Value:
        """``DeletionPolicy``, resolved; :data:`ABSENT` if it is not written."""
        return self._attribute("DeletionPolicy")

    @property
    def update_replace_policy(self) -> Value:
        """``UpdateReplacePolicy``, resolved; :data:`ABSENT` if it is not written."""
        return self._attribute("UpdateReplacePolicy")

    @cached_property
    def depends_on(self) -> frozenset[Resource]:
        """The resources that it names: in ``DependsOn``, by a function, or through an export or output of another stack."""
        return depends_on(self)

    def awaits(self, other: Resource) -> bool:
        """Whether it is created only after another, by any chain of dependencies within and between stacks."""
        return other is not self and other in self._awaited

    @cached_property
    def nested(self) -> Template | None:
        """The template of a nested stack, if it is known."""
        return self.template.nested.get(self.logical_id)

    @cached_property
    def _awaited(self) -> frozenset[Resource]:
        return awaited(self)

    @cached_property
    def _properties(self) -> Value:
        if self.template.rewritten:
            return UNKNOWN
        found = self.template.resolver.resolve(self.raw.get("Properties", {}))
        return {} if found is None or found is ABSENT else found

    def _attribute(self, name: str) -> Value:
        return self.template.resolver.resolve(self.raw[name]) if name in self.raw else ABSENT


class Template:
    """A template of the model, or one use of it as a nested stack; the scope in which its functions are resolved."""

    def __init__(self, model: Model, document: Document, parent: Resource | None = None) -> None:
        self.model = model
        self.document = document
        self.parent = parent
        """The nested stack that this is the template of."""
        self.resolver = Resolver(self, model.depth)
        self._values: dict[tuple[str, str], Value] = {}
        self._conditions: dict[str, bool | None] = {}
        self._pending: set[tuple[str, str]] = set()

    def __repr__(self) -> str:
        return f"<Template {self.name}>"

    @property
    def name(self) -> str:
        """The file's path, the stack's display name in an assembly, or the name given; ``parent/id`` for a nested stack."""
        return self.document.name

    @property
    def file(self) -> Path | None:
        """The file that it was read from."""
        return self.document.file

    @property
    def environment(self) -> Environment:
        """What is known of the stack's place."""
        return self.document.environment

    @property
    def raw(self) -> Mapping[str, Raw]:
        """The template as it is written."""
        return self.document.body

    @cached_property
    def by_id(self) -> Mapping[str, Resource]:
        """The resources that exist, or can exist, by logical id."""
        found = {name: Resource(self, name, raw) for name, raw in resources_of(self.raw).items()}
        return {name: resource for name, resource in found.items() if resource.exists is not False}

    @cached_property
    def resources(self) -> tuple[Resource, ...]:
        """The resources that exist, or can exist, in the order of the template."""
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
    def transforms(self) -> tuple[str, ...]:
        """The names of the macros that process the whole template; ``?`` for one that has no plain name."""
        transform = self.raw.get("Transform")
        listed = transform if isinstance(transform, list) else [] if transform is None else [transform]
        names = [item.get("Name") if isinstance(item, dict) else item for item in listed]
        return tuple(name if isinstance(name, str) else "?" for name in names)

    @cached_property
    def complete(self) -> bool:
        """Whether the resources are all there are: no macro adds some. What is missing from an incomplete one can be there."""
        resources = self.raw["Resources"]
        macros = isinstance(resources, dict) and any(name.startswith("Fn::") for name in resources)
        adding = set(self.transforms) - _HARMLESS_TRANSFORMS
        return not macros and (not adding or (adding == {_SERVERLESS} and not self._connected))

    @property
    def _connected(self) -> bool:
        written = resources_of(self.raw).values()
        return any(one["Type"] == "AWS::Serverless::Connector" or "Connectors" in one for one in written)

    @cached_property
    def rewritten(self) -> bool:
        """Whether a macro of somebody can have changed any property: then none is known."""
        return bool(set(self.transforms) - _HARMLESS_TRANSFORMS - _ADDING_TRANSFORMS)

    def ref(self, name: str) -> Value:
        """What ``Ref`` yields."""
        if name.startswith("AWS::"):
            pseudo = self.environment.pseudo_parameter(name)
            return UNKNOWN if pseudo is None else pseudo
        if name in self._section("Parameters"):
            return self._once("Parameters", name, self._parameter)
        resource = self.by_id.get(name)
        return UNKNOWN if resource is None else Reference(resource)

    def attribute(self, resource: str, name: str) -> Value:
        """What ``Fn::GetAtt`` yields; for a nested stack whose template is known, the output in that template."""
        found = self.by_id.get(resource)
        if found is None:
            return UNKNOWN
        if found.type == NESTED_STACK and name.startswith("Outputs."):
            child = self.nested.get(resource)
            return UNKNOWN if child is None else child.output(name.removeprefix("Outputs."))
        return Reference(found, name)

    def condition(self, name: str) -> bool | None:
        """Whether a condition holds; ``None`` if that is not known."""
        if name not in self._conditions:
            self._conditions[name] = None
            self._conditions[name] = self.resolver.holds(self._section("Conditions").get(name))
        return self._conditions[name]

    def mapping(self, name: str) -> Value:
        """A mapping of the template; :data:`ABSENT` if there is none of this name."""
        section = self._section("Mappings")
        return self.resolver.resolve(section[name]) if name in section else UNKNOWN if self._has_macro(section) else ABSENT

    def output(self, name: str) -> Value:
        """The value of an output; :data:`UNKNOWN` if there is none, or its condition is not sure to hold."""
        return self._once("Outputs", name, self._output) if name in self._section("Outputs") else UNKNOWN

    def exported(self, name: str) -> Value:
        """What a stack of the model exports under a name."""
        return self.model.exported(name, self.environment)

    def stack_output(self, stack: str, name: str, place: Mapping[str, Value]) -> Value:
        """An output of a stack of the model; see :meth:`place`."""
        return self.model.stack_output(stack, name, self.place(place))

    def place(self, given: Mapping[str, Value]) -> Environment:
        """Where ``Fn::GetStackOutput`` looks: in the given ``Region``, and with a ``RoleArn`` in an account that is not known."""
        region = as_str(given["Region"]) if "Region" in given else self.environment.region
        return Environment(region=region, account=None if "RoleArn" in given else self.environment.account)

    def exports(self) -> Iterator[tuple[str, str]]:
        """The names that it exports, as far as they are known, each with the name of the output."""
        for output, declaration in self._section("Outputs").items():
            export = declaration.get("Export") if isinstance(declaration, dict) else None
            name = self.resolver.resolve(export.get("Name")) if isinstance(export, dict) else None
            if isinstance(name, str):
                yield name, output

    def _section(self, name: str) -> Mapping[str, Raw]:
        section = self.raw.get(name)
        return section if isinstance(section, dict) else {}

    def _has_macro(self, section: Mapping[str, Raw]) -> bool:
        return any(name.startswith("Fn::") for name in section)

    def _once(self, section: str, name: str, compute: Callable[[str], Value]) -> Value:
        """A value computed once; a name that needs itself is unknown."""
        key = (section, name)
        if key not in self._values:
            if key in self._pending or self.model.depth.reached:
                return UNKNOWN
            self._pending.add(key)
            try:
                with self.model.depth:
                    self._values[key] = compute(name)
            finally:
                self._pending.discard(key)
        return self._values[key]

    def _parameter(self, name: str) -> Value:
        given: Value = ABSENT
        if self.parent is not None:
            properties = self.parent.raw.get("Properties")
            passed = properties.get("Parameters") if isinstance(properties, dict) else None
            if isinstance(passed, dict) and name in passed:
                given = flat(self.parent.template.resolver.resolve(passed[name]))
            elif passed is not None and (not isinstance(passed, dict) or any(key.startswith("Fn::") for key in passed)):
                given = UNKNOWN
        return parameter_value(self._section("Parameters")[name], given)

    def _output(self, name: str) -> Value:
        declaration = self._section("Outputs")[name]
        if self.rewritten or not isinstance(declaration, dict):
            return UNKNOWN
        condition = declaration.get("Condition")
        if isinstance(condition, str) and self.condition(condition) is not True:
            return UNKNOWN
        return flat(self.resolver.resolve(declaration.get("Value")))


class Model:
    """Some templates together, as one deployment."""

    def __init__(self, documents: Sequence[Document]) -> None:
        self.depth = Depth()
        self._roots = tuple(Template(self, document) for document in documents)
        self._facts: dict[Hashable, object] = {}

    @classmethod
    def of(cls, templates: Mapping[str, Mapping[str, object]]) -> Model:
        """A model of templates that are already parsed, by name.

        :raises TemplateError: if one is no template.
        """
        return cls([Document(name=name, body=raw_template(body)) for name, body in templates.items()])

    @cached_property
    def templates(self) -> tuple[Template, ...]:
        """All templates, each nested stack's behind that of its parent."""
        found: list[Template] = []
        waiting = list(reversed(self._roots))
        while waiting:
            template = waiting.pop()
            found.append(template)
            waiting.extend(reversed(tuple(template.nested.values())))
        return tuple(found)

    def resources(self, *types: str) -> tuple[Resource, ...]:
        """The resources of these types, or all, that exist or can exist, in the order of the templates."""
        if not types:
            return self._all
        if len(types) == 1:
            return self._by_type.get(types[0], ())
        return tuple(resource for resource in self._all if resource.type in types)

    @cached_property
    def complete(self) -> bool:
        """Whether the resources are all there are; see :attr:`Template.complete`."""
        return all(template.complete for template in self.templates)

    def exported(self, name: str, environment: Environment) -> Value:
        """What a stack exports under a name; :data:`UNKNOWN` if none or more than one of that account and region is known to."""
        found = [
            (template, output) for template, output in self._exports.get(name, ()) if template.environment.is_beside(environment)
        ]
        return found[0][0].output(found[0][1]) if len(found) == 1 else UNKNOWN

    def exporters(self, name: str, environment: Environment) -> list[Template]:
        """The templates of that account and region that export a name."""
        return [template for template, _ in self._exports.get(name, ()) if template.environment.is_beside(environment)]

    def stack_output(self, stack: str, name: str, environment: Environment) -> Value:
        """An output of a stack, by the stack's name; :data:`UNKNOWN` if the model does not hold exactly one in that place."""
        found = self.stacks_named(stack, environment)
        return found[0].output(name) if len(found) == 1 else UNKNOWN

    def stacks_named(self, stack: str, environment: Environment) -> list[Template]:
        """The stacks of this name in that account and region."""
        named = [root for root in self._roots if stack == (root.environment.stack_name or root.name)]
        return [root for root in named if root.environment.is_beside(environment)]

    @cached_property
    def roots(self) -> Mapping[str, Template]:
        """The templates that are no nested stack's, by name."""
        return {root.name: root for root in self._roots}

    def cached(self, key: Hashable, compute: Callable[[], T]) -> T:
        """What `compute` yields for a key, computed once: facts that several rules derive from the model."""
        if key not in self._facts:
            self._facts[key] = compute()
        return cast("T", self._facts[key])

    @cached_property
    def _all(self) -> tuple[Resource, ...]:
        return tuple(resource for template in self.templates for resource in template.resources)

    @cached_property
    def _by_type(self) -> Mapping[str, tuple[Resource, ...]]:
        found: dict[str, list[Resource]] = {}
        for resource in self._all:
            found.setdefault(resource.type, []).append(resource)
        return {type_: tuple(resources) for type_, resources in found.items()}

    @cached_property
    def _exports(self) -> Mapping[str, tuple[tuple[Template, str], ...]]:
        found: dict[str, tuple[tuple[Template, str], ...]] = {}
        for template in self.templates:
            for name, output in template.exports():
                found[name] = (*found.get(name, ()), (template, output))
        return found


def load(paths: Sequence[Path]) -> Model:
    """A model of templates (JSON, or YAML with short forms) and assemblies (a ``cdk.out`` directory).

    :raises TemplateError: if a path holds neither.
    """
    return Model(documents_of(paths))
