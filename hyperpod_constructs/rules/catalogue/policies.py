"""Policy documents: IAM takes them, their statements do something, and those of buckets are for their bucket."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from hyperpod_constructs._support.grouping import grouped
from hyperpod_constructs.analysis.arns import Arn, bucket_arn
from hyperpod_constructs.analysis.condition_kinds import mistaken_pseudo_parameters
from hyperpod_constructs.analysis.condition_shapes import mistaken_shapes
from hyperpod_constructs.analysis.condition_words import caller_of, idle_conditions
from hyperpod_constructs.analysis.documents import Written, documents, idle_words, of_others, refused_words, repeated_sids, written
from hyperpod_constructs.analysis.half_buckets import half_buckets
from hyperpod_constructs.analysis.iam import ROLE, aws_managed_name
from hyperpod_constructs.analysis.joint_conditions import joint_conditions
from hyperpod_constructs.analysis.missing_variables import missing_variables
from hyperpod_constructs.analysis.open_policies import denies_everything, is_open, locks_out, open_permissions, open_statements
from hyperpod_constructs.analysis.policy_grammar import mistaken_document
from hyperpod_constructs.analysis.policy_variables import mistaken_variables
from hyperpod_constructs.analysis.resource_policies import BUCKET_POLICY
from hyperpod_constructs.analysis.schema.violation import nearest
from hyperpod_constructs.analysis.session_documents import by_default
from hyperpod_constructs.facts.managed_policies import managed_policy, policy_names
from hyperpod_constructs.rules.finding import Hit, hit
from hyperpod_constructs.rules.rule import error, warning
from hyperpod_constructs.templates.model import Model, Resource, resource_of
from hyperpod_constructs.templates.values import ABSENT, UNKNOWN, Text, Value, as_bool, as_items, as_str, joined, parts_of

_IAM = "https://docs.aws.amazon.com/IAM/latest/UserGuide/"
_S3 = "https://docs.aws.amazon.com/AmazonS3/latest/userguide/"


@error(
    "HP-POL-001",
    title="policies are documents that IAM takes",
    why="AWS refuses the document (MalformedPolicyDocument), and the stack rolls back",
    fix="write the operator, the action, the resource or the principal as IAM spells it, and each Sid once",
    allowed="operators of IAM, actions as SERVICE:ACTION, ARNs or *, and principals by their full names",
    source=f"{_IAM}reference_policies_elements.html",
    silences=("HP-POL-006", "HP-POL-007"),
)
def documents_are_taken(model: Model) -> Iterator[Hit]:
    for one in written(model):
        for words, place in refused_words(one):
            doubts = ((one.resource, (*one.path, "Principal")),) if place[:1] == ("Principal",) else ()
            yield replace(hit(one.resource, words, *one.path, *place), doubts=doubts)
    for resource, place, _ in documents(model):
        whole = mistaken_document(resource, resource.get(*place)) if place else ()
        yield from (hit(resource, words, *place, *where) for words, where in whole)
        for index, sid in repeated_sids(as_items(resource.get(*place, "Statement")) or ()):
            yield hit(resource, f"the document has two statements with the Sid {sid!r}", *place, "Statement", index, "Sid")


@warning(
    "HP-POL-002",
    on=written,
    title="the actions of a statement exist, and work on its resources",
    why="IAM takes the statement without a word, and it allows or denies nothing",
    fix="correct the name of the action, or write the resource that it works on: the bucket for a list, BUCKET/* for objects, * "
    "for actions without resources",
    allowed="actions of the service authorization reference, on resources that it lists for them",
    source="https://docs.aws.amazon.com/service-authorization/latest/reference/",
)
def statements_do_something(one: Written) -> Iterator[Hit]:
    words = [*idle_words(one), *half_buckets(one), *by_default(one)]
    if words:
        yield hit(one.resource, "; ".join(words), *one.path)
    yield from (hit(one.resource, said, *place) for said, place in of_others(one))


@warning(
    "HP-POL-006",
    on=written,
    title="conditions and variables are of keys that the calls have",
    why="IAM takes the condition without a word: it never holds, or for others than those who are meant",
    fix="write the key as AWS spells it, an operator of its type, StringLike or ArnLike for wildcards, and statements of their own "
    "for actions without the key; aws:userid in the place of aws:username for roles",
    allowed="keys of the service authorization reference that the actions of the statement have",
    source=f"{_IAM}reference_policies_condition-keys.html",
)
def conditions_can_hold(one: Written) -> Iterator[Hit]:
    caller = caller_of(one)
    found = (
        *mistaken_pseudo_parameters(one),
        *idle_conditions(one.statement, caller),
        *joint_conditions(one.statement),
        *missing_variables(one.statement, caller or {}),
        *mistaken_shapes(one.statement),
        *mistaken_variables(one.statement),
    )
    for place, words in {place: words for words, place in found}.items():
        yield hit(one.resource, words, *one.path, *place)


@warning(
    "HP-POL-003",
    on=ROLE,
    title="managed policies of AWS have known names",
    why="IAM refuses a policy that AWS does not have (NoSuchEntity), and the stack rolls back",
    fix="write the name that AWS's reference has, with its path: service-role/AWSLambdaBasicExecutionRole",
    allowed="a policy of AWS's reference",
    source="https://docs.aws.amazon.com/aws-managed-policy/latest/reference/policy-list.html",
)
def managed_policies_are_known(role: Resource) -> Iterator[Hit]:
    """A name that nearly is a known one, as AWS adds others, and one of AWS's with the account of the stack."""
    for index, arn in enumerate(as_items(role.get("ManagedPolicyArns")) or ()):
        name, own = aws_managed_name(arn), _own_name(arn)
        if own in policy_names() and not _is_made(role.template.model, own):
            text = f"{own} is a policy of AWS, whose ARN has aws in the place of the account"
            yield hit(role, text, "ManagedPolicyArns", index)
        nearest = None if name is None or managed_policy(name) is not None else _nearest(name)
        if nearest is not None:
            yield hit(role, f"AWS is not known to have the policy {name}; did you mean {nearest}?", "ManagedPolicyArns", index)


def _own_name(arn: Value) -> str:
    """The name of a policy of an account, by its ARN; empty for another one."""
    text = arn if isinstance(arn, str) else arn.suffix if isinstance(arn, Text) else ""
    return "" if aws_managed_name(arn) else text.partition(":policy/")[2]


def _is_made(model: Model, name: str) -> bool:
    """Whether a template may make a policy of this name."""
    names = [one.get("ManagedPolicyName") for one in model.resources("AWS::IAM::ManagedPolicy")]
    return any(one is not ABSENT and as_str(one) in (name, None) for one in names)


def _nearest(name: str) -> str | None:
    """The known name that a name is meant to be; `None` for a known one, and one like no other."""
    names, bare = sorted(policy_names()), name.rpartition("/")[2]
    same = next((one for one in names if one.rpartition("/")[2] == bare), None)
    return None if name in policy_names() else same or nearest(name, names, 0.85)


def _of_buckets(model: Model) -> Iterator[Written]:
    return (one for one in written(model) if one.resource.type == BUCKET_POLICY)


@error(
    "HP-POL-004",
    title="the policy of a bucket is for this bucket and its objects",
    why='S3 answers "Policy has invalid resource", and the stack rolls back',
    fix="write the ARN of the bucket, and with /* that of its objects",
    allowed="the ARN of the bucket, or of objects in it",
    source=f"{_S3}bucket-policies.html",
)
def bucket_policies_are_for_their_bucket(model: Model) -> Iterator[Hit]:
    strange = ((one.resource, found) for one in _of_buckets(model) if (found := _of_another_bucket(one)) is not None)
    return (first for first, *_ in grouped(strange).values())


def _of_another_bucket(one: Written) -> Hit | None:
    bucket = bucket_arn(one.resource.get("Bucket"))
    own = (Arn(bucket), Arn(joined([*parts_of(bucket), "/", UNKNOWN])))
    for pattern in one.statement.resources:
        if not one.statement.excludes_resources and all(Arn(pattern).covers(arn) is False for arn in own):
            text = f"the policy of {own[0].value!s} speaks of {pattern!s}"
            return hit(one.resource, text.replace("${?}", "*"), *one.path, "Resource", doubts=[(one.resource, ("Bucket",))])
    return None


@warning(
    "HP-POL-008",
    on=written,
    title="the policy of a resource does not lock out its owner",
    why="CloudFormation and administrators call from elsewhere: none of them can change the resource or its policy again",
    fix="deny only the actions on objects, under a condition, or except administrators by aws:PrincipalArn and aws:ViaAWSService",
    allowed="a denial of actions on objects, or with an exception",
    source=f"{_S3}example-bucket-policies-vpc-endpoint.html",
    silences=("HP-PERM-002", "HP-DLV-001"),
)
def owners_are_not_locked_out(one: Written) -> Hit | None:
    if denies_everything(one.statement):
        return hit(one.resource, "this statement denies everybody everything, under no condition", *one.path)
    bucket = one.resource.get("Bucket") if one.resource.type == BUCKET_POLICY else ABSENT
    if bucket is ABSENT or not locks_out(one.statement, bucket_arn(bucket)):
        return None
    return hit(one.resource, "this statement denies whoever is outside the network everything, the policy too", *one.path)


@error(
    "HP-POL-005",
    on=_of_buckets,
    title="a bucket that blocks public policies has none",
    why="S3 refuses a public policy (AccessDenied on PutBucketPolicy), and the stack rolls back",
    fix="name the principals, or give the statement a condition on the account, the organization or the endpoint",
    allowed="principals by their ARN, or a condition",
    source=f"{_S3}access-control-block-public-access.html",
)
def blocked_buckets_have_no_public_policy(one: Written) -> Hit | None:
    bucket = resource_of(one.resource.get("Bucket"))
    if bucket is None or not _blocks(bucket) or not is_open(one.statement):
        return None
    return hit(one.resource, f"{bucket.logical_id} blocks public policies, and this statement is for everybody", *one.path)


def _blocks(bucket: Resource) -> bool:
    """Whether a bucket surely blocks public policies; new ones do unless they are told otherwise."""
    blocks = bucket.get("PublicAccessBlockConfiguration")
    return blocks is ABSENT or as_bool(bucket.get("PublicAccessBlockConfiguration", "BlockPublicPolicy")) is True


@warning(
    "HP-POL-007",
    title="policies of what sends, keeps or decrypts, and of roles, say whose principals they let in",
    why="everybody with an account of AWS can send, read or decrypt, or work as the role",
    fix="name the principals, or add a condition on aws:SourceAccount, aws:PrincipalOrgID, kms:CallerAccount or the source's ARN",
    allowed="principals by their ARN, account or service, or a condition on whose they are",
    source="https://docs.aws.amazon.com/sns/latest/dg/sns-security-best-practices.html",
    silences=("HP-ROL-001",),
)
def policies_say_whose(model: Model) -> Iterator[Hit]:
    for one in open_statements(model):
        yield hit(one.resource, "this statement lets everybody in, whatever the account", *one.path)
    for resource in open_permissions(model):
        principal = as_str(resource.get("Principal")) or "*"
        who = (
            "everybody in, whatever the account" if principal == "*" else f"{principal} in for whatever account names the function"
        )
        yield hit(resource, f"this permission lets {who}", "Principal")
