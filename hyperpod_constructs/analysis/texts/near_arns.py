"""ARNs of topics and queues in texts: in the account of the stack, with nearly the name of one that the templates make, or of a
queue in the family of their names that nothing has.

Source: https://docs.aws.amazon.com/prometheus/latest/userguide/AMP-alertmanager-config.html
"""

from __future__ import annotations

import re
from collections.abc import Mapping

from hyperpod_constructs.analysis.own_arns import CHOSEN, own_arns
from hyperpod_constructs.analysis.schema.violation import listed
from hyperpod_constructs.analysis.texts.own_names import nobodys
from hyperpod_constructs.analysis.texts.reading import known
from hyperpod_constructs.analysis.texts.slip import Judge, Slip, Slips, WholeJudge
from hyperpod_constructs.analysis.typo import typo_of
from hyperpod_constructs.facts.texts import Language
from hyperpod_constructs.templates.model import Resource
from hyperpod_constructs.templates.values import placed_leaves

SENDERS = (
    *("AWS::APS::AlertManagerDefinition", "AWS::APS::Workspace", "AWS::Backup::BackupVault", "AWS::Budgets::Budget"),
    *("AWS::CE::AnomalySubscription", "AWS::CloudWatch::Alarm", "AWS::CloudWatch::CompositeAlarm", "AWS::Events::Rule"),
    *("AWS::Lambda::EventInvokeConfig", "AWS::Lambda::EventSourceMapping", "AWS::Lambda::Function", "AWS::RDS::EventSubscription"),
    *("AWS::S3::Bucket", "AWS::SNS::Subscription", "AWS::Scheduler::Schedule"),
)
"""Types that name a topic or a queue by its ARN, which may be a text."""
_QUEUES = "sqs"
"""Topics for people are often made elsewhere with the words of one's own names, and a queue beside what reads it."""
_LEAST = 4
"""Words that differ have so many letters: `team-a` is not `team-b` misspelled."""


def names(resource: Resource) -> Slips:
    """A topic or a queue of the account has the name of one that the templates make, and not nearly that."""
    for path, leaf in placed_leaves(resource.get()):
        for one in own_arns(resource, leaf):
            type_, key = CHOSEN[one.service]
            given = [other.get(key) for other in resource.template.model.resources(type_)]
            there = [known(other) or "" for other in given]
            near = typo_of(one.name, [name for name in there if name])
            if near is not None and is_whole(one.name, near):
                yield Slip(f"no {type_} is called {one.name}; the nearest is {near}", near, path, leaf, dead=True)
            elif one.service == _QUEUES and one.name not in there and nobodys(resource.template.model, one.name, given):
                yield Slip(f"no {type_} of the templates is called {one.name}", listed(filter(None, there)), path, leaf, dead=True)


def is_whole(name: str, near: str) -> bool:
    """Whether the words in which two names differ are long enough for a misspelling."""
    first, second = ([*re.findall(r"[^\W_]+", one.lower())] for one in (name, near))
    differ = [word for one, two in ((first, second), (second, first)) for word in one if word not in two]
    return "".join(first) == "".join(second) or all(len(word) >= _LEAST for word in differ)


JUDGES: Mapping[Language, Judge] = {}
WHOLES: Mapping[str, WholeJudge] = dict.fromkeys(SENDERS, names)
