"""References and pseudo parameters in conditions that give another kind of value than their key has: an ARN for an account, an
id or an address for an ARN, the region for the account.

Source: https://docs.aws.amazon.com/IAM/latest/UserGuide/reference_policies_condition-keys.html
"""

from __future__ import annotations

from collections.abc import Iterator

from hyperpod_constructs.analysis.documents import Written
from hyperpod_constructs.analysis.references.forms import gives_arn
from hyperpod_constructs.facts.arn_forms import FORMS, ArnForm
from hyperpod_constructs.facts.condition_keys import TYPES, VALUES, Key, pseudo_parameters
from hyperpod_constructs.templates.dependencies import raw_at
from hyperpod_constructs.templates.model import target_of
from hyperpod_constructs.templates.values import Reference

_PSEUDO = "AWS::"
_FREE = ("AWS::CloudFormation::", "AWS::Organizations::")
"""Types whose `Ref` may be an account or an organization, as may be that of a custom resource."""


def given_for(name: str, key: Key, reference: Reference) -> str | None:
    """What a reference gives that a key never has, in words."""
    target, wanted = target_of(reference), TYPES.get(name.lower())
    if wanted is not None and target.type != wanted:
        return f"no {wanted}" if _service_of(target.type) == _service_of(wanted) else None
    if key.kind == "ARN":
        names = FORMS.get(target.type, ArnForm()).names
        return "a name" if reference.attribute in names else "no ARN" if gives_arn(reference) is False else None
    if wanted is not None or name.lower() not in VALUES or not target.type.startswith("AWS::") or target.type.startswith(_FREE):
        return None
    return f"another value than {VALUES[name.lower()][1]}" if reference.attribute is None or gives_arn(reference) else None


def _service_of(type_: str) -> str:
    """The service of a type, such as `AWS::EC2`."""
    return type_.rpartition("::")[0]


def mistaken_pseudo_parameters(one: Written) -> Iterator[tuple[str, tuple[str | int, ...]]]:
    """The pseudo parameters in the conditions of a statement that no call has for their key: in words, with the place."""
    conditions = raw_at(one.resource, (*one.path, "Condition"))
    for operator, keys in conditions.items() if isinstance(conditions, dict) else ():
        for name, given in keys.items() if isinstance(keys, dict) else ():
            allowed = pseudo_parameters(name)
            for value in (given if isinstance(given, list) else [given]) if allowed is not None else ():
                found = value.get("Ref") if isinstance(value, dict) else None
                if isinstance(found, str) and found.startswith(_PSEUDO) and found not in (*(allowed or ()), f"{_PSEUDO}NoValue"):
                    yield f"{name} never is {found}", ("Condition", operator, name)
