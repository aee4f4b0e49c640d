"""The list of single mistakes against the rules of this library, cfn-lint, and the CDK's own template validation.

A tool catches a mistake if it reports something new for the template with the mistake, beside its report on the correct one.
"""

from __future__ import annotations

import json
import subprocess
import sys
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from bench import children
from hyperpod_constructs.rules.checking import check
from hyperpod_constructs.templates.model import load
from tests.rules.wrong_templates.bases import BASES, base
from tests.rules.wrong_templates.sample import WrongTemplate, listed, written

OURS, CFN_LINT, CDK = "hyperpod check", "cfn-lint", "CDK itself"
TOOLS = (OURS, CFN_LINT, CDK)

# Files are at DIRECTORY/CASE/FILE: a case is a base, or the number of a mistake.
_Cases = Mapping[str, Sequence[Path]]


@dataclass(frozen=True, slots=True)
class Finding:
    """One finding of a tool. Two are equal if they say the same about the same resource of the same file."""

    file: str
    resource: str
    rule: str
    message: str
    is_error: bool


@dataclass(frozen=True, slots=True)
class Verdict:
    """A tool's findings for a mistake, beyond its findings in the correct template."""

    errors: int
    others: int

    @property
    def caught(self) -> bool:
        """Whether there is a finding."""
        return self.errors + self.others > 0

    @property
    def one_finding(self) -> bool:
        """Whether there is exactly one finding."""
        return self.errors + self.others == 1

    @property
    def one_error(self) -> bool:
        """Whether there is exactly one error."""
        return self.one_finding and self.errors == 1

    def __str__(self) -> str:
        counts = ((self.errors, "error"), (self.others, "warning"))
        return ", ".join(f"{count} {what}{'s' if count > 1 else ''}" for count, what in counts if count) or "silent"


@dataclass(frozen=True, slots=True)
class Comparison:
    """Each mistake with each tool's verdict, and each tool's findings in the correct templates."""

    verdicts: Sequence[tuple[WrongTemplate, Mapping[str, Verdict]]]
    of_correct: Mapping[str, Verdict]

    @property
    def fatal(self) -> Comparison:
        """The same for fatal mistakes only: the deployment surely fails, or data is surely lost."""
        return replace(self, verdicts=[one for one in self.verdicts if one[0].warning is None])

    def count(self, quality: str) -> list[str]:
        """The number of each tool's verdicts with a quality.

        :param quality: the name of a property of `Verdict`.
        """
        return [str(sum(getattr(verdicts[tool], quality) for _, verdicts in self.verdicts)) for tool in TOOLS]


def compare(directory: Path) -> Comparison:
    """Run the list through the three tools.

    :raises ChildError: for a failure of cfn-lint or the synthesis other than findings.
    """
    mistakes = {str(index): mistake for index, mistake in enumerate(listed())}
    inputs = directory / "templates"
    cases = {name: written(base(name), inputs / name) for name in BASES}
    cases |= {case: written(mistake.templates(), inputs / case) for case, mistake in mistakes.items()}
    found = {OURS: _ours(cases), CFN_LINT: _cfn_lint(cases, inputs), CDK: _cdk(inputs, directory / "cdk")}
    return Comparison(
        [
            (mistake, {tool: verdict(found[tool].get(case, ()), found[tool].get(mistake.base, ())) for tool in TOOLS})
            for case, mistake in mistakes.items()
        ],
        {tool: verdict([one for name in BASES for one in found[tool].get(name, ())], ()) for tool in TOOLS},
    )


def table(comparison: Comparison) -> list[str]:
    """The three side by side, first in numbers and then mistake by mistake."""
    fatal = comparison.fatal
    rows = [
        (f"mistakes caught, of {len(comparison.verdicts)}", comparison.count("caught")),
        ("  by exactly one finding", comparison.count("one_finding")),
        (f"sure to fail or to lose data, of {len(fatal.verdicts)}", fatal.count("caught")),
        ("  by exactly one error", fatal.count("one_error")),
        ("on the correct templates", [str(comparison.of_correct[tool]) for tool in TOOLS]),
    ]
    rows += [
        (f"{mistake.rule}  {mistake.name}", [str(verdicts[tool]) for tool in TOOLS]) for mistake, verdicts in comparison.verdicts
    ]
    width = max(len(name) for name, _ in rows) + 2
    return [f"{name:<{width}}{''.join(f'{cell:<18}' for cell in cells)}".rstrip() for name, cells in [("", list(TOOLS)), *rows]]


def verdict(found: Iterable[Finding], of_correct: Iterable[Finding]) -> Verdict:
    """A tool's findings in a template with a mistake, without its findings in the correct one."""
    new = Counter(found) - Counter(of_correct)
    errors = sum(count for finding, count in new.items() if finding.is_error)
    return Verdict(errors, new.total() - errors)


def _ours(cases: _Cases) -> dict[str, list[Finding]]:
    return {
        case: [
            Finding(finding.template, finding.resource, finding.rule, finding.message, str(finding.level) == "error")
            for finding in check(load(paths))
        ]
        for case, paths in cases.items()
    }


def _cfn_lint(cases: _Cases, inputs: Path) -> dict[str, list[Finding]]:
    files = [str(path) for paths in cases.values() for path in paths]
    command = ["cfn-lint", "--format", "json", "--", *files]
    result = subprocess.run(  # noqa: S603
        command, env=children.environment(), cwd=inputs, capture_output=True, text=True, check=False
    )
    try:
        reported = json.loads(result.stdout)
    except json.JSONDecodeError as error:
        raise children.ChildError(f"cfn-lint returned {result.returncode}:\n{result.stderr[-2000:]}") from error
    found: dict[str, list[Finding]] = {}
    for one in reported:
        path = Path(one["Filename"])
        resource = "/".join(str(key) for key in (one["Location"].get("Path") or ())[:2])
        finding = Finding(path.name, resource, one["Rule"]["Id"], one["Message"], one["Level"] == "Error")
        found.setdefault(path.parent.name, []).append(finding)
    return found


def _cdk(inputs: Path, directory: Path) -> dict[str, list[Finding]]:
    """The CDK's findings, from one synthesis that includes each file as a stack of its own."""
    directory.mkdir()
    program = [sys.executable, "-m", "bench.included", str(inputs), str(directory)]
    children.run(program, {**children.environment(), "CDK_VALIDATION": "true"})
    found: dict[str, list[Finding]] = {}
    for stack, message in json.loads((directory / "refused.json").read_text("utf-8")).items():
        case, file = stack.split("--")
        found.setdefault(case, []).append(Finding(file, "", "CfnInclude", message, True))
    for plugin in json.loads((directory / "out" / "validation-report.json").read_text("utf-8"))["pluginReports"]:
        for violation in plugin["violations"]:
            for construct in violation["violatingConstructs"]:
                # A finding outside the resources, such as on a parameter, has no template: the path begins with its stack.
                stack, _, rest = construct["constructPath"].partition("/")
                resource = construct.get("cloudFormationResource", {}).get("logicalId", rest)
                case, file = stack.split("--")
                is_error = violation["severity"] != "warning"
                finding = Finding(file, resource, violation["ruleName"], violation["description"], is_error)
                found.setdefault(case, []).append(finding)
    return found
