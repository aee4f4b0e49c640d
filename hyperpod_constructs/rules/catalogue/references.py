"""References: names, attributes, parameters, exports and the arguments of functions."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from functools import partial

from hyperpod_constructs.analysis.references.anatomy import wrong_parts
from hyperpod_constructs.analysis.references.dynamic import wrong_references
from hyperpod_constructs.analysis.references.exports import circular, twice, unmatched
from hyperpod_constructs.analysis.references.functions import wrong_calls
from hyperpod_constructs.analysis.references.kinds import wrong_kinds
from hyperpod_constructs.analysis.references.names import unknown_attributes, unknown_names
from hyperpod_constructs.analysis.references.never import refusing
from hyperpod_constructs.analysis.references.outputs import misnamed_outputs
from hyperpod_constructs.analysis.references.parameters import wrong_arguments, wrong_parameters
from hyperpod_constructs.analysis.references.places import Misreference
from hyperpod_constructs.analysis.references.secret_keys import missing_keys
from hyperpod_constructs.analysis.references.texts import unmeant
from hyperpod_constructs.analysis.selves import selves
from hyperpod_constructs.rules.finding import Hit
from hyperpod_constructs.rules.rule import ORDER, Check, error, warning
from hyperpod_constructs.templates.model import Model

_FUNCTIONS = "https://docs.aws.amazon.com/AWSCloudFormation/latest/TemplateReference/intrinsic-function-reference.html"
_REFUSED = "CloudFormation refuses the template before it makes anything, or the stack rolls back at the resource"
_reference_error = partial(error, why=_REFUSED, source=_FUNCTIONS)


def _said_by(found: Callable[[Model], Iterable[Misreference]]) -> Check:
    return lambda model: map(_hit, found(model))


def _hit(one: Misreference) -> Hit:
    orders = tuple((place, ORDER) for place in (one.owner, *one.covers)) if one.of_order else ()
    return Hit(one.owner, one.path, one.message, one.found, one.allowed, one.covers, doubts=(*one.doubts, *orders))


_reference_error(
    "HP-REF-001",
    title="a template has the resources, parameters, conditions and mappings that it names",
    fix="write the nearest name, or add what it names",
    allowed="a name of the template",
    silences=("HP-DEP-002", "HP-DEP-004"),
)(_said_by(unknown_names))

_reference_error(
    "HP-REF-002",
    title="a type has the attributes that are taken from it, and a nested stack the outputs",
    fix="write the nearest attribute or output; Ref gives the name or id",
    allowed="the attributes of the type",
    silences=("HP-TXT-011",),
)(_said_by(unknown_attributes))

_reference_error(
    "HP-REF-003",
    title="a function has arguments that it takes: their number and kind, an index, a key of a mapping, blocks that there are, "
    "of Fn::If a parameter that its condition does not find empty",
    fix="write arguments that are there",
    allowed="the arguments of the function",
)(_said_by(wrong_calls))

_reference_error(
    "HP-REF-004",
    title="a parameter has a type of CloudFormation, and takes its default",
    fix="write a default that the parameter takes, or widen its limits",
    allowed="a value within the limits of the parameter",
)(_said_by(wrong_parameters))

_reference_error(
    "HP-REF-005",
    title="a nested stack receives the parameters that its template has, with values that they take",
    fix="pass what the nested template declares",
    allowed="the parameters of the nested template",
)(_said_by(wrong_arguments))

_reference_error(
    "HP-REF-006",
    title="an exported name is there once in an account and region",
    fix="give one of the exports another name, such as with the name of its stack",
    allowed="another name",
)(_said_by(twice))

warning(
    "HP-REF-007",
    title="an imported name is one that is exported",
    why="CloudFormation refuses the importing stack, unless a stack outside the input exports the name",
    fix="write the exported name, or export this one",
    allowed="an exported name",
    source=_FUNCTIONS,
)(_said_by(unmatched))

_reference_error(
    "HP-REF-008",
    title="dynamic references are ones that CloudFormation reads",
    fix="write {{resolve:ssm:NAME}} or {{resolve:secretsmanager:SECRET:SecretString:KEY}}",
    allowed="a dynamic reference to Systems Manager or Secrets Manager",
)(_said_by(wrong_references))

warning(
    "HP-REF-009",
    title="variables are in Fn::Sub, and conditions compare with values that a parameter takes",
    why="the text stays as it is, and the service finds nothing of this name; or the condition is never true",
    fix="write Fn::Sub around the text, or a value that the parameter takes",
    allowed="Fn::Sub around variables, and values that can be",
    source=_FUNCTIONS,
)(_said_by(unmeant))

_reference_error(
    "HP-REF-010",
    title="a template and its resources, parameters and outputs have names, keys, values and policies that CloudFormation takes",
    fix="write an allowed key or value, or take it out; names are letters and digits, and Snapshot is for databases and volumes",
    allowed="the keys and values of CloudFormation",
    silences=("HP-RET-001", "HP-RET-002"),
)(_said_by(wrong_parts))

_reference_error(
    "HP-REF-011",
    title="stacks do not import from each other in a circle",
    fix="move what both need into a stack of its own",
    allowed="imports from stacks that are deployed before",
)(_said_by(circular))

_reference_error(
    "HP-REF-012",
    title="a reference gives the kind of thing that its property takes: an id, a name or an ARN of the right type",
    fix="refer to a resource of the right type; by Ref where an id or a name is taken, by Fn::GetAtt where an ARN is",
    allowed="a reference to a resource of the right type",
    aliases=("HP-IAM-002", "HP-ROL-002"),
    yields=True,
)(_said_by(wrong_kinds))

_reference_error(
    "HP-REF-014",
    title="some deployment passes the rules of a template",
    fix="write a value that the parameter, or the pseudo parameter, can have",
    allowed="assertions that some deployment meets",
    silences=("HP-REF-009",),
)(_said_by(lambda model: (one for template in model.templates if not template.rewritten for one in refusing(template))))

error(
    "HP-REF-015",
    title="secrets have the keys that builds and containers take",
    why="the build or the container does not start: its secret has no such key",
    fix="write a key of the secret's JSON",
    allowed="a key of the secret",
    source="https://docs.aws.amazon.com/codebuild/latest/APIReference/API_EnvironmentVariable.html",
)(_said_by(missing_keys))

warning(
    "HP-REF-016",
    title="an output that is named after an attribute gives that attribute",
    why="who takes the output takes an id for a host or an ARN, and fails with it",
    fix="take the attribute with Fn::GetAtt, or name the output after what it gives",
    allowed="the attribute of that name",
    source="https://docs.aws.amazon.com/AWSCloudFormation/latest/UserGuide/outputs-section-structure.html",
)(_said_by(misnamed_outputs))


@error(
    "HP-REF-013",
    title="resources do not name themselves where another one is meant",
    why="the service refuses a resource that is its own copy, source or dead-letter queue, or it copies its logs for ever",
    fix="name the other resource",
    allowed="another resource of the type",
    source="https://docs.aws.amazon.com/AmazonS3/latest/userguide/replication.html",
    silences=("HP-PERM-001", "HP-PERM-002"),
)
def others_are_named(model: Model) -> Iterator[Hit]:
    for end, other in selves(model):
        text = f"{end.resource.logical_id} {other.words} itself"
        yield Hit(end.resource, end.path, text, found=end.value)
