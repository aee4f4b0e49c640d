"""Links of Lustre to buckets: FSx reads and writes them as a role of its own, from outside the network of the file system.

Sources: https://docs.aws.amazon.com/fsx/latest/LustreGuide/s3-server-side-encryption-support.html and
https://docs.aws.amazon.com/AmazonS3/latest/userguide/example-bucket-policies-vpc-endpoint.html
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from hyperpod_constructs.analysis.arns import s3_uri_arns, s3_uri_prefix
from hyperpod_constructs.analysis.conditions import Context
from hyperpod_constructs.analysis.contexts import OF_OWNER, OF_ROLE, OF_SERVICE
from hyperpod_constructs.analysis.deliveries import Admission, Caller, admissions
from hyperpod_constructs.analysis.node_places import BUCKET, bucket_at
from hyperpod_constructs.analysis.paths import place_in
from hyperpod_constructs.analysis.placement import FILE_SYSTEM
from hyperpod_constructs.analysis.policy_document import Call
from hyperpod_constructs.analysis.regions import region_of
from hyperpod_constructs.facts.policies import EXPORTED, LINKED, LINKS, LINKS_PATH
from hyperpod_constructs.templates.model import Model, Resource, resource_of
from hyperpod_constructs.templates.values import ABSENT, UNKNOWN, Value, as_bool, as_items, joined, parts_of


class Link(NamedTuple):
    """A link to a bucket of the model.

    :param path: where it names the bucket.
    :param arns: of the bucket, and of any object of the link.
    :param prefix: of its objects; empty for the whole bucket, `None` if it is not known.
    """

    resource: Resource
    path: tuple[str | int, ...]
    bucket: Resource
    arns: tuple[Value, Value]
    prefix: str | None

    @property
    def imports(self) -> bool:
        """Whether the file system surely shows the bucket's objects as files; one that is created from a bucket always does."""
        created = self.resource.type == FILE_SYSTEM or as_bool(self.resource.get("BatchImportMetaDataOnCreate")) is True
        return created or bool(as_items(self.resource.get("S3", "AutoImportPolicy", "Events")))

    @property
    def exports(self) -> bool:
        """Whether it surely writes to the bucket."""
        return any(self.resource.get(*place) is not ABSENT for place in EXPORTED)

    @property
    def context(self) -> Context:
        """The keys of every call that FSx makes for it."""
        owner = self.resource.template.owner
        role = joined(["arn:aws:iam::", *parts_of(owner), f":role/{LINKS_PATH}/{LINKS}_fs-", UNKNOWN])
        places = {key: value for key, value in OF_SERVICE.items() if key.startswith(("aws:sourcevpc", "aws:vpcsource"))}
        accounts: Context = {**dict.fromkeys(OF_OWNER, self.bucket.template.owner), "aws:principalaccount": owner}
        return {**OF_ROLE, **places, **accounts, "aws:principalarn": role, "aws:viaawsservice": "false"}

    @property
    def _calls(self) -> tuple[Call, ...]:
        bucket, objects = self.arns
        writes = (Call("s3:PutObject", objects, self.context),) if self.exports else ()
        return (Call("s3:GetObject", objects, self.context), Call("s3:ListBucket", bucket, self.context), *writes)

    @property
    def denials(self) -> Iterator[tuple[Admission, Call]]:
        """The calls that a policy of the bucket surely denies, each with that policy."""
        caller = Caller(LINKS, region_of(self.resource))
        for policy in admissions(self.bucket, "s3"):
            yield from ((policy, call) for call in self._calls if policy.denies(caller, call))


def links(model: Model) -> tuple[Link, ...]:
    """The links of a model to its buckets; computed once."""
    return model.cached(links, lambda: tuple(_links(model)))


def _links(model: Model) -> Iterator[Link]:
    for type_, paths in LINKED.items():
        for resource in model.resources(type_):
            for place, value in (one for path in paths for one in place_in(resource.get(), path)):
                arns = s3_uri_arns(value)
                bucket = None if arns is None else bucket_at(model, arns[0]) or resource_of(parts_of(arns[0])[-1], BUCKET)
                if arns is not None and bucket is not None:
                    yield Link(resource, place, bucket, arns, s3_uri_prefix(value))
