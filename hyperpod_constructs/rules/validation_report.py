"""The acknowledgements of an app in the CDK: a check of its assembly reads them from `validation-report.json`."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from hyperpod_constructs.rules.acknowledgement import Acknowledgement
from hyperpod_constructs.templates.errors import TemplateError
from hyperpod_constructs.templates.files import inside, is_file, read_text
from hyperpod_constructs.templates.reading import parsed_json

PLUGIN = "hyperpod"
"""The name of the validation plug-in: an id acknowledged in the CDK begins with it."""

_REPORT = "validation-report.json"


def acknowledged_in(assembly: Path) -> Iterator[Acknowledgement]:
    """The acknowledgements of an assembly's app; none without a report.

    :raises TemplateError: if the report is not JSON.
    """
    file = assembly / _REPORT
    if not is_file(file):
        return
    try:
        report = parsed_json(read_text(inside(assembly, file, assembly)))
    except TemplateError as error:
        raise error.at(file) from error
    for plugin in _dicts(report, "pluginReports"):
        if plugin.get("pluginName") != PLUGIN:
            continue
        for violation in _dicts(plugin, "suppressedViolations"):
            for construct in _dicts(violation, "violatingConstructs"):
                rule, path, reason = violation.get("ruleName"), construct.get("constructPath"), violation.get("reason")
                if isinstance(rule, str) and isinstance(path, str) and isinstance(reason, str) and reason.strip():
                    yield Acknowledgement(rule=rule, reason=reason, resource=path, within=assembly)


def _dicts(value: object, key: str) -> list[dict[str, object]]:
    found = value.get(key) if isinstance(value, dict) else None
    return [item for item in found if isinstance(item, dict)] if isinstance(found, list) else []
