"""Metrics of CloudWatch, their dimensions, and the functions of metric math (not measured).

`metrics.tsv` has the metrics.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from typing import NamedTuple

from hyperpod_constructs.facts.data import rows

MATH_ARGUMENTS: Mapping[str, tuple[int, int | None]] = {
    **dict.fromkeys(("ABS", "CEIL", "DATAPOINT_COUNT", "DIFF", "DIFF_TIME", "FIRST", "FLOOR", "LAST", "LOG", "LOG10"), (1, 1)),
    **dict.fromkeys(("METRIC_COUNT", "RATE", "REMOVE_EMPTY", "RUNNING_SUM", "TIME_SERIES"), (1, 1)),
    **dict.fromkeys(("AVG", "MAX", "MIN", "STDDEV", "SUM"), (1, None)),
    **dict.fromkeys(("DATE", "DAY", "EPOCH", "HOUR", "MINUTE", "MONTH", "PERIOD", "SERVICE_QUOTA", "YEAR"), (1, 1)),
    "ANOMALY_DETECTION_BAND": (1, 2),
    "DB_PERF_INSIGHTS": (3, None),
    "FILL": (2, 2),
    "IF": (2, 3),
    "INSIGHT_RULE_METRIC": (2, 2),
    "LAMBDA": (1, None),
    "METRICS": (0, 1),
    "SEARCH": (2, 3),
    "SLICE": (2, 3),
    "SORT": (3, 4),
}
METRIC_FUNCTIONS = (*MATH_ARGUMENTS, "AND", "OR")
"""The functions of metric math, each with the least and the most arguments; `None` for any number (as of 2026-12-01).

Source: https://docs.aws.amazon.com/AmazonCloudWatch/latest/monitoring/using-metric-math.html
"""

FILL_WORDS = ("LINEAR", "REPEAT")
"""What FILL takes for missing values, beside a number and a metric (as of 2026-12-01).

Source: https://docs.aws.amazon.com/AmazonCloudWatch/latest/monitoring/using-metric-math.html
"""

CLUSTERS, CLUSTER_DIMENSION = "/aws/sagemaker/Clusters", "ClusterId"
"""The namespace of a Slurm cluster's own metrics, and their dimension: the last part of the cluster's ARN."""

# fmt: off
OTHER_NAMESPACES = frozenset((
    "AWS/AOSS", "AWS/AmazonMQ", "AWS/ApiGateway", "AWS/AppStream", "AWS/AppSync", "AWS/Athena", "AWS/AutoScaling",
    "AWS/Bedrock", "AWS/Cassandra", "AWS/CertificateManager", "AWS/Chatbot", "AWS/ClientVPN", "AWS/CloudFront", "AWS/CloudHSM",
    "AWS/CloudTrail", "AWS/CodeBuild", "AWS/CodePipeline", "AWS/Cognito", "AWS/Config", "AWS/Connect", "AWS/DAX",
    "AWS/DDoSProtection", "AWS/DMS", "AWS/DX", "AWS/DirectoryService", "AWS/DocDB", "AWS/EBS", "AWS/EC2CapacityReservations",
    "AWS/EC2Spot", "AWS/ECR", "AWS/ECS", "AWS/EKS", "AWS/ELB", "AWS/ES", "AWS/ElastiCache", "AWS/ElasticBeanstalk",
    "AWS/ElasticMapReduce", "AWS/GameLift", "AWS/GatewayELB", "AWS/IPAM", "AWS/InternetMonitor", "AWS/IoT", "AWS/KMS",
    "AWS/Kafka", "AWS/Kinesis", "AWS/KinesisAnalytics", "AWS/KinesisVideo", "AWS/Lex", "AWS/ML", "AWS/MWAA",
    "AWS/MediaConvert", "AWS/MediaLive", "AWS/MediaPackage", "AWS/MediaStore", "AWS/MemoryDB", "AWS/Neptune",
    "AWS/NetworkFirewall", "AWS/NetworkManager", "AWS/OpsWorks", "AWS/Outposts", "AWS/Polly", "AWS/PrivateLinkServices",
    "AWS/QLDB", "AWS/QuickSight", "AWS/Redshift", "AWS/Rekognition", "AWS/Route53", "AWS/Route53Resolver", "AWS/SES",
    "AWS/SecretsManager", "AWS/ServiceCatalog", "AWS/StorageGateway", "AWS/Textract", "AWS/Timestream", "AWS/Transfer",
    "AWS/TrustedAdvisor", "AWS/Usage", "AWS/VPN", "AWS/VpcLattice", "AWS/WAFV2", "AWS/WorkSpaces",
))
# fmt: on
"""Namespaces of services whose metrics are not in `metrics.tsv` (as of 2026-11-27).

Source: https://docs.aws.amazon.com/AmazonCloudWatch/latest/monitoring/aws-services-cloudwatch-metrics.html
"""


GLOBAL_NAMESPACES = frozenset(
    ("AWS/Billing", "AWS/CloudFront", "AWS/DDoSProtection", "AWS/GlobalAccelerator", "AWS/Route53", "AWS/WAFV2"),
)
"""Namespaces with metrics in one region of what is elsewhere: us-west-2 for accelerators, us-east-1 for the others
(as of 2026-12-01).

Sources: https://docs.aws.amazon.com/AmazonCloudWatch/latest/monitoring/monitor_estimated_charges_with_cloudwatch.html,
https://docs.aws.amazon.com/AmazonCloudFront/latest/DeveloperGuide/programming-cloudwatch-metrics.html,
https://docs.aws.amazon.com/waf/latest/developerguide/shield-metrics.html,
https://docs.aws.amazon.com/global-accelerator/latest/dg/cloudwatch-monitoring.html,
https://docs.aws.amazon.com/Route53/latest/DeveloperGuide/monitoring-health-checks.html and
https://docs.aws.amazon.com/waf/latest/developerguide/monitoring-cloudwatch.html
"""

MINUTE = 60
EACH_MINUTE = (
    "AWS/ApplicationELB",
    "AWS/EC2",
    "AWS/EFS",
    "AWS/FSx",
    "AWS/NetworkELB",
    "AWS/RDS",
    "AWS/SNS",
    "AWS/SQS",
    "AWS/States",
)
"""Namespaces whose metrics have no value more often than each minute: an alarm that asks each 10 seconds often finds none
(as of 2026-11-28).

Sources: https://docs.aws.amazon.com/AmazonCloudWatch/latest/APIReference/API_PutMetricAlarm.html and
https://docs.aws.amazon.com/AmazonCloudWatch/latest/monitoring/aws-services-cloudwatch-metrics.html
"""


WHOLE_FAMILIES: Mapping[str, tuple[str, ...]] = {CLUSTERS: ("cluster_",), "ContainerInsights": ("cluster_", "hyperpod_")}
"""The first parts of names of which `metrics.tsv` has all, in namespaces that may have other metrics (as of 2026-11-29).

Sources: https://docs.aws.amazon.com/sagemaker/latest/dg/smcluster-slurm-metrics.html and
https://docs.aws.amazon.com/AmazonCloudWatch/latest/monitoring/Container-Insights-metrics-enhanced-EKS.html
"""


@dataclass(frozen=True, slots=True)
class Metric:
    """A metric of a service.

    :param sets: the names of its dimensions, each with whether further ones may stand beside them; none if they are not known.
    :param least_period: the seconds between two values, if that is more than a minute.
    :param of: the types of file systems that publish it; none for all.
    """

    sets: tuple[tuple[frozenset[str], bool], ...]
    least_period: int
    of: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Namespace:
    """The metrics of a service.

    :param whole: whether it has no others.
    :param most: whether it has hardly any others.
    :param dimensions: the names that dimensions can have; none if they are not known.
    """

    whole: bool
    most: bool
    metrics: Mapping[str, Metric]
    dimensions: tuple[str, ...]


@cache
def namespaces() -> Mapping[str, Namespace]:
    """The services by their namespaces."""
    found: dict[str, Namespace] = {}
    for name, whole, metrics, sets, dimensions, least, of, _ in rows("metrics.tsv"):
        before = found.get(name, Namespace(True, True, {}, ()))
        one = Metric(tuple(map(_set, filter(None, sets.split(";")))), int(least or 0), tuple(filter(None, of.split(","))))
        names = dimensions.split(",") if dimensions else _names_of(one)
        found[name] = Namespace(
            whole=before.whole and whole == "all",
            most=before.most and whole != "some",
            metrics={**before.metrics, **dict.fromkeys(metrics.split(","), one)},
            dimensions=tuple(dict.fromkeys((*before.dimensions, *names))),
        )
    return found


def _set(text: str) -> tuple[frozenset[str], bool]:
    return frozenset(text.removesuffix("+").split(",")), text.endswith("+")


def _names_of(metric: Metric) -> list[str]:
    """The names of the dimensions of a metric that has no others."""
    return [] if any(more for _, more in metric.sets) else sorted({name for names, _ in metric.sets for name in names})


class PartName(NamedTuple):
    """A dimension that is the name of a part of a resource.

    :param beside: the dimension with the resource.
    :param type: the type of the resource.
    :param config: the property that names another resource with the parts; empty if it has them itself.
    :param places: the places of the names of its parts.
    """

    beside: str
    type: str
    config: str
    places: tuple[str, ...]


PART_NAMES: Mapping[tuple[str, str], PartName] = {
    ("AWS/S3", "FilterId"): PartName("BucketName", "AWS::S3::Bucket", "", ("MetricsConfigurations/*/Id",)),
    ("AWS/S3", "RuleId"): PartName("SourceBucket", "AWS::S3::Bucket", "", ("ReplicationConfiguration/Rules/*/Id",)),
    **{
        (namespace, "VariantName"): PartName(
            "EndpointName",
            "AWS::SageMaker::Endpoint",
            "EndpointConfigName",
            ("ProductionVariants/*/VariantName", "ShadowProductionVariants/*/VariantName"),
        )
        for namespace in ("/aws/sagemaker/Endpoints", "AWS/SageMaker")
    },
}
"""By namespace and dimension.

Sources: https://docs.aws.amazon.com/AmazonS3/latest/userguide/metrics-dimensions.html and
https://docs.aws.amazon.com/sagemaker/latest/dg/monitoring-cloudwatch.html
"""

DIMENSION_VALUES: Mapping[str, Mapping[str, tuple[str, ...]]] = {
    "AutoScalingGroupName": {"AWS::AutoScaling::AutoScalingGroup": ("Ref",)},
    "BackupVaultName": {"AWS::Backup::BackupVault": ("Ref", "BackupVaultName")},
    "BucketName": {"AWS::S3::Bucket": ("Ref",)},
    "CacheClusterId": {"AWS::ElastiCache::CacheCluster": ("Ref",)},
    "CertificateArn": {"AWS::CertificateManager::Certificate": ("Ref",)},
    "CanaryName": {"AWS::Synthetics::Canary": ("Ref",)},
    "ClusterId": {"AWS::DAX::Cluster": ("Ref",), "AWS::SageMaker::Cluster": ()},
    "ClusterName": {"AWS::EKS::Cluster": ("Ref",), "AWS::ECS::Cluster": ("Ref",)},
    "DBClusterIdentifier": {
        "AWS::DocDB::DBCluster": ("Ref",),
        "AWS::Neptune::DBCluster": ("Ref",),
        "AWS::RDS::DBCluster": ("Ref", "DBClusterIdentifier"),
    },
    "DBInstanceIdentifier": {
        "AWS::DocDB::DBInstance": ("Ref",),
        "AWS::Neptune::DBInstance": ("Ref",),
        "AWS::RDS::DBInstance": ("Ref", "DBInstanceIdentifier"),
    },
    "DeliveryStreamName": {"AWS::KinesisFirehose::DeliveryStream": ("Ref",)},
    "EndpointName": {"AWS::SageMaker::Endpoint": ("EndpointName",)},
    "EventBusName": {"AWS::Events::EventBus": ("Ref", "Name")},
    "FileSystemId": {"AWS::EFS::FileSystem": ("Ref", "FileSystemId"), "AWS::FSx::FileSystem": ("Ref", "FileSystemId")},
    "FirewallName": {"AWS::NetworkFirewall::Firewall": ()},
    "FunctionName": {"AWS::Lambda::Function": ("Ref",)},
    "InferenceComponentName": {"AWS::SageMaker::InferenceComponent": ()},
    "HealthCheckId": {"AWS::Route53::HealthCheck": ("Ref", "HealthCheckId")},
    "InstanceId": {"AWS::EC2::Instance": ("Ref", "InstanceId")},
    "KeyId": {"AWS::KMS::Key": ("Ref", "KeyId")},
    "LoadBalancer": {"AWS::ElasticLoadBalancingV2::LoadBalancer": ("LoadBalancerFullName",)},
    "LogGroupName": {"AWS::Logs::LogGroup": ("Ref",)},
    "NatGatewayId": {"AWS::EC2::NatGateway": ("Ref", "NatGatewayId")},
    "ProjectName": {"AWS::CodeBuild::Project": ("Ref",)},
    "QueueName": {"AWS::SQS::Queue": ("QueueName",)},
    "RepositoryName": {"AWS::ECR::Repository": ("Ref",)},
    "RuleName": {"AWS::Events::Rule": ("Ref",)},
    "ScheduleGroup": {"AWS::Scheduler::ScheduleGroup": ("Ref",)},
    "StateMachineArn": {
        "AWS::StepFunctions::StateMachine": ("Ref", "Arn"),
        "AWS::StepFunctions::StateMachineAlias": ("Ref", "Arn"),
        "AWS::StepFunctions::StateMachineVersion": ("Ref", "Arn"),
    },
    "StreamName": {"AWS::Kinesis::Stream": ("Ref",)},
    "TableName": {"AWS::DynamoDB::GlobalTable": ("Ref",), "AWS::DynamoDB::Table": ("Ref",)},
    "TargetGroup": {"AWS::ElasticLoadBalancingV2::TargetGroup": ("TargetGroupFullName",)},
    "TopicName": {"AWS::SNS::Topic": ("TopicName",)},
    "TransitGateway": {"AWS::EC2::TransitGateway": ("Ref", "Id")},
    "VolumeId": {"AWS::EC2::Volume": ("Ref", "VolumeId"), "AWS::FSx::Volume": ("VolumeId",)},
}
"""The types that a dimension of the services names, and the references that give its value; others give another value.

The id of a HyperPod cluster is the last part of its ARN, which no reference gives by itself.

Sources: https://docs.aws.amazon.com/AmazonCloudWatch/latest/monitoring/aws-services-cloudwatch-metrics.html and
https://docs.aws.amazon.com/AWSCloudFormation/latest/TemplateReference/aws-template-resource-type-ref.html
"""

_TIERS = ("FAStorage", "IAStorage", "AAStorage", "AIAStorage", "DAAStorage")
_CLASSES = (
    *("StandardStorage", "StandardIAStorage", "StandardIASizeOverhead", "StandardIAObjectOverhead", "OneZoneIAStorage"),
    *("OneZoneIASizeOverhead", "ReducedRedundancyStorage", "GlacierInstantRetrievalStorage", "GlacierStorage"),
    *("GlacierStagingStorage", "GlacierObjectOverhead", "GlacierS3ObjectOverhead", "DeepArchiveStorage"),
    *("DeepArchiveObjectOverhead", "DeepArchiveS3ObjectOverhead", "DeepArchiveStagingStorage"),
    *(f"IntelligentTiering{one}" for one in _TIERS),
)
VALUES: Mapping[tuple[str, str], Mapping[str, tuple[str, ...]]] = {
    ("AWS/S3", "StorageType"): {"BucketSizeBytes": _CLASSES, "NumberOfObjects": ("AllStorageTypes",)},
    ("AWS/EFS", "StorageClass"): {"StorageBytes": ("Total", "Standard", "IA", "Archive")},
}
"""By namespace and dimension: its values for each metric, which may have more (as of 2026-11-29).

Sources: https://docs.aws.amazon.com/AmazonS3/latest/userguide/metrics-dimensions.html and
https://docs.aws.amazon.com/efs/latest/ug/efs-metrics.html
"""

ID_STARTS: Mapping[str, str] = {
    "FileSystemId": "fs-",
    "NatGatewayId": "nat-",
    "TransitGateway": "tgw-",
}
"""How ids in dimensions begin.

Source: https://docs.aws.amazon.com/AWSEC2/latest/UserGuide/resource-ids.html
"""

KINDS: Mapping[tuple[str, str], str] = {
    ("AWS/DAX", "ClusterId"): "AWS::DAX::Cluster",
    ("AWS/DocDB", "DBClusterIdentifier"): "AWS::DocDB::DBCluster",
    ("AWS/DocDB", "DBInstanceIdentifier"): "AWS::DocDB::DBInstance",
    ("AWS/EBS", "VolumeId"): "AWS::EC2::Volume",
    ("AWS/ECS", "ClusterName"): "AWS::ECS::Cluster",
    ("AWS/EFS", "FileSystemId"): "AWS::EFS::FileSystem",
    ("AWS/EKS", "ClusterName"): "AWS::EKS::Cluster",
    ("AWS/FSx", "FileSystemId"): "AWS::FSx::FileSystem",
    ("AWS/FSx", "VolumeId"): "AWS::FSx::Volume",
    ("AWS/Neptune", "DBClusterIdentifier"): "AWS::Neptune::DBCluster",
    ("AWS/Neptune", "DBInstanceIdentifier"): "AWS::Neptune::DBInstance",
    ("AWS/RDS", "DBClusterIdentifier"): "AWS::RDS::DBCluster",
    ("AWS/RDS", "DBInstanceIdentifier"): "AWS::RDS::DBInstance",
    ("ContainerInsights", "ClusterName"): "AWS::EKS::Cluster",
    ("ECS/ContainerInsights", "ClusterName"): "AWS::ECS::Cluster",
    (CLUSTERS, CLUSTER_DIMENSION): "AWS::SageMaker::Cluster",
}
"""By namespace and dimension: the type that it names, where the dimension names several in others (as of 2026-12-01).

Sources: https://docs.aws.amazon.com/AmazonCloudWatch/latest/monitoring/aws-services-cloudwatch-metrics.html,
https://docs.aws.amazon.com/AmazonCloudWatch/latest/monitoring/Container-Insights-metrics-EKS.html and
https://docs.aws.amazon.com/AmazonCloudWatch/latest/monitoring/Container-Insights-metrics-ECS.html
"""
