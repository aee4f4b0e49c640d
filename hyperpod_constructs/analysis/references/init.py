"""What cfn-init reads in the metadata of a machine: its configs, and the sets of them.

Source: https://docs.aws.amazon.com/AWSCloudFormation/latest/TemplateReference/aws-resource-init.html
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import islice

from hyperpod_constructs.analysis.references.places import Misreference
from hyperpod_constructs.analysis.schema.judge import violations
from hyperpod_constructs.analysis.schema.violation import listed, meant
from hyperpod_constructs.facts.template_parts import CONFIG
from hyperpod_constructs.templates.model import Resource
from hyperpod_constructs.templates.values import Value, as_str

_INIT, _SETS, _SET = "AWS::CloudFormation::Init", "configSets", "ConfigSet"


def wrong_init(resource: Resource) -> Iterator[Misreference]:
    """The first config that a set names and that is not there, or whose keys cfn-init does not read."""
    metadata = resource.raw.get("Metadata")
    written = metadata.get(_INIT) if isinstance(metadata, dict) else None
    init = resource.template.resolver.resolve(written) if isinstance(written, dict) else None
    if not isinstance(init, Mapping):
        return
    configs = {name: one for name, one in init.items() if name != _SETS}
    sets = init.get(_SETS)
    for kind, name, known in _named(sets if isinstance(sets, Mapping) else {}, configs):
        if name not in known:
            message = f"cfn-init of {resource.logical_id} has no {kind} {name}{meant(name, known)}"
            yield Misreference(resource, (), message, name, listed(known) or f"a {kind}")
            return
    for name, config in configs.items():
        for one in islice(violations(CONFIG, config), 1):
            yield Misreference(resource, (), f"{one.message}, in config {name} of cfn-init", one.found, one.allowed)
            return


def _named(sets: Mapping[str, Value], configs: Mapping[str, Value]) -> Iterator[tuple[str, str, Mapping[str, Value]]]:
    """The configs and sets that sets name, each with those that are there."""
    for items in sets.values():
        for item in items if isinstance(items, tuple) else (items,):
            other = as_str(item.get(_SET)) if isinstance(item, Mapping) and _SET in item else None
            name = as_str(item)
            if other is not None:
                yield "set", other, sets
            elif name is not None:
                yield "config", name, configs
