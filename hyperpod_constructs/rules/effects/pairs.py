"""Which resources of two models are the same: those with one logical id in templates of one name."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property

from hyperpod_constructs.rules.effects.comparison import Key
from hyperpod_constructs.rules.effects.stateful import KEEPING
from hyperpod_constructs.rules.template.documents import NESTED_STACK
from hyperpod_constructs.rules.template.model import Model, Resource, Template
from hyperpod_constructs.rules.template.values import as_str

_IGNORED = frozenset({"AWS::CDK::Metadata"})
"""Types that are nothing in the account."""


@dataclass(frozen=True, slots=True)
class Pair:
    """A resource before and after."""

    key: Key
    old: Resource
    new: Resource


class Pairs:
    """The resources of an old and a new model, by what becomes of them."""

    def __init__(self, old: Model, new: Model) -> None:
        self._alone = len(_roots(old)) == 1 and len(_roots(new)) == 1
        self.old = old
        self.new = new

    def key_of(self, resource: Resource) -> Key:
        """The same in both models for the same resource."""
        return self._name(resource.template), resource.logical_id

    @cached_property
    def common(self) -> tuple[Pair, ...]:
        """Resources that are in both, in the order of the new templates."""
        return tuple(Pair(key, self._old[key], resource) for key, resource in self._new.items() if key in self._old)

    @cached_property
    def created(self) -> tuple[Resource, ...]:
        """Resources that only the new templates have."""
        return tuple(resource for key, resource in self._new.items() if key not in self._old)

    @cached_property
    def removed(self) -> tuple[Resource, ...]:
        """Resources that only the old templates have, of stacks that are in both."""
        stacks = {self._name(root) for root in _roots(self.new)}
        return tuple(
            resource
            for key, resource in self._old.items()
            if key not in self._new and self._name(_root(resource.template)) in stacks
        )

    @cached_property
    def templates(self) -> tuple[tuple[Template, Template | None], ...]:
        """The old templates of stacks that are in both, each with the new one; None of a nested stack that goes."""
        stacks = {self._name(root) for root in _roots(self.new)}
        after = {self._name(template): template for template in self.new.templates}
        return tuple(
            (template, after.get(self._name(template))) for template in self.old.templates if self._name(_root(template)) in stacks
        )

    @cached_property
    def only_old(self) -> tuple[str, ...]:
        """The stacks that only the old model has."""
        stacks = {self._name(root) for root in _roots(self.new)}
        return tuple(root.name for root in _roots(self.old) if self._name(root) not in stacks)

    @cached_property
    def rewritten(self) -> tuple[str, ...]:
        """The templates that a macro can have changed, in either model."""
        return _names(template for template in self._compared if template.rewritten)

    @cached_property
    def looped(self) -> tuple[str, ...]:
        """The templates with loops that make resources, in either model."""
        return _names(template for template in self._compared if _has_loops(template))

    @cached_property
    def unread(self) -> tuple[str, ...]:
        """The nested stacks in both models of which one has no template."""
        nested = (pair for pair in self.common if pair.new.type == pair.old.type == NESTED_STACK)
        return tuple(
            f"{pair.new.template.name}/{pair.new.logical_id}"
            for pair in nested
            if pair.old.nested is None or pair.new.nested is None
        )

    @property
    def _compared(self) -> Iterator[Template]:
        yield from (old for old, _ in self.templates)
        yield from self.new.templates

    def created_like(self, resource: Resource) -> list[Resource]:
        """New resources that may be this one under another logical id: of its type, in its template."""
        name = self._name(resource.template)
        return [other for other in self.created if other.type == resource.type and self._name(other.template) == name]

    def in_one_stack(self, old: Resource, new: Resource) -> bool:
        """Whether one update makes both what becomes of the old resource and the new one."""
        return self._name(_root(old.template)) == self._name(_root(new.template))

    def stays_with_its_stack(self, resource: Resource) -> bool:
        """A removed resource of a nested stack that is removed too, and is kept as it is, with all in it."""
        parent = resource.template.parent
        if parent is None:
            return False
        kept = self.key_of(parent) not in self._new and as_str(parent.deletion_policy) in KEEPING
        return kept or self.stays_with_its_stack(parent)

    @cached_property
    def _old(self) -> Mapping[Key, Resource]:
        return {self.key_of(resource): resource for resource in self.old.resources() if resource.type not in _IGNORED}

    @cached_property
    def _new(self) -> Mapping[Key, Resource]:
        return {self.key_of(resource): resource for resource in self.new.resources() if resource.type not in _IGNORED}

    def _name(self, template: Template) -> str:
        if template.parent is None:
            return "" if self._alone else template.name
        return f"{self._name(template.parent.template)}/{template.parent.logical_id}"


def _names(templates: Iterable[Template]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(template.name for template in templates))


def _has_loops(template: Template) -> bool:
    resources = template.raw["Resources"]
    return isinstance(resources, dict) and any(name.startswith("Fn::") for name in resources)


def _roots(model: Model) -> list[Template]:
    return [template for template in model.templates if template.parent is None]


def _root(template: Template) -> Template:
    return template if template.parent is None else _root(template.parent.template)
