"""The order of CloudFormation's work, as AWS leaves it open: resources that nothing ties are created at the same time, and what has
to be one after another is in a random order. So a missing dependency shows itself.

ministack works through a stack one resource at a time, in the order of their names. Its private names that this needs stand here.
"""

from __future__ import annotations

import asyncio
import copy
import random
from collections.abc import Mapping
from contextvars import ContextVar
from typing import Any

import ministack.services.cloudformation as cloudformation  # type: ignore[import-untyped]
from ministack.core.concurrency import run_reentrant  # type: ignore[import-untyped]
from ministack.services.cloudformation import changesets, engine, handlers, stacks

_sort, _provision, _tell, _deploy, _invalid = (
    engine._topological_sort,
    stacks._provision_keeping_seed,
    stacks._add_event,
    stacks._deploy_stack_async,
    stacks._fail_property_validation,
)


def shuffled(seed: int, dependencies: Mapping[str, frozenset[str]]) -> list[str]:
    """The names in a random order in which each comes after those that it depends on.

    A seed gives the same names the same order.
    """
    chance = random.Random(f"{seed}/{'/'.join(sorted(dependencies))}")
    left = {name: set(needed) for name, needed in dependencies.items()}
    order: list[str] = []
    while left:
        chosen = chance.choice(sorted(name for name, needed in left.items() if not needed))
        order.append(chosen)
        del left[chosen]
        for needed in left.values():
            needed.discard(chosen)
    return order


class Creation:
    """The creation of one stack: each resource starts as soon as all that it depends on are complete.

    After a failure nothing more starts; what is under way is finished, so that the rollback deletes it.
    """

    def __init__(self, stack_name: str, stack_id: str, template: dict[str, Any], parameters: dict[str, Any]) -> None:
        self.stack_id = stack_id
        self.definitions: dict[str, Any] = template.get("Resources", {})
        self.outcomes: dict[str, Any] = {}
        self.told: set[tuple[str, str]] = set()
        self._ended: list[str] = []
        self._stack_name = stack_name
        self._stack = cloudformation._stacks[stack_name]
        self._resources: dict[str, Any] = self._stack.setdefault("_resources", {})
        conditions = stacks._evaluate_conditions(template, parameters)
        self._scope = (parameters, conditions, template.get("Mappings", {}), stack_name, stack_id)

    @property
    def order(self) -> list[str]:
        """What was made in the order of completion, then what failed."""
        return sorted(self._ended, key=lambda name: isinstance(self.outcomes[name], Exception))

    async def run(self, order: list[str]) -> None:
        """Create everything; `order` is that in which resources start if they can start at the same time."""
        tasks: dict[str, asyncio.Task[None]] = {}
        dependencies = _dependencies(self.definitions, set(order))
        for name in order:
            needed = [tasks[other] for other in dependencies[name]]
            tasks[name] = asyncio.create_task(self._create(name, needed))
        await asyncio.gather(*tasks.values())

    def valid(self, order: list[str]) -> bool:
        """Whether ministack finds no mistake before it creates anything."""
        return bool(self._stack.get("_disable_validation")) or not stacks._validation_errors(self.definitions, order, *self._scope)

    def taken(self, name: str) -> Any:
        """The result of a creation that is over, or its failure."""
        outcome = self.outcomes[name]
        if isinstance(outcome, Exception):
            raise outcome
        return outcome

    async def _create(self, name: str, needed: list[asyncio.Task[None]]) -> None:
        await asyncio.gather(*needed)
        if any(isinstance(outcome, Exception) for outcome in self.outcomes.values()):
            return
        kind = self.definitions[name].get("Type", "AWS::CloudFormation::CustomResource")
        try:
            properties = self._resolved(name)
            self._say(name, kind, "CREATE_IN_PROGRESS")
            tagged = stacks._with_stack_tags(kind, properties, self._stack.get("Tags") or [], self._stack_name, self.stack_id, name)
            arguments = (kind, name, tagged, self._stack_name)
            threaded = stacks._runs_on_worker_thread(kind)
            made = await run_reentrant(_provision, *arguments) if threaded else _provision(*arguments)
        except Exception as error:
            self.outcomes[name] = error
            self._say(name, kind, "CREATE_FAILED", str(error))
        else:
            (physical_id, attributes), _ = self.outcomes[name] = made
            self._resources[name] = {
                "PhysicalResourceId": physical_id,
                "ResourceType": kind,
                "ResourceStatus": "CREATE_COMPLETE",
                "LogicalResourceId": name,
                "Properties": properties,
                "Attributes": attributes,
                "Timestamp": stacks.now_iso(),
            }
            self._say(name, kind, "CREATE_COMPLETE", physical_id=physical_id)
        self._ended.append(name)

    def _resolved(self, name: str) -> dict[str, Any]:
        written = copy.deepcopy(self.definitions[name].get("Properties", {}))
        resolved = stacks._resolve_refs(written, self._resources, *self._scope)
        given = {key: value for key, value in resolved.items() if value is not stacks._NO_VALUE}
        found: dict[str, Any] = stacks._resolve_dynamic_references(given, None, reuse_ssm=False, reuse_secrets=False)[0]
        return found

    def _say(self, name: str, kind: str, status: str, reason: str = "", *, physical_id: str = "") -> None:
        stacks._add_event(self.stack_id, self._stack_name, name, kind, status, reason, physical_id)
        self.told.add((name, status))


_CREATION: ContextVar[Creation | None] = ContextVar("creation", default=None)


def shuffle(seed: int) -> None:
    """Create what nothing ties at the same time, and update and delete in a random order; failures name the seed."""

    def sort(definitions: dict[str, Any], conditions: dict[str, Any]) -> list[str]:
        native: list[str] = _sort(definitions, conditions)
        creation = _CREATION.get()
        done = creation.order if creation is not None and creation.definitions is definitions else []
        left = shuffled(seed, _dependencies(definitions, set(native)))
        return [*done, *(name for name in left if name not in done)]

    def provision(kind: str, name: str, properties: dict[str, Any], stack_name: str) -> Any:
        creation = _CREATION.get()
        return _provision(kind, name, properties, stack_name) if creation is None else creation.taken(name)

    def invalid(stack: dict[str, Any], stack_id: str, *rest: Any, **options: Any) -> bool:
        creation = _CREATION.get()
        checked = creation is not None and creation.stack_id == stack_id
        return not checked and bool(_invalid(stack, stack_id, *rest, **options))

    def tell(
        stack_id: str,
        stack_name: str,
        name: str,
        kind: str,
        status: str,
        reason: str = "",
        physical_id: str = "",
        detailed_status: str = "",
    ) -> None:
        creation = _CREATION.get()
        if creation is not None and creation.stack_id == stack_id and (name, status) in creation.told:
            return
        if status.endswith("_FAILED") and reason and kind != "AWS::CloudFormation::Stack":
            reason = f"{reason} (order of resources: seed {seed})"
        _tell(stack_id, stack_name, name, kind, status, reason, physical_id, detailed_status)

    async def deploy(
        stack_name: str, stack_id: str, template: dict[str, Any], parameters: dict[str, Any], *rest: Any, **options: Any
    ) -> None:
        if not options.get("is_update") and not options.get("imports"):
            await _create_first(stack_name, stack_id, template, parameters)
        await _deploy(stack_name, stack_id, template, parameters, *rest, **options)

    async def _create_first(stack_name: str, stack_id: str, template: dict[str, Any], parameters: dict[str, Any]) -> None:
        """Create everything before ministack's turn, which then finds every resource made or failed."""
        creation = Creation(stack_name, stack_id, template, parameters)
        try:
            order = sort(creation.definitions, stacks._evaluate_conditions(template, parameters))
        except ValueError:  # a circle, which ministack reports
            return
        if creation.valid(order):
            await creation.run(order)
            _CREATION.set(creation)

    for module in (engine, stacks, changesets):
        module._topological_sort = sort
    for module in (stacks, handlers, changesets):
        module._deploy_stack_async = deploy
    for module in (stacks, handlers, changesets):
        module._add_event = tell
    stacks._provision_keeping_seed = provision
    stacks._fail_property_validation = invalid


def _dependencies(definitions: Mapping[str, Any], names: set[str]) -> dict[str, frozenset[str]]:
    return {name: frozenset(engine._extract_deps(definitions[name], names)) - {name} for name in names}
