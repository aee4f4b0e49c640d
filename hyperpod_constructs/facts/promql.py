"""PromQL and scrape configurations: functions, operators, keys and actions (as of 2026-11-27; read, not measured).

Sources: https://prometheus.io/docs/prometheus/latest/querying/functions/,
https://prometheus.io/docs/prometheus/latest/querying/operators/,
https://prometheus.io/docs/prometheus/latest/configuration/configuration/ and
https://prometheus.io/docs/alerting/latest/configuration/
"""

from __future__ import annotations

from collections.abc import Mapping

RANGE_FUNCTIONS = frozenset(
    (
        *("changes", "delta", "deriv", "double_exponential_smoothing", "holt_winters", "idelta", "increase", "irate"),
        *("predict_linear", "rate", "resets"),
        *(f"{name}_over_time" for name in ("absent", "avg", "count", "first", "last", "mad", "max", "min", "present", "quantile")),
        *(f"{name}_over_time" for name in ("stddev", "stdvar", "sum", "ts_of_first", "ts_of_last", "ts_of_max", "ts_of_min")),
    )
)
"""Functions of values over a time."""

FUNCTIONS = frozenset(
    (
        *("abs", "absent", "acos", "acosh", "asin", "asinh", "atan", "atanh", "ceil", "clamp", "clamp_max", "clamp_min", "cos"),
        *("cosh", "day_of_month", "day_of_week", "day_of_year", "days_in_month", "deg", "exp", "floor", "histogram_avg"),
        *("histogram_count", "histogram_fraction", "histogram_quantile", "histogram_stddev", "histogram_stdvar"),
        *("histogram_sum", "hour", "info", "label_join", "label_replace", "ln", "log10", "log2", "minute", "month", "pi", "rad"),
        *("round", "scalar", "sgn", "sin", "sinh", "sort", "sort_by_label", "sort_by_label_desc", "sort_desc", "sqrt", "tan"),
        *("tanh", "time", "timestamp", "vector", "year"),
    )
)

AGGREGATIONS = frozenset(
    (
        *("avg", "bottomk", "count", "count_values", "group", "limit_ratio", "limitk", "max", "min", "quantile", "stddev"),
        *("stdvar", "sum", "topk"),
    )
)

WORDS = frozenset(
    (
        *("and", "atan2", "bool", "by", "end", "group_left", "group_right", "ignoring", "offset", "on", "or", "start"),
        *("unless", "without"),
    )
)

TEMPLATE_VARIABLES = ("labels", "value", "externalLabels", "externalURL")
"""The variables that texts of alerts have."""

SNS_KEYS = (
    *("topic_arn", "target_arn", "phone_number", "sigv4", "subject", "message", "attributes", "send_resolved", "api_url"),
    "http_config",
)
SIGV4_KEYS = ("region", "access_key", "secret_key", "profile", "role_arn")
INHIBITION_KEYS = (
    *("name", "source_match", "source_match_re", "source_matchers", "target_match", "target_match_re", "target_matchers"),
    *("equal", "sources"),
)

JOB_KEYS = (
    *("job_name", "scrape_interval", "scrape_timeout", "scrape_protocols", "metrics_path", "honor_labels", "honor_timestamps"),
    *("track_timestamps_staleness", "scheme", "params", "basic_auth", "authorization", "oauth2", "tls_config", "sigv4"),
    *("follow_redirects", "enable_http2", "enable_compression", "http_headers", "proxy_url", "no_proxy", "static_configs"),
    *("proxy_from_environment", "proxy_connect_header", "relabel_configs", "metric_relabel_configs", "bearer_token"),
    *("bearer_token_file", "body_size_limit", "sample_limit", "label_limit", "label_name_length_limit", "target_limit"),
    *("label_value_length_limit", "keep_dropped_targets", "native_histogram_bucket_limit", "fallback_scrape_protocol"),
    *("native_histogram_min_bucket_factor", "always_scrape_classic_histograms", "scrape_classic_histograms"),
    *("convert_classic_histograms_to_nhcb", "metric_name_validation_scheme", "metric_name_escaping_scheme"),
    "scrape_native_histograms",
)
DISCOVERY = "_sd_configs"
"""The end of the keys of service discovery."""
CONFIGURATION_KEYS = (
    *("global", "scrape_configs", "scrape_config_files", "rule_files", "alerting", "remote_write", "remote_read", "storage"),
    *("tracing", "runtime", "otlp"),
)
GLOBAL_KEYS = (
    *("scrape_interval", "scrape_timeout", "scrape_protocols", "evaluation_interval", "rule_query_offset", "external_labels"),
    *("query_log_file", "scrape_failure_log_file", "body_size_limit", "sample_limit", "label_limit", "target_limit"),
    *("label_name_length_limit", "label_value_length_limit", "keep_dropped_targets", "metric_name_validation_scheme"),
    *("metric_name_escaping_scheme", "convert_classic_histograms_to_nhcb", "always_scrape_classic_histograms"),
    "scrape_native_histograms",
)
KUBERNETES_ROLES = ("endpoints", "endpointslice", "ingress", "node", "pod", "service")
RELABEL_ACTIONS = (
    *("replace", "lowercase", "uppercase", "keep", "drop", "keepequal", "dropequal", "hashmod", "labelmap", "labeldrop"),
    "labelkeep",
)
RELABEL_KEYS = ("source_labels", "separator", "target_label", "regex", "modulus", "replacement", "action")
DEFAULT_INTERVAL, DEFAULT_TIMEOUT = "1m", "10s"

GPU_METRICS = tuple(
    f"DCGM_FI_{name}"
    for name in (
        *("DEV_SM_CLOCK", "DEV_MEM_CLOCK", "DEV_MEMORY_TEMP", "DEV_GPU_TEMP", "DEV_POWER_USAGE", "DEV_PCIE_REPLAY_COUNTER"),
        *("DEV_TOTAL_ENERGY_CONSUMPTION", "DEV_GPU_UTIL", "DEV_MEM_COPY_UTIL", "DEV_ENC_UTIL", "DEV_DEC_UTIL"),
        *("DEV_XID_ERRORS", "DEV_POWER_VIOLATION", "DEV_THERMAL_VIOLATION", "DEV_SYNC_BOOST_VIOLATION"),
        *("DEV_BOARD_LIMIT_VIOLATION", "DEV_LOW_UTIL_VIOLATION", "DEV_RELIABILITY_VIOLATION", "DEV_FB_FREE", "DEV_FB_USED"),
        *("DEV_FB_TOTAL", "DEV_ECC_SBE_VOL_TOTAL", "DEV_ECC_DBE_VOL_TOTAL", "DEV_ECC_SBE_AGG_TOTAL", "DEV_ECC_DBE_AGG_TOTAL"),
        *("DEV_RETIRED_SBE", "DEV_RETIRED_DBE", "DEV_RETIRED_PENDING", "DEV_UNCORRECTABLE_REMAPPED_ROWS"),
        *("DEV_CORRECTABLE_REMAPPED_ROWS", "DEV_ROW_REMAP_FAILURE", "DEV_NVLINK_BANDWIDTH_TOTAL", "DEV_NVLINK_BANDWIDTH_L0"),
        *("DEV_VGPU_LICENSE_STATUS", "DRIVER_VERSION", "PROF_GR_ENGINE_ACTIVE", "PROF_SM_ACTIVE", "PROF_SM_OCCUPANCY"),
        *("PROF_PIPE_TENSOR_ACTIVE", "PROF_DRAM_ACTIVE", "PROF_PIPE_FP64_ACTIVE", "PROF_PIPE_FP32_ACTIVE"),
        *("PROF_PIPE_FP16_ACTIVE", "PROF_PCIE_TX_BYTES", "PROF_PCIE_RX_BYTES", "PROF_NVLINK_TX_BYTES", "PROF_NVLINK_RX_BYTES"),
    )
)
"""Metrics of NVIDIA's exporter, some of many.

Source: https://docs.nvidia.com/datacenter/dcgm/latest/dcgm-api/dcgm-api-field-ids.html
"""

MOST: Mapping[str, float] = {
    "up": 1,
    **{name: 100 for name in GPU_METRICS if name.endswith("_UTIL")},
    **{name: 1 for name in GPU_METRICS if "_PROF_" in name and name.endswith(("_ACTIVE", "_OCCUPANCY"))},
}
"""The highest value of metrics: percentages, parts of one, and whether a target answers.

Sources: https://docs.nvidia.com/datacenter/dcgm/latest/dcgm-api/dcgm-api-field-ids.html and
https://prometheus.io/docs/concepts/jobs_instances/ (as of 2026-11-28)
"""

KUBERNETES_LEVELS = frozenset(
    (
        *("apiserver", "apiserver_request", "cluster", "cluster_quantile", "cluster_verb_scope", "code", "code_resource"),
        *("code_verb", "container", "count", "instance", "instance_device", "instance_path", "job", "namespace"),
        *("namespace_cpu", "namespace_memory", "namespace_workload_pod", "node", "node_namespace_pod"),
        *("node_namespace_pod_container", "node_quantile", "pod", "verb", "workload"),
    )
)
"""How series begin that the rules of monitoring for Kubernetes record (as of 2026-12-01).

Source: https://github.com/kubernetes-monitoring/kubernetes-mixin/tree/master/rules
"""
