"""The numbers of fields in Kubernetes' protobuf."""

from __future__ import annotations

from collections.abc import Mapping

_META, _CORE = "io.k8s.apimachinery.pkg.apis.meta.v1.", "io.k8s.api.core.v1."
_RBAC, _AUTHORIZATION = "io.k8s.api.rbac.v1.", "io.k8s.api.authorization.v1."
_AUTHENTICATION, _COORDINATION = "io.k8s.api.authentication.v1.", "io.k8s.api.coordination.v1."
_BATCH, _APPS, _POLICY = "io.k8s.api.batch.v1.", "io.k8s.api.apps.v1.", "io.k8s.api.policy.v1."


def _numbered(names: str) -> dict[int, str]:
    """Names in the order of their numbers; `-` for a number that is not in use."""
    return {number: name for number, name in enumerate(names.split(), 1) if name != "-"}


_WITH_STATUS = _numbered("metadata spec status")
_REVIEW = _WITH_STATUS
_KEY_SELECTOR, _OPTIONAL_NAME = _numbered("name key optional"), _numbered("name optional")
_BINDING = _numbered("metadata subjects roleRef")
FIELDS: Mapping[str, Mapping[int, str]] = {
    _META + "ObjectMeta": _numbered(
        "name generateName namespace selfLink uid resourceVersion generation creationTimestamp deletionTimestamp "
        "deletionGracePeriodSeconds labels annotations ownerReferences finalizers - - managedFields"
    ),
    _META + "OwnerReference": _numbered("kind - name uid apiVersion controller blockOwnerDeletion"),
    _META + "ManagedFieldsEntry": _numbered("manager operation apiVersion time - fieldsType fieldsV1 subresource"),
    _META + "LabelSelector": _numbered("matchLabels matchExpressions"),
    _META + "LabelSelectorRequirement": _numbered("key operator values"),
    _META + "DeleteOptions": _numbered("gracePeriodSeconds preconditions orphanDependents propagationPolicy dryRun"),
    _META + "Preconditions": _numbered("uid resourceVersion"),
    _CORE + "ConfigMap": _numbered("metadata data binaryData immutable"),
    _CORE + "Secret": _numbered("metadata data type stringData immutable"),
    _CORE + "Namespace": _numbered("metadata spec status"),
    _CORE + "NamespaceSpec": _numbered("finalizers"),
    _CORE + "NamespaceStatus": _numbered("phase conditions"),
    _CORE + "ServiceAccount": _numbered("metadata secrets imagePullSecrets automountServiceAccountToken"),
    _CORE + "ObjectReference": _numbered("kind namespace name uid apiVersion resourceVersion fieldPath"),
    _CORE + "LocalObjectReference": _numbered("name"),
    _CORE + "ResourceQuota": _numbered("metadata spec status"),
    _CORE + "ResourceQuotaSpec": _numbered("hard scopes"),
    _CORE + "ResourceQuotaStatus": _numbered("hard used"),
    "io.k8s.api.scheduling.v1.PriorityClass": _numbered("metadata value globalDefault description preemptionPolicy"),
    _COORDINATION + "Lease": _numbered("metadata spec"),
    _COORDINATION + "LeaseSpec": _numbered("holderIdentity leaseDurationSeconds acquireTime renewTime leaseTransitions"),
    _RBAC + "PolicyRule": _numbered("verbs apiGroups resources resourceNames nonResourceURLs"),
    _RBAC + "AggregationRule": _numbered("clusterRoleSelectors"),
    _RBAC + "Role": _numbered("metadata rules"),
    _RBAC + "ClusterRole": _numbered("metadata rules aggregationRule"),
    _RBAC + "RoleBinding": _BINDING,
    _RBAC + "ClusterRoleBinding": _BINDING,
    _RBAC + "Subject": _numbered("kind apiGroup name namespace"),
    _RBAC + "RoleRef": _numbered("apiGroup kind name"),
    _AUTHORIZATION + "SelfSubjectAccessReview": _REVIEW,
    _AUTHORIZATION + "SubjectAccessReview": _REVIEW,
    _AUTHORIZATION + "LocalSubjectAccessReview": _REVIEW,
    _AUTHORIZATION + "SelfSubjectRulesReview": _REVIEW,
    _AUTHORIZATION + "SelfSubjectAccessReviewSpec": _numbered("resourceAttributes nonResourceAttributes"),
    _AUTHORIZATION + "SubjectAccessReviewSpec": _numbered("resourceAttributes nonResourceAttributes user groups - uid"),
    _AUTHORIZATION + "SelfSubjectRulesReviewSpec": _numbered("namespace"),
    _AUTHORIZATION + "ResourceAttributes": _numbered("namespace verb group version resource subresource name"),
    _AUTHORIZATION + "NonResourceAttributes": _numbered("path verb"),
    _AUTHENTICATION + "SelfSubjectReview": _numbered("metadata status"),
    _AUTHENTICATION + "TokenReview": _REVIEW,
    _AUTHENTICATION + "TokenReviewSpec": _numbered("token audiences"),
    _BATCH + "Job": _WITH_STATUS,
    _BATCH + "JobSpec": _numbered(
        "parallelism completions activeDeadlineSeconds selector manualSelector template backoffLimit ttlSecondsAfterFinished "
        "completionMode suspend podFailurePolicy backoffLimitPerIndex maxFailedIndexes podReplacementPolicy managedBy successPolicy"
    ),
    _BATCH + "CronJob": _WITH_STATUS,
    _BATCH + "CronJobSpec": _numbered(
        "schedule startingDeadlineSeconds concurrencyPolicy suspend jobTemplate successfulJobsHistoryLimit failedJobsHistoryLimit "
        "timeZone"
    ),
    _BATCH + "JobTemplateSpec": _numbered("metadata spec"),
    _APPS + "Deployment": _WITH_STATUS,
    _APPS + "DeploymentSpec": _numbered(
        "replicas selector template strategy minReadySeconds revisionHistoryLimit paused - progressDeadlineSeconds"
    ),
    _APPS + "DeploymentStrategy": _numbered("type rollingUpdate"),
    _APPS + "RollingUpdateDeployment": _numbered("maxUnavailable maxSurge"),
    _POLICY + "PodDisruptionBudget": _WITH_STATUS,
    _POLICY + "PodDisruptionBudgetSpec": _numbered("minAvailable selector maxUnavailable unhealthyPodEvictionPolicy"),
    _CORE + "Service": _WITH_STATUS,
    _CORE + "ServiceSpec": _numbered(
        "ports selector clusterIP type externalIPs - sessionAffinity loadBalancerIP loadBalancerSourceRanges externalName "
        "externalTrafficPolicy healthCheckNodePort publishNotReadyAddresses sessionAffinityConfig - - ipFamilyPolicy clusterIPs "
        "ipFamilies allocateLoadBalancerNodePorts loadBalancerClass internalTrafficPolicy trafficDistribution"
    ),
    _CORE + "ServicePort": _numbered("name protocol port targetPort nodePort appProtocol"),
    _CORE + "PodTemplateSpec": _numbered("metadata spec"),
    _CORE + "PodSpec": _numbered(
        "volumes containers restartPolicy terminationGracePeriodSeconds activeDeadlineSeconds dnsPolicy nodeSelector "
        "serviceAccountName serviceAccount nodeName hostNetwork hostPID hostIPC securityContext imagePullSecrets hostname "
        "subdomain affinity schedulerName initContainers automountServiceAccountToken tolerations hostAliases priorityClassName "
        "priority dnsConfig shareProcessNamespace readinessGates runtimeClassName enableServiceLinks preemptionPolicy overhead "
        "topologySpreadConstraints ephemeralContainers setHostnameAsFQDN os hostUsers schedulingGates resourceClaims resources"
    ),
    _CORE + "Container": _numbered(
        "name image command args workingDir ports env resources volumeMounts livenessProbe readinessProbe lifecycle "
        "terminationMessagePath imagePullPolicy securityContext stdin stdinOnce tty envFrom terminationMessagePolicy volumeDevices "
        "startupProbe resizePolicy restartPolicy"
    ),
    _CORE + "ContainerPort": _numbered("name hostPort containerPort protocol hostIP"),
    _CORE + "EnvVar": _numbered("name value valueFrom"),
    _CORE + "EnvVarSource": _numbered("fieldRef resourceFieldRef configMapKeyRef secretKeyRef"),
    _CORE + "ObjectFieldSelector": _numbered("apiVersion fieldPath"),
    _CORE + "ConfigMapKeySelector": _KEY_SELECTOR,
    _CORE + "SecretKeySelector": _KEY_SELECTOR,
    _CORE + "EnvFromSource": _numbered("prefix configMapRef secretRef"),
    _CORE + "ConfigMapEnvSource": _OPTIONAL_NAME,
    _CORE + "SecretEnvSource": _OPTIONAL_NAME,
    _CORE + "ResourceRequirements": _numbered("limits requests claims"),
    _CORE + "VolumeMount": _numbered("name readOnly mountPath subPath mountPropagation subPathExpr recursiveReadOnly"),
    _CORE + "Toleration": _numbered("key operator value effect tolerationSeconds"),
}
"""The fields of messages by their numbers: those that kubectl and Helm send."""

_NUMBERS = {"hostPort", "nodePort", "minReadySeconds", "healthCheckNodePort"}
_SWITCHES = {"hostNetwork", "hostPID", "hostIPC", "stdin", "stdinOnce", "tty", "paused", "readOnly", "publishNotReadyAddresses"}
UNSET_ZEROS = frozenset(_NUMBERS | _SWITCHES)
"""Fields that a typed client always writes: 0 or false means that nobody set them."""
