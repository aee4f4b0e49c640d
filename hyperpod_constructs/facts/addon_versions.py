"""Versions of add-ons, and what HyperPod, Kubernetes and the version before ask of them (as of 2026-11-22)."""

from __future__ import annotations

from collections.abc import Mapping

from hyperpod_constructs.facts.addons import TASK_GOVERNANCE, addon_facts
from hyperpod_constructs.facts.kubernetes import version_of
from hyperpod_constructs.facts.limits import Limit
from hyperpod_constructs.facts.mistake import Mistake, fixed_by

VERSION = Limit(
    shortest=1,
    longest=64,
    pattern=r"^v[0-9]+\.[0-9]+\.[0-9]+-eksbuild\.[0-9]+$",
    words="v, three numbers and the build, such as v1.20.1-eksbuild.3 (aws eks describe-addon-versions prints those on offer)",
    example="v1.20.1-eksbuild.3",
)
"""The form of an add-on's version.

Source: https://docs.aws.amazon.com/eks/latest/userguide/managing-vpc-cni.html (as of 2026-11-22)
"""

_OFFERED_AFTER = 4
"""Versions of Kubernetes after the last one that is named for a minor version of an add-on, where EKS may still offer it."""

STEP_NEEDED: Mapping[str, tuple[str, str]] = {TASK_GOVERNANCE: ("1.4.0", "1.5.0")}
"""Add-ons that do not go from below the first version to the second or a newer one: there is a step in between.

Source: https://docs.aws.amazon.com/sagemaker/latest/dg/sagemaker-hyperpod-eks-operate-console-ui-governance-setup-task-governance.html
(as of 2026-11-22)
"""


@fixed_by("take a version from aws eks describe-addon-versions, or leave the version out for the default of EKS")
def low_version(name: str, version: str, allowed: str) -> str:
    """A version that HyperPod or this version of Kubernetes does not take."""
    return f"version {version!r} of the add-on {name}; allowed: {allowed}"


def version_mistake(name: str, version: str, kubernetes: str | None) -> Mistake | None:
    """A version of an add-on that the control plane cannot have; `None` for one that it can.

    :param kubernetes: the version of Kubernetes; `None` if it is unknown.
    """
    facts, numbers = addon_facts(name), version_of(version) or ()
    if facts is None:
        return None
    if (form := VERSION.mistake("version", version)) is not None:
        return form
    if facts.least is not None and is_lower(version, facts.least):
        return low_version(name, version, f"v{facts.least} and newer ({facts.source})")
    if facts.follows_kubernetes and kubernetes is not None and numbers[:2] != version_of(kubernetes):
        return low_version(name, version, f"v{kubernetes} beside Kubernetes {kubernetes} ({facts.source})")
    return None


@fixed_by(low_version.fix)
def later_version(name: str, version: str, kubernetes: str, newest: str) -> str:
    """A version that is named for a later Kubernetes only."""
    return f"version {version!r} of the add-on {name} is for a later Kubernetes; for {kubernetes} the newest one known is {newest}"


def later_version_mistake(name: str, version: str, kubernetes: str | None) -> Mistake | None:
    """A version of an add-on whose minor version the sources name for later versions of Kubernetes only; `None` for any other."""
    facts, minor = addon_facts(name), _minor(version)
    if facts is None or kubernetes is None:
        return None
    here = [one.version for one in facts.versions if one.kubernetes == kubernetes]
    named = [one.kubernetes for one in facts.versions if one.kubernetes is not None and _minor(one.version) == minor]
    newest = max(here, key=_minor, default=None)
    if newest is None or not named or minor <= _minor(newest):
        return None
    return later_version(name, version, kubernetes, newest) if all(is_lower(kubernetes, one) for one in named) else None


@fixed_by(low_version.fix)
def earlier_version(name: str, version: str, kubernetes: str, last: str) -> str:
    """A version that is named for a much earlier Kubernetes only."""
    return f"version {version!r} of the add-on {name} is for Kubernetes {last} and earlier, and the control plane has {kubernetes}"


def earlier_version_mistake(name: str, version: str, kubernetes: str | None) -> Mistake | None:
    """A version of an add-on whose minor version is the newest one of a Kubernetes that is long past; `None` for any other.

    EKS offers a minor version beside some later versions of Kubernetes too.
    """
    facts, minor, now = addon_facts(name), _minor(version), version_of(kubernetes or "")
    if facts is None or kubernetes is None or now is None:
        return None
    known = [
        (one.kubernetes, version_of(one.kubernetes)) for one in facts.versions if one.kubernetes and minor >= _minor(one.version)
    ]
    below = [one for one in facts.versions if one.kubernetes and minor == _minor(one.version)]
    last = max((number, text) for text, number in known if number is not None)[1] if below else None
    past = version_of(last or "")
    return earlier_version(name, version, kubernetes, last) if last and past and now[1] - past[1] > _OFFERED_AFTER else None


def _minor(version: str) -> tuple[int, ...]:
    return (version_of(version) or ())[:2]


def is_lower(version: str, least: str) -> bool:
    """Whether a version is below another; the build does not count, and a text of another form is not compared."""
    numbers, other = version_of(version), version_of(least)
    return numbers is not None and other is not None and numbers < other


def skips_a_step(name: str, old: str, new: str) -> bool:
    """Whether an add-on goes from a version to one that needs another in between."""
    below, onward = STEP_NEEDED.get(name, ("0", "0"))
    return is_lower(old, below) and not is_lower(new, onward)


@fixed_by("update to each minor version in between, one after the other")
def skipped_step(name: str, old: str, new: str) -> str:
    """An update over a version that is needed in between."""
    return f"the add-on {name} goes from {old} to {new} in one step"


@fixed_by("raise the version of the control plane")
def low_kubernetes(name: str, kubernetes: str, least: str) -> str:
    """An add-on that needs a newer Kubernetes."""
    return f"the add-on {name} on Kubernetes {kubernetes}; allowed: Kubernetes {least} and newer"


def kubernetes_mistake(name: str, kubernetes: str | None) -> Mistake | None:
    """A version of Kubernetes that is too old for an add-on; `None` for an unknown version."""
    facts = addon_facts(name)
    if facts is None or facts.least_kubernetes is None or kubernetes is None:
        return None
    low = is_lower(kubernetes, facts.least_kubernetes)
    return low_kubernetes(name, kubernetes, facts.least_kubernetes) if low else None
