"""The configuration of nodes in a template: `config.json` as the upload of this library's scripts writes it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from hyperpod_constructs.analysis.bounded_json import read_json
from hyperpod_constructs.templates.model import Model, Resource
from hyperpod_constructs.templates.values import parts_of

UPLOAD = "Custom::HyperPodScriptsUpload"
CONFIGURATION = "Configuration"
_LONGEST = 1024 * 1024
_LISTS = ("partitions", "qos", "accounts")


def scheduling_settings(model: Model) -> Iterator[tuple[Resource, Mapping[str, Any], Mapping[str, str]]]:
    """The upload, the settings of Slurm's scheduler and the partition of each group of workers, where they can be read.

    What only the deployment knows stands as `0`; settings of another form are left out, because the nodes refuse them.
    """
    for resource in model.resources(UPLOAD):
        document = _document(resource)
        settings, groups = document.get("scheduling"), document.get("groups")
        if isinstance(settings, dict) and _is_read(settings) and isinstance(groups, dict):
            workers = {
                name: str(group.get("partition", name))
                for name, group in groups.items()
                if isinstance(group, dict) and group.get("node_type") == "Compute"
            }
            yield resource, settings, workers


def _document(resource: Resource) -> dict[str, Any]:
    text = "".join(part if isinstance(part, str) else "0" for part in parts_of(resource.get(CONFIGURATION)))
    if len(text) > _LONGEST:
        return {}
    try:
        found = read_json(text)
    except ValueError:
        return {}
    return found if isinstance(found, dict) else {}


def _is_read(settings: Mapping[str, Any]) -> bool:
    """Whether settings have the form that the constructs give them."""
    entries = [one for key in _LISTS for one in _list(settings.get(key), dict)]
    texts = [one.get("name") for one in entries] + [one.get("parent", "") for one in entries]
    groups = [one.get("groups", []) for one in entries]
    return (
        all(isinstance(settings.get(key), list) and len(_list(settings[key], dict)) == len(settings[key]) for key in _LISTS)
        and all(isinstance(text, str) for text in texts)
        and all(isinstance(one.get("settings"), dict) for one in entries)
        and all(isinstance(found, list) and len(_list(found, str)) == len(found) for found in groups)
        and all("parent" in one for one in settings["accounts"])
        and all("groups" in one for one in settings["partitions"])
    )


def _list(value: Any, kind: type) -> list[Any]:
    return [one for one in value if isinstance(one, kind)] if isinstance(value, list) else []
