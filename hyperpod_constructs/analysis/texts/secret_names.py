"""Secrets that clusters name by text for their accounting database: the one with the password of the database.

It is a mistake where nothing has the name, and the role of the controller may read the secret of the database and not this one.

Source: https://docs.aws.amazon.com/sagemaker/latest/APIReference/API_ClusterAccountingDatabase.html
"""

from __future__ import annotations

import re
from collections.abc import Mapping

from hyperpod_constructs.analysis.clusters import Cluster, clusters
from hyperpod_constructs.analysis.database import ACCOUNTING, SECRET, database_of, databases_of
from hyperpod_constructs.analysis.iam import ROLE, role_facts
from hyperpod_constructs.analysis.texts.own_names import nobodys
from hyperpod_constructs.analysis.texts.reading import spelled
from hyperpod_constructs.analysis.texts.slip import Judge, Slip, Slips, WholeJudge
from hyperpod_constructs.facts.texts import Language
from hyperpod_constructs.templates.model import Resource, resource_of
from hyperpod_constructs.templates.values import Reference, Value

_CLUSTER, _READ = "AWS::SageMaker::Cluster", "secretsmanager:GetSecretValue"
_PLACE = (*ACCOUNTING, "SecretArn")
_ENDING = re.compile(r"-[A-Za-z0-9]{6}$")
"""The end of the ARN of a secret, behind its name."""
_NAME = re.compile(r":secret:([\w/+=.@-]+)")


def accounting(resource: Resource) -> Slips:
    """The secret of the accounting database of a cluster."""
    for one in clusters(resource.template.model):
        if one.resource is resource:
            yield from _of_cluster(one, one.get(*_PLACE))


def _of_cluster(cluster: Cluster, given: Value) -> Slips:
    database, model = database_of(cluster), cluster.resource.template.model
    name = _NAME.search(spelled(given) or "")
    secrets = model.resources(SECRET) if database is not None and name is not None else ()
    own = next((one for one in secrets if database in databases_of(one)), None)
    names = [one.get("Name") for one in secrets]
    if own is None or name is None or not all(nobodys(model, one, names) for one in (name[1], _ENDING.sub("", name[1]))):
        return
    controllers = (group for group in cluster.groups if group.node_type == "Controller")
    roles = [resource_of(group.get("ExecutionRole"), ROLE) for group in controllers]
    facts = [role_facts(role) for role in roles if role is not None]
    if facts and all(one.may(_READ, given) is False and one.may(_READ, Reference(own)) for one in facts):
        message = f"no secret of the templates is called {name[1]}; the password of the database is in {own.logical_id}"
        yield Slip(message, f"a reference to {own.logical_id}", _PLACE, given, dead=True)


JUDGES: Mapping[Language, Judge] = {}
WHOLES: Mapping[str, WholeJudge] = {_CLUSTER: accounting}
