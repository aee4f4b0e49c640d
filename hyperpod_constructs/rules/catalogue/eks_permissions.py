"""The tag by which permissions are given to add-ons of SageMaker."""

from __future__ import annotations

from hyperpod_constructs.analysis.clusters import Cluster, given
from hyperpod_constructs.analysis.kubernetes import EksCluster, joined
from hyperpod_constructs.facts.addons import TRAINING_OPERATOR
from hyperpod_constructs.facts.orchestration import TAG_OF_ADDONS
from hyperpod_constructs.rules.rule import warning
from hyperpod_constructs.templates.values import as_items, as_str, at, is_known

_TAG, _TAG_VALUE = TAG_OF_ADDONS


@warning(
    "HP-EKP-004",
    on=joined,
    at=("Tags",),
    title=f"a cluster with add-ons of SageMaker has the tag {_TAG}={_TAG_VALUE}",
    why="the managed policy of the training operator allows it to look at nodes of clusters with this tag only, and the console "
    "installs its add-ons on such clusters",
    fix=f"give the HyperPod cluster the tag {_TAG} with the value {_TAG_VALUE}",
    allowed=f"Tags with {_TAG}={_TAG_VALUE}",
    source="https://docs.aws.amazon.com/sagemaker/latest/dg/sagemaker-eks-operator-install.html",
)
def the_cluster_has_the_tag_of_addons(cluster: Cluster, eks: EksCluster) -> str | None:
    tags = as_items(cluster.get("Tags")) if given(cluster.get("Tags")) is not False else ()
    asking = eks.installed([TRAINING_OPERATOR])
    if not asking or tags is None or not all(is_known(one) for one in tags):
        return None
    tagged = any(as_str(at(one, "Key")) == _TAG and as_str(at(one, "Value")) == _TAG_VALUE for one in tags)
    return None if tagged else f"the cluster has no tag {_TAG}={_TAG_VALUE}, and the add-on {TRAINING_OPERATOR} looks for it"
