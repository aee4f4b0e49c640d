"""Answers of the AWS CLI that scripts take as texts: in JSON they stand in quotation marks, which then are a part of the text.

Sources: https://docs.aws.amazon.com/cli/latest/userguide/cli-usage-output-format.html and
https://docs.aws.amazon.com/cli/latest/userguide/cli-configure-envvars.html
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping

from hyperpod_constructs.analysis.scripts import Script
from hyperpod_constructs.analysis.texts.machine_scripts import of_scripts
from hyperpod_constructs.analysis.texts.slip import Judge, Slip, Slips, WholeJudge
from hyperpod_constructs.facts.texts import Language

_CONTINUED = re.compile(r"\\\n[ \t]*")
_ASKED = re.compile(
    r"""^[ \t]*(?:(?:export|local|readonly)[ \t]+)?(\w+)="?\$\([ \t]*aws[ \t]([^|()<>\n]*)\)"?[ \t]*$""", re.MULTILINE
)
"""A command of the CLI whose whole output is the value of a variable."""
_OPTION = r"""--{0}[ =]["']?([^\s"']+)"""
_QUERY, _OUTPUT = (re.compile(_OPTION.format(name)) for name in ("query", "output"))
_OF_TEXT = re.compile(
    r"[\w.\[\]]*(?:Value|Arn|ARN|Id|Name|Status|State|Uri|URI|Url|Address|Endpoint|Token|Password|DNSName|Region|Account|User)"
)
"""A query of one field that is a text."""
_SET_ELSEWHERE = ("AWS_DEFAULT_OUTPUT", "aws configure", ".aws/config")
_MENDING = r"""\$\{{{0}[/#%]|\$\{{?{0}\}}?"?[ \t]*\|[ \t]*(?:jq|tr|sed|python)|<<<[ \t]*"?\$\{{?{0}\b|\bjq\b[^\n]*\$\{{?{0}\b"""
"""Ways from a text in quotation marks to one without."""


def of_script(script: Script) -> Slips:
    """The first such answer of a script."""
    return list(_slips(script))[:1] if " --query" in script.text else ()


def _slips(script: Script) -> Iterator[Slip]:
    if any(one in script.text for one in _SET_ELSEWHERE) or any("AWS_DEFAULT_OUTPUT" in one for one in script.files.values()):
        return
    text = _CONTINUED.sub(" ", script.text)
    for found in _ASKED.finditer(text):
        query, output = _QUERY.search(found[2]), _OUTPUT.search(found[2])
        is_text = query is not None and _OF_TEXT.fullmatch(query[1]) is not None
        name, rest = found[1], text[found.end() :]
        if query is not None and is_text and (output is None or output[1] == "json") and _is_text(name, rest):
            says = f"the script takes {query[1]} as JSON for {name}: its quotation marks are a part of the text"
            yield Slip(says, "--output text", dead=True)


def _is_text(name: str, rest: str) -> bool:
    """Whether commands take a variable as it is."""
    return re.search(rf"\$\{{?{name}\b", rest) is not None and re.search(_MENDING.format(name), rest) is None


JUDGES: Mapping[Language, Judge] = {}
WHOLES: Mapping[str, WholeJudge] = of_scripts(None, of_script)
