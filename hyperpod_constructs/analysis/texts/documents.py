"""Documents as text: policies, documents of Systems Manager, templates of secrets, rules for images.

Sources: https://docs.aws.amazon.com/IAM/latest/UserGuide/reference_policies_elements.html,
https://docs.aws.amazon.com/systems-manager/latest/userguide/documents-syntax-data-elements-parameters.html,
https://docs.aws.amazon.com/systems-manager/latest/userguide/getting-started-configure-preferences-cli.html
and
https://docs.aws.amazon.com/AmazonECR/latest/userguide/lifecycle_policy_parameters.html
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import TypeAlias

from hyperpod_constructs.analysis.alone import users_of
from hyperpod_constructs.analysis.iam import role_facts
from hyperpod_constructs.analysis.node_roles import role_uses
from hyperpod_constructs.analysis.schema.violation import listed, meant, nearest, quoted
from hyperpod_constructs.analysis.texts.reading import HOLE, from_json, from_yaml, known
from hyperpod_constructs.analysis.texts.slip import Judge, Slip, Slips, WholeJudge, entries, mapping
from hyperpod_constructs.facts import text_words
from hyperpod_constructs.facts.texts import Language
from hyperpod_constructs.templates.dependencies import references
from hyperpod_constructs.templates.model import Resource, target_of
from hyperpod_constructs.templates.values import ABSENT, Reference, Text, Value, as_int

_PULL, _MOST_DAYS = "ecr:BatchGetImage", 180
_RUN_IMAGES = (
    *("AWS::Batch::JobDefinition", "AWS::ECS::TaskDefinition", "AWS::Lambda::Function", "AWS::SageMaker::Image"),
    *("AWS::SageMaker::ImageVersion", "AWS::SageMaker::Model"),
)
_VERSIONS = ("2012-10-17", "2008-10-17")
Pairs: TypeAlias = tuple[tuple[str, str], ...]
_ACTIONS, _PRINCIPALS = ("Action", "NotAction"), ("Principal", "NotPrincipal")
_DOCUMENT_KEYS = ("Version", "Id", "Statement")
_STATEMENT_KEYS = (
    "Sid",
    "Effect",
    "Principal",
    "NotPrincipal",
    "Action",
    "NotAction",
    "Resource",
    "NotResource",
    "Condition",
)


def json_text(value: Value) -> Slips:
    """Any data in JSON."""
    data = from_json(value) if isinstance(value, str | Text) and value != "" else None
    if isinstance(data, Slip):
        yield data


def identity_text(value: Value) -> Slips:
    """The policy of an identity, as text in JSON: whose it is, it does not say."""
    return policy_text(value, needed=(_ACTIONS,))


def policy_text(value: Value, needed: Pairs = (_ACTIONS, _PRINCIPALS)) -> Slips:
    """The policy of a resource, as text in JSON.

    :param needed: keys of a statement of which it has one.
    """
    data = from_json(value) if isinstance(value, str | Text) else None
    if isinstance(data, Slip):
        yield data
    elif isinstance(data, Mapping):
        yield from _policy(data, needed)
    elif data is not None:
        yield Slip(f"the policy is {quoted(data)}", "an object with Version and Statement")


def _policy(data: Mapping[str, Value], needed: Pairs) -> Slips:
    yield from _names(data, _DOCUMENT_KEYS, "a policy")
    version = data.get("Version")
    if version is not None and version not in _VERSIONS and not _is_open(version):
        yield Slip(f"the version of the policy is {quoted(version)}", listed(_VERSIONS))
    statements = data.get("Statement")
    if statements is None:
        yield Slip("the policy has no Statement", "a list of statements")
    for index, one in entries(statements if isinstance(statements, tuple) else (statements,)):
        if isinstance(one, Mapping):
            yield from _statement(f"Statement/{index}", one, needed)


def _statement(place: str, one: Mapping[str, Value], needed: Pairs) -> Slips:
    yield from _names(one, _STATEMENT_KEYS, place)
    effect = one.get("Effect")
    if effect not in ("Allow", "Deny") and not _is_open(effect):
        yield Slip(f"Effect of {place} is {quoted(effect)}", "Allow, Deny")
    for name, other in needed:
        if name not in one and other not in one:
            yield Slip(f"{place} has no {name}", f"{name} or {other}")


def _names(data: Mapping[str, Value], allowed: tuple[str, ...], what: str) -> Slips:
    for name in data:
        if name not in allowed and not _is_open(name):
            near = nearest(name, allowed)
            yield Slip(f"{what} has no {name}{f'; the nearest is {near}' if near else ''}", listed(allowed))


def _is_open(value: Value) -> bool:
    return isinstance(value, str) and HOLE in value


def _content(value: Value, *, yaml: bool) -> Value | Slip:
    if isinstance(value, str | Text):
        return from_yaml(value) if yaml else from_json(value)
    return value


def secret(resource: Resource) -> Slips:
    """The template of a generated secret: an object in JSON, with the key that gets the password."""
    path = ("GenerateSecretString", "SecretStringTemplate")
    template, key = resource.get(*path), resource.get("GenerateSecretString", "GenerateStringKey")
    data = from_json(template) if isinstance(template, str | Text) else None
    if isinstance(data, Slip):
        yield data.below(*path)
    elif data is not None and not isinstance(data, Mapping) and not _is_open(data):
        yield Slip(f"the template of the secret is {quoted(data)}", "an object in JSON", path, template)
    elif isinstance(data, Mapping) and key is ABSENT:
        message = "SecretStringTemplate has no GenerateStringKey beside it"
        yield Slip(message, "the key that gets the password", (path[0], "GenerateStringKey"))


def content_of(resource: Resource) -> Value | Slip:
    """The content of a document of Systems Manager, or the mistake in its text."""
    return _content(resource.get("Content"), yaml=known(resource.get("DocumentFormat")) == "YAML")


def ssm_document(resource: Resource) -> Slips:
    """A document of Systems Manager: its version, its steps, its parameters."""
    form, kind = known(resource.get("DocumentFormat")), known(resource.get("DocumentType"))
    data = content_of(resource)
    found: Iterator[Slip] = iter(())
    if isinstance(data, Slip):
        hint = "" if form or "JSON" not in data.message else "; without DocumentFormat: YAML the text is JSON"
        found = iter([Slip(data.message + hint, data.allowed)])
    elif isinstance(data, Mapping):
        found = _ssm(data, kind or "Command")
    yield from (slip.below("Content") for slip in found)


def _ssm(data: Mapping[str, Value], kind: str) -> Iterator[Slip]:
    versions = text_words.SSM_VERSIONS.get(kind)
    version = data.get("schemaVersion", ABSENT)
    text = known(version)
    if version is ABSENT:
        yield Slip("the document has no schemaVersion", listed(versions or ("2.2",)))
        return
    if versions and text is not None and text not in versions:
        yield Slip(f"a document of the type {kind} has the schemaVersion {text!r}", listed(versions), ("schemaVersion",), text)
        return
    if kind == "Session":
        yield from _session(data)
    elif text in ("2.0", "2.2", "0.3"):
        yield from _steps(data, kind)


def _session(data: Mapping[str, Value]) -> Slips:
    kinds = text_words.SESSION_TYPES
    kind = known(data.get("sessionType", ABSENT))
    if kind is not None and kind not in kinds:
        yield Slip(f"the sessionType is {kind!r}", listed(kinds), ("sessionType",), kind)
    inputs = mapping(data.get("inputs"))
    for name in inputs:
        if name not in text_words.SESSION_INPUTS:
            near = nearest(name, text_words.SESSION_INPUTS)
            meant = f"; the nearest is {near}" if near else ""
            yield Slip(f"a session has no input {name}{meant}", listed(text_words.SESSION_INPUTS), ("inputs", name), inputs[name])
        else:
            yield from (slip.below("inputs", name) for slip in _preference(name, inputs[name]))
    yield from (slip.below("inputs", "shellProfile") for slip in _profile(inputs.get("shellProfile", ABSENT)))
    for name, other in text_words.SESSION_PLACES.items():
        text, beside = known(inputs.get(name, ABSENT)), inputs.get(other, ABSENT)
        if text and (beside in (ABSENT, "", False) or known(beside) == "false"):
            message = f"{name} is {text!r}, and without {other} it does nothing"
            yield Slip(message, f"{other} beside it, or no {name}", ("inputs", name), text, dead=True)
    for name, (least, most) in {"idleSessionTimeout": (1, 60), "maxSessionDuration": (1, 1440)}.items():
        minutes = as_int(inputs.get(name, ABSENT))
        if minutes is not None and not least <= minutes <= most:
            yield Slip(f"{name} is {minutes}", f"{least} to {most} minutes", ("inputs", name), minutes)


def _profile(value: Value) -> Slips:
    """The commands that a session begins with, by the system of its node."""
    systems = text_words.SESSION_SYSTEMS
    if isinstance(value, str | int | tuple) and value != "":
        yield Slip(
            f"shellProfile is {quoted(value)}", f"commands for {' and '.join(systems)}, each by the name of the system", (), value
        )
    for name, commands in mapping(value).items():
        if name not in systems:
            yield Slip(f"shellProfile has {name}", listed(systems), (name,), commands)
        elif isinstance(commands, Mapping | tuple):
            yield Slip(f"{name} of shellProfile is {quoted(commands)}", "the commands in one text", (name,), commands)


def _preference(name: str, value: Value) -> Slips:
    """A preference of sessions is a text, and has the form of what it names."""
    form, words = text_words.SESSION_FORMS.get(name, ("", ""))
    text = known(value)
    if name != "shellProfile" and isinstance(value, Mapping | tuple):
        yield Slip(f"{name} is {quoted(value)}", words or "a text", found=value)
    wrong = bool(form and text) and "{{" not in str(text) and not re.fullmatch(form, text or "")
    if wrong or (isinstance(value, Reference) and _is_other(name, value)):
        yield Slip(f"{name} is {quoted(value)}", words, found=value)


def _is_other(name: str, value: Reference) -> bool:
    """Whether a reference gives something else than what a preference names."""
    types, attributes = text_words.SESSION_REFERENCES.get(name, ((), ()))
    named = target_of(value).type
    return bool(types) and named.startswith("AWS::") and not (named in types and value.attribute in attributes)


def _steps(data: Mapping[str, Value], kind: str) -> Slips:
    steps = data.get("mainSteps", ABSENT)
    if steps is ABSENT:
        yield Slip("the document has no mainSteps", "a list of steps, each with action, name and inputs")
    names: set[str] = set()
    for index, one in entries(steps):
        step, name = mapping(one), known(mapping(one).get("name", ABSENT))
        for key in ("action", "name"):
            if isinstance(one, Mapping) and key not in step:
                yield Slip(f"step {index + 1} has no {key}", "action, name and inputs", ("mainSteps", index))
        if name and name in names:
            yield Slip(f"two steps are named {name!r}", "different names", ("mainSteps", index, "name"), name)
        names.add(name or "")
        command = mapping(step.get("inputs", ABSENT)).get("runCommand", ABSENT)
        if isinstance(command, str) and "{{" not in command:
            yield Slip(
                "runCommand is a text", "a list of commands", ("mainSteps", index, "inputs", "runCommand"), command, dead=True
            )
        if action := known(step.get("action", ABSENT)):
            yield from (slip.below("mainSteps", index, "action") for slip in _action(action, kind))
    if kind == "Command":
        yield from _parameters(data)


def _action(action: str, kind: str) -> Slips:
    if not action.startswith("aws:"):
        yield Slip(f"the action is {action!r}", "an action such as aws:runShellScript", found=action)
    elif kind == "Command" and action not in text_words.SSM_PLUGINS:
        near = meant(action, text_words.SSM_PLUGINS)
        yield Slip(f"no action is named {action}{near}", listed(text_words.SSM_PLUGINS), found=action)
    elif kind == "Automation" and action in text_words.SSM_PLUGINS:
        yield Slip(f"a document of the type Automation has no action {action}", "an action of the type", found=action)


def _parameters(data: Mapping[str, Value]) -> Slips:
    """Parameters between braces that the document does not have."""
    known_names = mapping(data.get("parameters"))
    for text in _texts(data.get("mainSteps"), 0):
        for name in re.findall(r"\{\{\s{0,9}(\w{1,128})\s{0,9}\}\}", text):
            if name not in known_names and HOLE not in text:
                near = nearest(name, known_names)
                message = f"the document has no parameter {name}{f'; the nearest is {near}' if near else ''}"
                yield Slip(message, f"parameters: {listed(known_names)}", ("mainSteps",), text)
                return


def _texts(value: Value, depth: int) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif depth < 20 and isinstance(value, Mapping | tuple):
        for item in value.values() if isinstance(value, Mapping) else value:
            yield from _texts(item, depth + 1)


_TAGS = ("tagged", "untagged", "any")
_COUNTS = ("imageCountMoreThan", "sinceImagePushed", "sinceImagePulled", "sinceImageTransitioned")


def image_rules(value: Value) -> Slips:
    """The rules by which a repository expires images."""
    data = from_json(value)
    if isinstance(data, Slip):
        yield data
        return
    rules = mapping(data).get("rules") if data is not None else ()
    if rules is None:
        yield Slip("the text has no list of rules", "an object with rules")
    priorities: dict[int, str] = {}
    for index, one in entries(rules):
        rule = mapping(one)
        yield from _image_rule(f"rules/{index}", rule)
        priority = as_int(rule.get("rulePriority", ABSENT))
        if priority is not None and priority in priorities:
            yield Slip(f"two rules have the priority {priority}", "different priorities")
        if priority is not None:
            priorities[priority] = str(mapping(rule.get("selection")).get("tagStatus"))
    catch = [one for one, status in priorities.items() if status == "any"]
    if catch and max(priorities) != max(catch):
        yield Slip(f"the rule for any image has the priority {max(catch)}, and others follow it", f"at least {max(priorities) + 1}")


def _image_rule(place: str, rule: Mapping[str, Value]) -> Slips:
    selection = mapping(rule.get("selection"))
    for name in ("rulePriority", "selection", "action"):
        if name not in rule:
            yield Slip(f"{place} has no {name}", "rulePriority, selection and action")
    status, count = selection.get("tagStatus"), selection.get("countType")
    if selection and status not in _TAGS and not _is_open(status):
        yield Slip(f"tagStatus of {place} is {quoted(status)}", listed(_TAGS))
    if selection and count not in _COUNTS and not _is_open(count):
        near = nearest(str(count), _COUNTS)
        yield Slip(f"countType of {place} is {quoted(count)}{f'; the nearest is {near}' if near else ''}", listed(_COUNTS))
    by_tag = "tagPrefixList" in selection or "tagPatternList" in selection
    if status == "tagged" and not by_tag:
        yield Slip(f"{place} selects tagged images without tags", "tagPrefixList or tagPatternList")
    if "tagPrefixList" in selection and "tagPatternList" in selection:
        yield Slip(f"{place} selects images by beginnings of tags and by patterns", "tagPrefixList or tagPatternList")
    if status in ("untagged", "any") and by_tag:
        yield Slip(f"{place} selects {status} images by tag", "tagStatus: tagged")
    if count == "imageCountMoreThan" and "countUnit" in selection:
        yield Slip(f"{place} counts images, and has a countUnit", "no countUnit")
    if (
        isinstance(count, str)
        and count.startswith("since")
        and selection.get("countUnit") != "days"
        and not _is_open(selection.get("countUnit"))
    ):
        yield Slip(f"countUnit of {place} is {quoted(selection.get('countUnit'))}", "days")
    for name, found in (("countNumber", selection.get("countNumber")), ("rulePriority", rule.get("rulePriority"))):
        if isinstance(found, str) and not _is_open(found):
            yield Slip(f"{name} of {place} is {quoted(found)}", "a number without quotes")
    number = as_int(selection.get("countNumber", ABSENT))
    if number is not None and number < 1:
        yield Slip(f"countNumber of {place} is {number}", "at least 1")
    action = mapping(rule.get("action")).get("type")
    if action is not None and action not in ("expire", "transition") and not _is_open(action):
        yield Slip(f"the action of {place} is {quoted(action)}", "expire, transition")


def images(repository: Resource) -> Slips:
    """No rule expires every image after some days where something runs the images of a repository."""
    place = ("LifecyclePolicy", "LifecyclePolicyText")
    data = from_json(repository.get(*place))
    rules = [] if isinstance(data, Slip) else [mapping(one) for _, one in entries(mapping(data).get("rules"))]
    selections = [mapping(one.get("selection")) for one in rules if mapping(one.get("action")).get("type") == "expire"]
    # Images of a rule with tags are left alone by those that follow it.
    if any(one.get("tagStatus") not in ("any", "untagged") for one in selections):
        return
    for one in selections:
        days, user = as_int(one.get("countNumber", ABSENT)), next(_runners(repository), None)
        by_age = one.get("tagStatus") == "any" and one.get("countType") == "sinceImagePushed"
        if by_age and days is not None and days <= _MOST_DAYS and user is not None:
            message = f"every image goes {days} days after its push, also those that {user} runs"
            allowed = "untagged ones, a number of images, or sinceImagePulled"
            yield Slip(message, allowed, place, repository.get(*place), dead=True)


def _runners(repository: Resource) -> Iterator[str]:
    """What runs the images of a repository, in words: nodes whose role may pull them, and what names them itself."""
    users = users_of(repository)
    yield from (one.logical_id for one in users if one.type in _RUN_IMAGES)
    for use in role_uses(repository.template.model):
        statements = (one for policy in role_facts(use.role).policies for one in policy.statements)
        named = any(one.speaks_of(_PULL) and repository in references(one.resources) for one in statements)
        yield from [use.cluster.logical_id] if named else []


JUDGES: Mapping[Language, Judge] = {
    Language.JSON: json_text,
    Language.POLICY: policy_text,
    Language.IDENTITY: identity_text,
    Language.IMAGES: image_rules,
}
WHOLES: Mapping[str, WholeJudge] = {
    "AWS::ECR::Repository": images,
    "AWS::SSM::Document": ssm_document,
    "AWS::SecretsManager::Secret": secret,
}
