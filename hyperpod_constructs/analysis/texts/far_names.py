"""ARNs and addresses of resources of the templates with another region or account than theirs: nothing there has that name.

Source: https://docs.aws.amazon.com/general/latest/gr/rande.html
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import NamedTuple

from hyperpod_constructs._support.grouping import grouped
from hyperpod_constructs.analysis.embedded import marked, unmarked
from hyperpod_constructs.analysis.regions import REGION, claims, region_of
from hyperpod_constructs.analysis.texts.address_ids import PLACES
from hyperpod_constructs.analysis.texts.near_arns import SENDERS
from hyperpod_constructs.analysis.texts.slip import Judge, Slip, Slips, WholeJudge
from hyperpod_constructs.facts.address_names import SERVICES
from hyperpod_constructs.facts.arn_forms import FORMS, ArnForm
from hyperpod_constructs.facts.named_by_text import FAR_SENDERS, OWN_ACCOUNT, SEVERAL_REGIONS
from hyperpod_constructs.facts.texts import Language
from hyperpod_constructs.templates.model import Model, Resource, target_of
from hyperpod_constructs.templates.values import ABSENT, Account, Part, Reference, Text, as_str, placed_leaves

_ARN = re.compile(rf"\barn:[^:\s]{{1,40}}:([a-z0-9-]{{1,40}}):({REGION}):([^:\s]{{1,20}}):([^\s\"'`,;<>()\[\]{{}}]{{1,300}})")
_PART = r"[^\s\"'`,;<>()\[\]{}/:=@]"
_HOST = re.compile(rf"(?<!{_PART})({_PART}{{1,300}})\.({REGION})\.amazonaws\.com(?:\.cn)?((?:[:/?][^\s\"'`,<>]{{0,500}})?)")
_REGIONAL, _PLACE = re.compile(rf"[.:]{REGION}[.:]"), "{place}:"


class _Found(NamedTuple):
    """A resource that a text names in a place.

    :param what: the kind of the text, in words.
    :param place: the region, or the account.
    :param own: that of the resource, if it is known.
    """

    what: str
    place: str
    resource: Resource
    own: str | None


def names(resource: Resource) -> Slips:
    """The first name in each text of a resource that has another region than what it names, or another account."""
    place = PLACES.get(resource.type, ())
    for path, leaf in placed_leaves(resource.get(*place)):
        text, parts = marked(leaf) if isinstance(leaf, str | Text) and _REGIONAL.search(str(leaf)) else (None, {})
        found = () if text is None else (*_in_arns(resource, text, parts), *_in_addresses(text, parts))
        wrong = next((one for one in found if one.own not in (one.place, None)), None)
        if wrong is not None and not _is_said(resource, (*place, *path)):
            says = f"{wrong.what} is of {wrong.place}, and {wrong.resource.logical_id} is in {wrong.own}"
            yield Slip(says, f"{wrong.own}, or that of the stack", (*place, *path), leaf, dead=True)


def _is_said(resource: Resource, path: tuple[str | int, ...]) -> bool:
    """Whether the place of a text is for what is in the region of the stack, whatever it names."""
    model = resource.template.model
    places = model.cached(_is_said, lambda: {(one.resource, one.path) for one in claims(model)})
    return (resource, path) in places


def _in_arns(user: Resource, text: str, parts: Mapping[str, Part]) -> Iterator[_Found]:
    for service, region, account, name in _ARN.findall(text):
        made = [*_made(service, name, parts)]
        yield from (_Found("an ARN", region, one, region_of(one)) for one in made)
        named = _by_arn(user.template.model).get((service, name), []) if user.type in SENDERS and not made else []
        strange = _strange(user, account, parts)
        if strange and user.type in OWN_ACCOUNT:
            yield from (_Found("an ARN", strange, one, _account(one)) for one in named)
        elif strange is None and user.type not in FAR_SENDERS and not any(region_of(one) == region for one in named):
            yield from (_Found("an ARN", region, one, region_of(one)) for one in named)


def _in_addresses(text: str, parts: Mapping[str, Part]) -> Iterator[_Found]:
    for host, region, behind in _HOST.findall(text):
        service = SERVICES.get(host.rpartition(".")[2])
        for one in _made(service, f"{host}{behind}", parts) if service is not None else ():
            yield _Found("an address", region, one, region_of(one))


def _made(service: str, text: str, parts: Mapping[str, Part]) -> Iterator[Resource]:
    """The resources of a service whose ids stand in a text; a name that somebody chose may be there in another region too."""
    for part in (parts.get(piece) for piece in unmarked(text)):
        target = target_of(part) if isinstance(part, Reference) else None
        form = None if target is None else FORMS.get(target.type)
        if target is None or form is None or form.service != service or _may_be_elsewhere(target):
            continue
        if isinstance(part, Reference) and part.attribute in form.names and _chosen(target, form) is ABSENT:
            yield target


def _chosen(resource: Resource, form: ArnForm) -> object:
    return ABSENT if form.chosen is None else resource.get(*form.chosen.split("/"))


def _may_be_elsewhere(resource: Resource) -> bool:
    """Whether one name is for a resource and for its copies in other regions."""
    setting = SEVERAL_REGIONS.get(resource.type)
    return setting is not None and (setting == "" or resource.get(setting) not in (ABSENT, False, "false"))


def _by_arn(model: Model) -> Mapping[tuple[str, str], list[Resource]]:
    """The resources with a chosen name, by their service and the end of their ARN; computed once."""
    return model.cached(_by_arn, lambda: grouped((key, one) for one in model.resources(*FORMS) for key in _ends(one)))


def _ends(resource: Resource) -> Iterator[tuple[str, str]]:
    form = FORMS[resource.type]
    name, end = as_str(resource.get(*(form.chosen or "").split("/"))), form.form.partition(_PLACE)[2]
    if form.chosen and name and not form.suffixed and end.count("{") == 1 and not _may_be_elsewhere(resource):
        yield form.service, end.replace("{name}", name).replace("{/name}", name)


def _strange(user: Resource, account: str, parts: Mapping[str, Part]) -> str | None:
    """The account of an ARN that is not that of the stack; empty if it is not known, `None` if it is the stack's."""
    if account in parts:
        return None if parts[account] == user.template.owner else ""
    return None if account == _account(user) else account if account.isdecimal() else ""


def _account(resource: Resource) -> str | None:
    """The account of a stack, also one that its templates name."""
    owner = resource.template.owner
    return as_str(owner) or (owner.likely if isinstance(owner, Account) else None) or None


JUDGES: Mapping[Language, Judge] = {}
WHOLES: Mapping[str, WholeJudge] = dict.fromkeys((*PLACES, *SENDERS), names)
