"""What the health labels of nodes in Kubernetes say, which lists of SageMaker do not have. Lists go on without an answer."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any
from urllib.parse import quote, urlencode

import typer

from hyperpod_constructs.cli.console import CliError, is_aws_error
from hyperpod_constructs.cli.kubeconfig import administrators, described
from hyperpod_constructs.cli.kubernetes_api import KubernetesApi, KubernetesError
from hyperpod_constructs.cli.kubernetes_token import token
from hyperpod_constructs.cli.operate.place import Place
from hyperpod_constructs.cli.operate.reading import Cluster
from hyperpod_constructs.custom_resources.handlers.redaction import one_line
from hyperpod_constructs.facts import kubernetes_nodes as facts

MOST_PAGES = 20
"""The most requests of a look: 10,000 unhealthy nodes."""

_SECONDS = 3.0
"""A private endpoint does not answer from outside, and a list of nodes must not wait for it long."""

_PAGE = 500
_CHARACTERS = 300
_UNHEALTHY = f"{facts.HEALTH},{facts.HEALTH}!={facts.SCHEDULABLE}"
_REFUSED = ("401", "403")


class KubernetesHealth:
    """Looks at the labels. Once they cannot be had, no look tries again."""

    def __init__(self, place: Place) -> None:
        self._place = place
        self._missing = False
        self._role: str | None = None

    def of(self, cluster: Cluster) -> Mapping[str, str]:
        """What is wrong with nodes, by instance id; empty for Slurm, and where Kubernetes does not answer, which it says."""
        if cluster.kubernetes is None or self._missing:
            return {}
        try:
            return self._asked(cluster.kubernetes)
        except (CliError, KubernetesError) as error:
            reason = str(error)
        except Exception as error:
            if not is_aws_error(error):
                raise
            reason = str(error)
        self._missing = True
        typer.echo(f"The health labels of Kubernetes are left out: {one_line(reason, _CHARACTERS)}", err=True)
        return {}

    def _asked(self, name: str) -> dict[str, str]:
        """As the caller; where Kubernetes does not admit them, in the role of the deployed app's administrators."""
        found = described(self._place.target, name)
        try:
            return self._read(found, self._role)
        except KubernetesError as error:
            if self._role is not None or not str(error).startswith(_REFUSED):
                raise
            self._role = administrators(self._place.target, self._place.where)
            if self._role is None:
                raise
        return self._read(found, self._role)

    def _read(self, found: Mapping[str, Any], role: str | None) -> dict[str, str]:
        api = KubernetesApi(found, token(self._place.target, found["name"], role), seconds=_SECONDS)
        named = ((facts.instance_of(node["metadata"]["name"]), node) for node in _unhealthy(api))
        return {id: _sentence(node["metadata"].get("labels", {})) for id, node in named if id is not None}


def _unhealthy(api: KubernetesApi) -> Iterator[Mapping[str, Any]]:
    """The nodes with a label of health that is not the good one; the API leaves out the others."""
    asked = {"labelSelector": _UNHEALTHY, "limit": str(_PAGE)}
    for _ in range(MOST_PAGES):
        page = api.get(f"/api/v1/nodes?{urlencode(asked, quote_via=quote)}")
        yield from page["items"]
        if not (more := page["metadata"].get("continue")):
            return
        asked["continue"] = more


def _sentence(labels: Mapping[str, str]) -> str:
    faults = dict.fromkeys(labels[key] for key in facts.FAULTS if labels.get(key))
    checks = labels.get(facts.DEEP_HEALTH)
    said = [labels.get(facts.HEALTH, ""), *([] if checks in (None, facts.PASSED) else [f"deep health checks {checks}"]), *faults]
    return one_line(", ".join(said), _CHARACTERS)
