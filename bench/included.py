"""A CDK app of foreign templates: it includes each file below a directory unchanged, in a stack of its own.

`python -m bench.included INPUTS DIRECTORY` writes the assembly, with the report of the CDK's own validation, to `DIRECTORY/out`.
The messages for files that the CDK refuses to include go to `DIRECTORY/refused.json`.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path

from aws_cdk import App, DefaultStackSynthesizer, Stack
from aws_cdk.cloudformation_include import CfnInclude

# Without it the CDK calls every finding a warning.
_LEVELS = {"@aws-cdk/core:validateAgainstDefaultRules": True}


def main(inputs: Path, directory: Path) -> None:
    """Include and synthesize; findings are in the report and fail nothing here."""
    app = App(outdir=str(directory / "out"), context=_LEVELS)
    refused: dict[str, str] = {}
    for file in sorted(path for path in inputs.glob("*/*") if path.is_file()):
        name = f"{file.parent.name}--{file.stem}"
        # A template of the CDK already has the rule on the bootstrap's version.
        synthesizer = DefaultStackSynthesizer(generate_bootstrap_version_rule=False)
        stack = Stack(app, name, stack_name=f"of-{name}", synthesizer=synthesizer)
        try:
            CfnInclude(stack, "Template", template_file=str(file))
        except RuntimeError as error:
            refused[name] = str(error).splitlines()[0]
            app.node.try_remove_child(name)
    (directory / "refused.json").write_text(json.dumps(refused), "utf-8")
    try:
        app.synth()
    except RuntimeError:
        if not (directory / "out" / "validation-report.json").is_file():
            raise


if __name__ == "__main__":
    main(*(Path(argument) for argument in sys.argv[1:3]))
