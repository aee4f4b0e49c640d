"""Writes `docs/rules.md`: every rule of the catalogue with its level, its reason, its fix and its source.

python tools/generate_rule_table.py           # writes the page
python tools/generate_rule_table.py --check   # exits 1 if the page is not current
"""

from __future__ import annotations

import argparse
import inspect
import re
import sys
from collections.abc import Iterable, Sequence
from pathlib import Path

from hyperpod_constructs.rules.checking import load_catalogue
from hyperpod_constructs.rules.finding import Level
from hyperpod_constructs.rules.rule import Rule

PAGE = Path(__file__).resolve().parent.parent / "docs" / "rules.md"
_INTRODUCTION = """\
# Rules

Generated from the catalogue by `tools/generate_rule_table.py`: do not edit.

These rules run at every `cdk synth` of an app that uses the library, and on any template by `hyperpod check`. An **error** is sure
to fail the deployment or to lose data, a **warning** is likely to hurt. A rule is silent if it cannot know a value. The link of an
id leads to the source of the rule. At a synth, CDK's own validation speaks for the rules marked `check`.

To accept a finding on a resource, write the reason beside it: in CDK with `Validations.of(construct).acknowledge(Acknowledgment(
id="hyperpod::HP-NET-004", reason="..."))`, in a template with the metadata `HyperPodRules: {Acknowledge: [{Rule: HP-NET-004,
Reason: "..."}]}`. An acknowledgement of a former id still counts.
"""


def main(arguments: Sequence[str] | None = None) -> int:
    """Write or check the page; the exit code."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--check", action="store_true", help="write nothing; exit 1 if the page is not current")
    check = parser.parse_args(arguments).check
    text = page(load_catalogue().values())
    if check and (not PAGE.is_file() or PAGE.read_text(encoding="utf-8") != text):
        sys.stderr.write(f"{PAGE.name} is not current: run python tools/generate_rule_table.py\n")
        return 1
    if not check:
        PAGE.parent.mkdir(exist_ok=True)
        PAGE.write_text(text, encoding="utf-8")
    return 0


def page(rules: Iterable[Rule]) -> str:
    """The page for these rules: one section for each module of the catalogue, under the first sentence of its docstring."""
    ordered = sorted(rules, key=lambda rule: rule.id)
    sections = dict.fromkeys(rule.check.__module__ for rule in ordered)
    errors = sum(rule.level is Level.ERROR for rule in ordered)
    total = f"There are {len(ordered)}, and {errors} of them are errors.\n"
    parts = [_section(module, [rule for rule in ordered if rule.check.__module__ == module]) for module in sections]
    return "\n".join([_INTRODUCTION, total, *parts])


def _section(module: str, rules: Sequence[Rule]) -> str:
    documentation = inspect.getdoc(sys.modules[module]) or module
    heading = documentation.splitlines()[0].rstrip(".")
    rows = ["| Rule | Demand | Otherwise | Fix |", "|---|---|---|---|", *map(_row, rules)]
    return "\n".join([f"## {_text(heading)}", "", *rows, ""])


def _row(rule: Rule) -> str:
    name = f"[{rule.id}]({rule.source})" if rule.source.startswith("https://") else f"{rule.id} ({_text(rule.source)})"
    level = "**error**" if rule.level is Level.ERROR else "warning"
    former = f"<br>formerly {', '.join(rule.aliases)}" if rule.aliases else ""
    only = "<br>`check`" if rule.validated else ""
    return f"| {name}<br>{level}{only}{former} | {_text(rule.title)} | {_text(rule.why)} | {_text(rule.fix)} |"


def _text(text: str) -> str:
    """Plain text as Markdown in a cell of a table."""
    return re.sub(r"([\\*|<>\[\]])", r"\\\1", " ".join(text.split()))


if __name__ == "__main__":
    sys.exit(main())
