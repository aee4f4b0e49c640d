"""User data of instances and scripts of notebooks: base64, and a first line that says what runs them.

Sources: https://docs.aws.amazon.com/AWSEC2/latest/UserGuide/user-data.html,
https://cloudinit.readthedocs.io/en/latest/explanation/format.html and
https://docs.aws.amazon.com/sagemaker/latest/dg/notebook-lifecycle-config.html
"""

from __future__ import annotations

import binascii
import re
from base64 import b64decode
from collections.abc import Mapping

from hyperpod_constructs.analysis.schema.violation import quoted
from hyperpod_constructs.analysis.texts.reading import HOLE, spelled
from hyperpod_constructs.analysis.texts.slip import Judge, Slip, Slips, WholeJudge
from hyperpod_constructs.facts.texts import Language
from hyperpod_constructs.templates.model import Resource
from hyperpod_constructs.templates.values import Value

_STARTS = (
    "#!",
    "#cloud-config",
    "#cloud-boothook",
    "#include",
    "#part-handler",
    "## template:",
    "Content-Type:",
    "MIME-Version:",
    "From ",
    "<powershell>",
    "<script>",
    "<persist>",
    "version:",
    "[settings",
    "apiVersion:",
)
_MOST_BYTES = 16_384
_BASE64 = re.compile(r"[A-Za-z0-9+/\s]+={0,2}\s*")


def user_data(resource: Resource, *path: str | int) -> Slips:
    """The user data of an instance."""
    for slip in _script(resource, path, "user data"):
        yield slip.below(*path)


def _script(resource: Resource, path: tuple[str | int, ...], what: str) -> Slips:
    written = _written(resource, path)
    value = resource.get(*path)
    if isinstance(written, dict) and set(written) == {"Fn::Base64"}:
        yield from _plain(resource.template.resolver.resolve(written["Fn::Base64"]), what)
    elif isinstance(value, str) and value:
        yield from _encoded(value, what)


def _written(resource: Resource, path: tuple[str | int, ...]) -> object:
    found: object = resource.raw.get("Properties")
    for key in path:
        if isinstance(found, dict) and isinstance(key, str):
            found = found.get(key)
        else:
            found = found[key] if isinstance(found, list) and isinstance(key, int) and key < len(found) else None
    return found


def _encoded(text: str, what: str) -> Slips:
    if not _BASE64.fullmatch(text):
        yield Slip(f"{what} is not in base64", "Fn::Base64 around the text", found=text[:80])
        return
    try:
        plain = b64decode("".join(text.split()), validate=True)
    except (binascii.Error, ValueError):
        yield Slip(f"{what} is not in base64", "Fn::Base64 around the text", found=text[:80])
        return
    if not plain.startswith(b"\x1f\x8b"):
        yield from _plain(plain.decode("utf-8", "replace"), what)


def _plain(value: Value, what: str) -> Slips:
    text = spelled(value)
    if not text or text.startswith(HOLE):
        return
    size = len(text.replace(HOLE, "").encode())
    if what == "user data" and size > _MOST_BYTES:
        yield Slip(f"{what} has {size:,} bytes", f"at most {_MOST_BYTES:,} bytes; keep longer scripts in S3")
    first = text.split("\n", 1)[0]
    allowed = "#! and the program that runs the script, such as #!/bin/bash, as the very first characters"
    if text.lstrip() != text and text.lstrip().startswith("#!"):
        yield Slip(f"{what} begins with white space before {text.lstrip()[:20]!r}, so nothing runs it", allowed, dead=True)
    elif what == "user data" and not text.startswith(_STARTS):
        yield Slip(
            f"{what} begins with {quoted(first[:60].replace(HOLE, '${?}'))}, so nothing runs it",
            f"{allowed}, or #cloud-config",
            dead=True,
        )
    elif text.startswith("#!") and not re.match(r"#!\s*/\S", text) and HOLE not in first:
        yield Slip(f"{what} begins with {quoted(first[:60])}, which names no program", allowed, dead=True)


def instance(resource: Resource) -> Slips:
    """The user data of an instance."""
    return user_data(resource, "UserData")


def launch_template(resource: Resource) -> Slips:
    """The user data of a launch template."""
    return user_data(resource, "LaunchTemplateData", "UserData")


def notebook_scripts(resource: Resource) -> Slips:
    """The scripts of a notebook instance."""
    for key in ("OnCreate", "OnStart"):
        found = resource.get(key)
        for index in range(len(found)) if isinstance(found, tuple) else ():
            path = (key, index, "Content")
            yield from (slip.below(*path) for slip in _script(resource, path, "the script"))


def studio_script(resource: Resource) -> Slips:
    """The script of a Studio domain."""
    path = ("StudioLifecycleConfigContent",)
    yield from (slip.below(*path) for slip in _script(resource, path, "the script"))


JUDGES: Mapping[Language, Judge] = {}
WHOLES: Mapping[str, WholeJudge] = {
    "AWS::EC2::Instance": instance,
    "AWS::EC2::LaunchTemplate": launch_template,
    "AWS::SageMaker::NotebookInstanceLifecycleConfig": notebook_scripts,
    "AWS::SageMaker::StudioLifecycleConfig": studio_script,
}
