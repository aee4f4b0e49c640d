"""Templates inside of stack sets: whole, with the parameters that they are given, and with what CloudFormation must be allowed.

Sources: https://docs.aws.amazon.com/AWSCloudFormation/latest/APIReference/API_CreateStackSet.html and
https://docs.aws.amazon.com/AWSCloudFormation/latest/TemplateReference/aws-resource-cloudformation-stackset.html
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import chain

from hyperpod_constructs.analysis.references.anatomy import wrong_parts
from hyperpod_constructs.analysis.references.functions import wrong_calls
from hyperpod_constructs.analysis.references.names import unknown_attributes, unknown_names
from hyperpod_constructs.analysis.references.parameters import declared, wrong_parameters
from hyperpod_constructs.analysis.schema.resources import request_violations, schema_violations
from hyperpod_constructs.analysis.schema.violation import Path, listed, meant
from hyperpod_constructs.analysis.texts.reading import from_yaml, known
from hyperpod_constructs.analysis.texts.slip import Judge, Slip, Slips, WholeJudge, entries, mapping
from hyperpod_constructs.facts.texts import Language
from hyperpod_constructs.templates.errors import TemplateError
from hyperpod_constructs.templates.model import Model, Resource, Template
from hyperpod_constructs.templates.transforms import macros
from hyperpod_constructs.templates.values import ABSENT, Value, as_str

_SET, _BODY = "AWS::CloudFormation::StackSet", "TemplateBody"
_NAMED = {
    "AWS::IAM::Group": "GroupName",
    "AWS::IAM::InstanceProfile": "InstanceProfileName",
    "AWS::IAM::ManagedPolicy": "ManagedPolicyName",
    "AWS::IAM::Role": "RoleName",
    "AWS::IAM::User": "UserName",
}
"""Types that need the acknowledgement of the set, each with the property by which they have a name of their own."""
_IAM, _NAMED_IAM, _EXPANDED = "CAPABILITY_IAM", "CAPABILITY_NAMED_IAM", "CAPABILITY_AUTO_EXPAND"


def stack_set(resource: Resource) -> Slips:
    """The first mistake in the template of a set, or between both."""
    text = known(resource.get(_BODY))
    template = None if text is None else _template(text)
    if isinstance(template, Slip):
        yield template.below(_BODY)
    elif template is not None:
        mistakes = chain(_within(template), _given(resource, template), _allowed(resource, template))
        yield from (slip for _, slip in zip(range(1), mistakes, strict=False))


def _template(text: str) -> Template | Slip | None:
    """The template in a text, or why it is none; `None` if this check cannot read it."""
    data = from_yaml(text)
    if data is None or isinstance(data, Slip):
        return data
    try:
        from hyperpod_constructs.templates.yaml_reading import parsed  # few templates need it

        body = parsed(text)
        return Model.of({"body": body if isinstance(body, dict) else {}}).templates[0]
    except TemplateError as error:
        return Slip(f"the text is no template: {error}", "a template of CloudFormation")


def _within(template: Template) -> Iterator[Slip]:
    """Mistakes of the template alone."""
    model = template.model
    for one in chain(*(judge(model) for judge in (wrong_parts, wrong_parameters, unknown_names, unknown_attributes, wrong_calls))):
        yield Slip(f"in its template {one.message}", one.allowed, (_BODY,))
    for resource, violation in chain(schema_violations(model), request_violations(model)):
        yield Slip(f"in its template {violation.message}, at {resource.logical_id}", violation.allowed, (_BODY,))


def _given(resource: Resource, template: Template) -> Iterator[Slip]:
    """Parameters that the template does not have, and those without a value."""
    own = declared(template)
    places: list[tuple[Path, Value]] = [(("Parameters", index), one) for index, one in entries(resource.get("Parameters"))]
    for index, group in entries(resource.get("StackInstancesGroup")):
        given = entries(mapping(group).get("ParameterOverrides", ABSENT))
        places += [(("StackInstancesGroup", index, "ParameterOverrides", number), one) for number, one in given]
    names = [known(mapping(one).get("ParameterKey", ABSENT)) for _, one in places]
    for (path, _), name in zip(places, names, strict=True):
        if name is not None and name not in own:
            yield Slip(f"its template has no parameter {name}{meant(name, own)}", listed(own) or "none", path, name)
    lacking = [name for name, one in own.items() if name not in names and "Default" not in one.raw]
    if lacking and None not in names:
        yield Slip(f"{listed(lacking)} of its template has no value", f"a value of {listed(lacking)}", ("Parameters",))


def _allowed(resource: Resource, template: Template) -> Iterator[Slip]:
    """What CloudFormation makes only if the set allows it."""
    given = [as_str(one) for _, one in entries(resource.get("Capabilities"))]
    identities = [
        one for one in template.resources if one.type in _NAMED or one.type in ("AWS::IAM::Policy", "AWS::IAM::AccessKey")
    ]
    named = [one for one in identities if one.get(_NAMED.get(one.type, "")) is not ABSENT and one.type in _NAMED]
    wanted = [(_NAMED_IAM, named), (_IAM, identities), (_EXPANDED, template.resources[:1] if macros(template.raw) else [])]
    for capability, users in wanted:
        enough = {capability, _NAMED_IAM} if capability == _IAM else {capability}
        if users and None not in given and not enough & {*given}:
            message = f"its template has {users[0].logical_id}, which CloudFormation makes only with {capability}"
            yield Slip(message, f"Capabilities with {capability}", ("Capabilities",))


JUDGES: Mapping[Language, Judge] = {}
WHOLES: Mapping[str, WholeJudge] = {_SET: stack_set}
