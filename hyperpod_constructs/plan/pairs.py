"""Pairs of resources from two models: same logical id, same template name."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property

from hyperpod_constructs.facts.data_holders import KEEPING_POLICIES
from hyperpod_constructs.plan.equality import Key
from hyperpod_constructs.templates.documents import NESTED_STACK
from hyperpod_constructs.templates.model import Model, Resource, Template
from hyperpod_constructs.templates.values import as_str

_IGNORED = frozenset({"AWS::CDK::Metadata"})
"""Types without a resource in the account."""


@dataclass(frozen=True, slots=True)
class Pair:
    """A resource before and after."""

    key: Key
    old: Resource
    new: Resource


class Pairs:
    """The resources of an old and a new model: common, created and removed."""

    def __init__(self, old: Model, new: Model) -> None:
        self._alone = len(old.roots) == 1 and len(new.roots) == 1
        self.old = old
        self.new = new

    def key_of(self, resource: Resource) -> Key:
        """The key of a resource, equal in both models."""
        return self._name(resource.template), resource.logical_id

    @cached_property
    def common(self) -> tuple[Pair, ...]:
        """The resources in both models, in the order of the new templates."""
        return tuple(Pair(key, self._old[key], resource) for key, resource in self._new.items() if key in self._old)

    @cached_property
    def created(self) -> tuple[Resource, ...]:
        """The resources in the new templates only."""
        return tuple(resource for key, resource in self._new.items() if key not in self._old)

    @cached_property
    def removed(self) -> tuple[Resource, ...]:
        """The resources in the old templates only, of stacks in both models."""
        gone = (resource for key, resource in self._old.items() if key not in self._new)
        return tuple(resource for resource in gone if self._is_updated(resource.template))

    @cached_property
    def templates(self) -> tuple[tuple[Template, Template | None], ...]:
        """The old templates of stacks in both models, each with the new one; `None` for a removed nested stack."""
        after = {self._name(template): template for template in self.new.templates}
        return tuple((old, after.get(self._name(old))) for old in self.old.templates if self._is_updated(old))

    @cached_property
    def only_old(self) -> tuple[str, ...]:
        """The stacks in the old model only."""
        return tuple(root.name for root in self.old.roots.values() if not self._is_updated(root))

    @cached_property
    def rewritten(self) -> tuple[str, ...]:
        """The templates of either model that a macro may rewrite."""
        return _names(template for template in self._compared if template.rewritten)

    @cached_property
    def looped(self) -> tuple[str, ...]:
        """The templates of either model with loops that make resources."""
        return _names(template for template in self._compared if template.looped)

    @cached_property
    def unread(self) -> tuple[str, ...]:
        """The nested stacks without a template in one of the models."""
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
        """The new resources of the same type in the same template, which may be a renamed one."""
        name = self._name(resource.template)
        return [other for other in self.created if other.type == resource.type and self._name(other.template) == name]

    def in_one_stack(self, old: Resource, new: Resource) -> bool:
        """Whether the same stack update removes the old resource and creates the new one."""
        return self._name(old.template.root) == self._name(new.template.root)

    def stays_with_its_stack(self, resource: Resource) -> bool:
        """Whether a removed resource belongs to a removed nested stack that a policy keeps."""
        parent = resource.template.parent
        if parent is None:
            return False
        kept = self.key_of(parent) not in self._new and as_str(parent.deletion_policy) in KEEPING_POLICIES
        return kept or self.stays_with_its_stack(parent)

    def _is_updated(self, old: Template) -> bool:
        """Whether the new model has the stack of an old template too."""
        return self._name(old.root) in self._stacks

    @cached_property
    def _stacks(self) -> frozenset[str]:
        return frozenset(self._name(root) for root in self.new.roots.values())

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
