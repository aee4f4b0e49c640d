"""Permissions: roles may do what the features that use them take; the finding is at the policy that refuses it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import partial

from hyperpod_constructs._support.grouping import grouped
from hyperpod_constructs.analysis.clusters import groups
from hyperpod_constructs.analysis.iam import ROLE, role_facts
from hyperpod_constructs.analysis.needs import Refused, mistakes_at, refused_at
from hyperpod_constructs.analysis.policy_document import Statement
from hyperpod_constructs.analysis.refusals import Cause
from hyperpod_constructs.analysis.session_keys import keyless
from hyperpod_constructs.analysis.started import unfinished
from hyperpod_constructs.analysis.unmountable import unmountable
from hyperpod_constructs.analysis.variables import idle_variables
from hyperpod_constructs.facts.iam_actions import is_service
from hyperpod_constructs.facts.permissions import STARTING, Place
from hyperpod_constructs.rules.finding import Hit, Level, hit
from hyperpod_constructs.rules.rule import rule, warning
from hyperpod_constructs.templates.globs import glob
from hyperpod_constructs.templates.model import Model, Resource
from hyperpod_constructs.templates.values import ABSENT, UNKNOWN, Value, as_str, shown

_GUIDE = "https://docs.aws.amazon.com/sagemaker/latest/dg/"
_UNNAMED = ("*", "${?}")
_OF_STATEMENTS = ("HP-POL-002", "HP-POL-006")
_permission = partial(
    rule,
    fix="allow the role the missing actions on these resources, in a policy of its own or of the resource, and take away what "
    'denies them; ec2:DetachNetworkInterface takes a statement for "*", because the nodes are instances of the service\'s account',
    source=f"{_GUIDE}sagemaker-hyperpod-prerequisites-iam.html",
    silences=_OF_STATEMENTS,
)


def _hits(model: Model, *, fatal: bool) -> Iterator[Hit]:
    """One hit for each place at which calls are refused."""
    for place, found in mistakes_at(model).items():
        if any(one.need.task.fatal for one in found) is fatal:
            policies = (policy for one in found for policy in _policies_for(one))
            yield hit(place, _message(found), *found[0].refusal.path, covers=tuple(dict.fromkeys(policies)))


def _policies_for(one: Refused) -> Iterator[Resource]:
    """The policies of a role that may be meant for a refused call: a mistake in another one is another mistake."""
    service = one.refusal.call.action.partition(":")[0].lower()
    return (policy.resource for policy in one.need.facts.policies if any(_may_be_for(each, service) for each in policy.statements))


def _may_be_for(statement: Statement, service: str) -> bool:
    """Whether a statement may be meant for a service: by a pattern, or by a name that no service has."""
    prefixes = [(as_str(action) or "*").lower().partition(":")[0] for action in statement.actions]
    return any(glob(prefix, service) or not is_service(prefix) for prefix in prefixes)


def _message(found: Sequence[Refused]) -> str:
    by_user = grouped((one.need.user, one) for one in found)
    return "; ".join(f"{user} may not {_of_user(refused_)}" for user, refused_ in by_user.items())


def _of_user(found: Sequence[Refused]) -> str:
    by_task = grouped((one.need.task.words, one) for one in found)
    return ", nor ".join(f"{words}: {_reasons(refused_)}{_hint(refused_)}" for words, refused_ in by_task.items())


def _hint(found: Sequence[Refused]) -> str:
    tasks = [(one.need.task, one.need.facts.managed_policies) for one in found if _is_missing_in_role(one)]
    words = [text for task, policies in tasks for text in (task.hint, task.pitfall[1] if task.pitfall[0] in policies else "")]
    return f" ({', '.join(dict.fromkeys(filter(None, words)))})" if any(words) else ""


def _is_missing_in_role(one: Refused) -> bool:
    return one.refusal.cause is Cause.MISSING and one.refusal.place is one.need.facts.role and not one.refusal.path


def _reasons(found: Sequence[Refused]) -> str:
    """The refused actions by their reason and their resource, in words."""
    by_reason = grouped((_reason(one), one) for one in found)
    return "; ".join(f"{reason} {_actions(refused_)}" for reason, refused_ in by_reason.items())


def _reason(one: Refused) -> str:
    place, denied = one.refusal.place, one.refusal.cause is Cause.DENIED
    if not one.refusal.path:
        return "its policies deny" if denied else "missing"
    if place is one.need.facts.boundary_policy or one.refusal.path == ("PermissionsBoundary",):
        return f"its permissions boundary {'denies' if denied else 'lacks'}"
    return f"the policy of {place.logical_id} {'denies' if denied else 'does not allow'}"


def _actions(found: Sequence[Refused]) -> str:
    by_resource = grouped((_pattern(one), one.refusal.call.action) for one in found)
    return ", ".join(f"{', '.join(dict.fromkeys(actions))}{on}" for on, actions in by_resource.items())


def _pattern(one: Refused) -> str:
    """The resource of a call as a policy has it: an unknown part is any text; none where it is any resource."""
    if one.need.task.on is Place.INSTANCES_ELSEWHERE:
        return " on instances of other accounts"
    resource = one.refusal.call.resource
    text = str(shown(UNKNOWN if resource is None else resource))
    return "" if text in _UNNAMED else f" on {text.replace('${?}', '*')}"


@_permission(
    "HP-PERM-001",
    Level.ERROR,
    title="roles may do what nodes do not come up without",
    why="AWS refuses the call: the creation of the cluster fails, or its nodes cannot fetch what they need",
    allowed="the actions that the guide lists for scripts, interfaces, passwords and keys, on the resources that the cluster names",
    aliases=("HP-IAM-010", "HP-IAM-011", "HP-IAM-012", "HP-IAM-013", "HP-IAM-014"),
    silences=(*_OF_STATEMENTS, "HP-POL-008", "HP-REACH-006"),
)
def nodes_come_up(model: Model) -> Iterator[Hit]:
    return _hits(model, fatal=True)


@_permission(
    "HP-PERM-002",
    Level.WARNING,
    title="roles may do what their features take",
    why="AWS refuses the call, and the feature fails: logs, sessions, auto-resume, images, metrics, volumes or autoscaling",
    allowed="the actions that the guide of each feature lists",
    aliases=(
        *("HP-IAM-015", "HP-IAM-016", "HP-IAM-017", "HP-IAM-018", "HP-IAM-019", "HP-IAM-021", "HP-IAM-022", "HP-IAM-023"),
        *("HP-IAM-024", "HP-ADD-032", "HP-EKP-001", "HP-EKP-002", "HP-EKP-003"),
    ),
)
def features_work(model: Model) -> Iterator[Hit]:
    yield from _hits(model, fatal=False)
    refusing = refused_at(model)
    for role, found in grouped((one.role, one) for one in unfinished(model)).items():
        if role not in refusing:
            words = " and to ".join(dict.fromkeys(one.words for one in found))
            missing = dict.fromkeys(action for one in found for action in one.missing)
            yield hit(role, f"the role may begin to {words}, and not end it: missing {', '.join(missing)}")
    for one in keyless(model):
        text = f"users may start sessions of {one.document.logical_id}, and not encrypt them with {one.key.logical_id}: missing "
        yield hit(one.statement.resource, text + ", ".join(STARTING.actions), *one.statement.path)
    yield from (hit(one, "its policy lets nobody mount it", "FileSystemPolicy") for one in unmountable(model))


@warning(
    "HP-PERM-003",
    title="who creates clusters may use their training plans",
    why="CreateCluster is refused: with a training plan it takes permission on the plan as well as on the cluster",
    fix="allow sagemaker:CreateCluster and sagemaker:UpdateCluster on training-plan/* and reserved-capacity/* too",
    allowed="sagemaker:CreateCluster on the training plan",
    source=f"{_GUIDE}training-plan-iam-permissions.html",
    aliases=("HP-IAM-020",),
)
def plans_can_be_used(model: Model) -> Iterator[Hit]:
    """Roles of the templates that can create clusters, but no cluster with a plan of the model."""
    plans: list[Value] = [plan for group in groups(model) if (plan := group.get("TrainingPlanArn")) is not ABSENT]
    for role in model.resources(ROLE) if plans else ():
        facts = role_facts(role)
        refused_ = [plan for plan in plans if facts.may("sagemaker:CreateCluster", plan) is False]
        creates = any(one.effect == "Allow" and one.speaks_of("sagemaker:CreateCluster") for one in facts.statements)
        if refused_ and creates:
            yield hit(role, f"the role may create clusters, but may not use the training plan {shown(refused_[0])}")


@warning(
    "HP-PERM-004",
    title="roles may use what the variables of their functions, builds and containers name",
    why="AWS refuses the first call of the code: its role may do nothing with the table, the queue or the bucket",
    fix="allow the role the actions of the code on the resource, or take the variable out",
    allowed="an action on the resource",
    source="https://docs.aws.amazon.com/lambda/latest/dg/lambda-intro-execution-role.html",
)
def variables_can_be_used(model: Model) -> Iterator[Hit]:
    refusing = refused_at(model)
    for one in idle_variables(model):
        if one.role not in refusing:
            text = f"{one.user.logical_id} is told of {one.named.logical_id}, and its role may do nothing with it"
            yield hit(one.role, text, covers=(one.user,))
