"""Names that a template writes as text: nearly those of its resources, or of nothing inside of a resource that it makes.

Source: https://docs.aws.amazon.com/AWSCloudFormation/latest/TemplateReference/aws-resource-glue-crawler.html
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from hyperpod_constructs.analysis.paths import place_in
from hyperpod_constructs.analysis.texts.own_names import is_shorter, nobodys
from hyperpod_constructs.analysis.texts.reading import HOLE, known, spelled
from hyperpod_constructs.analysis.texts.slip import Judge, Slip, Slips, WholeJudge
from hyperpod_constructs.analysis.typo import typo_of
from hyperpod_constructs.facts.named_by_text import ALSO, NAMES, SCOPES, USES
from hyperpod_constructs.facts.texts import Language
from hyperpod_constructs.templates.dependencies import references
from hyperpod_constructs.templates.documents import NESTED_STACK
from hyperpod_constructs.templates.model import Model, Resource, resource_of
from hyperpod_constructs.templates.nesting import is_url, template_file_name
from hyperpod_constructs.templates.values import Text, Value, as_str

_CUSTOM = ("Custom::", "AWS::CloudFormation::CustomResource")

_ALARM, _BUCKET, _S3 = "AWS::CloudWatch::Alarm", "AWS::S3::Bucket", "s3://"
_ANYWHERE = (_ALARM, "AWS::SecretsManager::Secret")
"""What is often made elsewhere with the words of one's own names."""


def names(resource: Resource) -> Slips:
    """A name is that of a resource in the template, or surely of another one, or in their family and of nothing.

    Buckets are often made elsewhere too: a name of one has only words of one that is there.
    """
    model = resource.template.model
    for path, owner in USES[resource.type].items():
        others = model.resources(owner, *ALSO.get(owner, ()))
        given = [one.get(*NAMES[one.type].split("/")) for one in others]
        there = [known(one) for one in given]
        places = [(place, value, _name_in(value)) for place, value in place_in(resource.get(), path)]
        awaited = _awaited(resource, owner, [name for _, _, name in places]) if owner == _ALARM else None
        for place, value, name in places:
            written = name or ""
            meant = typo_of(written, [one for one in there if one]) or (awaited if name not in there else None)
            if meant is not None:
                yield Slip(f"no {owner} is called {written}; did you mean {meant}?", meant, place, value, dead=True)
            elif written and written not in there and (scope := _whole_scope(resource, owner, others)) is not None:
                allowed = ", ".join(one or "" for one in there) or f"the name of an {owner} of the templates"
                yield Slip(f"no {owner} of {scope.logical_id} is called {written}", allowed, place, value)
            elif written and _is_nobodys(model, owner, written, given):
                yield Slip(f"no {owner} of the templates is called {written}", _some(there), place, value, dead=True)
            elif isinstance(value, Text) and (near := _near_text(value, given)) is not None:
                yield Slip(f"no {owner} is called {value!s}; did you mean {near!s}?", str(near), place, value, dead=True)


def _is_nobodys(model: Model, owner: str, name: str, names: Sequence[Value]) -> bool:
    """Whether nothing has a name, as far as things of its type are in the templates."""
    return owner not in _ANYWHERE and nobodys(model, name, names) and (owner != _BUCKET or is_shorter(name, names))


def _name_in(value: Value) -> str | None:
    """A name, or the bucket of an address in S3."""
    text = spelled(value) or ""
    name = text.removeprefix(_S3).partition("/")[0] if text.startswith(_S3) else text
    return name if name and HOLE not in name else None


def _near_text(value: Text, names: Iterable[Value]) -> Text | None:
    """A name with the same unknown parts, misspelled between them."""
    alike = [one for one in names if isinstance(one, Text) and one.references == value.references]
    near = typo_of(spelled(value) or "", [text for one in alike if (text := spelled(one))])
    return next((one for one in alike if spelled(one) == near), None)


def _some(names: Iterable[str | None]) -> str:
    return ", ".join(one for one in names if one) or "the name of one of them"


def template(stack: Resource) -> Slips:
    """The file in the address of a nested stack is one of the templates, if one of those that nothing nests is nearly called so."""
    url = as_str(stack.get("TemplateURL"))
    roots = stack.template.model.roots.values() if stack.nested is None and (url is None or is_url(url)) else ()
    files = [root.document.file.name for root in roots if root.document.file is not None]
    name = (template_file_name(stack.raw) or "").rpartition("/")[2] if files else ""
    near = typo_of(name, files)
    if near is not None:
        yield Slip(f"no template is called {name}; the nearest is {near}", near, ("TemplateURL",))


def _whole_scope(user: Resource, owner: str, others: Sequence[Resource]) -> Resource | None:
    """What a name counts in, if the stack of the user makes it, and with it all that has such a name."""
    key = SCOPES.get(owner)
    scope = None if key is None else resource_of(user.get(key))
    if key is None or scope is None or scope.template is not user.template or not user.template.complete:
        return None
    named = all(known(one.get(*NAMES[owner].split("/"))) for one in others)
    return scope if named and not _may_fill(user.template.model, scope) else None


def _may_fill(model: Model, scope: Resource) -> bool:
    """Whether a custom resource may make something inside of a resource."""
    custom = (one for one in model.resources() if one.type.startswith(_CUSTOM))
    return any(scope in references(one.get()) for one in custom)


def _awaited(resource: Resource, owner: str, given: list[str | None]) -> str | None:
    """The name of the one resource of a type that another awaits by its DependsOn, and then does not name."""
    written = resource.raw.get("DependsOn")
    ids = written if isinstance(written, list) else [written]
    found = [one for one in resource.template.resources if one.type == owner and one.logical_id in ids]
    name = known(found[0].get(*NAMES[owner].split("/"))) if len(found) == 1 else None
    return None if name is None or name in given or None in given else name


JUDGES: Mapping[Language, Judge] = {}
WHOLES: Mapping[str, WholeJudge] = {**dict.fromkeys(USES, names), NESTED_STACK: template}
