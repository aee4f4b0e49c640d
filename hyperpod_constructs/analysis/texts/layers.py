"""Functions and their layers: one architecture and one runtime, also where only a name tells which.

Sources: https://docs.aws.amazon.com/lambda/latest/dg/foundation-arch.html and
https://docs.aws.amazon.com/AWSCloudFormation/latest/TemplateReference/aws-resource-lambda-layerversion.html
"""

from __future__ import annotations

from collections.abc import Mapping

from hyperpod_constructs.analysis.schema.violation import listed
from hyperpod_constructs.analysis.texts.reading import known, spelled
from hyperpod_constructs.analysis.texts.slip import Judge, Slip, Slips, WholeJudge, entries
from hyperpod_constructs.facts.architectures import DEFAULT, architecture_in
from hyperpod_constructs.facts.texts import Language
from hyperpod_constructs.templates.model import Resource, resource_of
from hyperpod_constructs.templates.values import ABSENT, Value

_FUNCTION, _LAYER = "AWS::Lambda::Function", "AWS::Lambda::LayerVersion"
_LISTS = {"CompatibleArchitectures": "Architectures", "CompatibleRuntimes": "Runtime"}
"""What a layer is for, and the property of a function with the same."""


def function(resource: Resource) -> Slips:
    """The layers, the image and the archive of a function are for its architecture, and its layers for its runtime."""
    given = resource.get("Architectures")
    own = DEFAULT if given is ABSENT else next((known(one) for _, one in entries(given)), None)
    for index, one in entries(resource.get("Layers")):
        layer = resource_of(one, _LAYER)
        if layer is not None:
            yield from _of_layer(layer, {"Architectures": own, "Runtime": known(resource.get("Runtime"))}, index)
        else:
            yield from _of_name((spelled(one) or "").partition(":layer:")[2].partition(":")[0], own, ("Layers", index), one)
    yield from _versions(resource)
    for key in ("ImageUri", "S3Key"):
        value = resource.get("Code", key)
        yield from _of_name((known(value) or "").rpartition("/")[2], own, ("Code", key), value)


def _versions(function: Resource) -> Slips:
    """Two versions of one layer."""
    seen: set[str] = set()
    for index, one in entries(function.get("Layers")):
        name = (known(one) or "").rpartition(":")[0]
        if name in seen:
            yield Slip(f"two versions of {name.rpartition(':')[2]} are layers", "one version of each layer", ("Layers", index), one)
        seen.update((name,) if name else ())


def _of_layer(layer: Resource, own: Mapping[str, str | None], index: int) -> Slips:
    """A layer of the templates that says for what it is."""
    for key, name in _LISTS.items():
        allowed = [known(one) for _, one in entries(layer.get(key))]
        if allowed and None not in allowed and own[name] is not None and own[name] not in allowed:
            message = f"{layer.logical_id} is for {listed([*map(str, allowed)])}, and the function for {own[name]}"
            yield Slip(message, f"a layer for {own[name]}", ("Layers", index), dead=True, beside=((layer, (key,)),))
            return


def _of_name(name: str, own: str | None, path: tuple[str | int, ...], found: Value) -> Slips:
    told = architecture_in(name)
    if told is not None and own is not None and told != own:
        yield Slip(f"{name} is for {told}, and the function for {own}", f"one for {own}", path, found, dead=True)


def layer_version(resource: Resource) -> Slips:
    """The archive of a layer is for an architecture of the layer."""
    name = (known(resource.get("Content", "S3Key")) or "").rpartition("/")[2]
    allowed, told = [known(one) for _, one in entries(resource.get("CompatibleArchitectures"))], architecture_in(name)
    if allowed and None not in allowed and told is not None and told not in allowed:
        message = f"{name} is for {told}, and the layer for {listed([*map(str, allowed)])}"
        yield Slip(message, f"CompatibleArchitectures with {told}", ("Content", "S3Key"), name, dead=True)


JUDGES: Mapping[Language, Judge] = {}
WHOLES: Mapping[str, WholeJudge] = {_FUNCTION: function, _LAYER: layer_version}
