"""One test a private name of ministack: when a new version moves it, this says which and where it is used."""

from __future__ import annotations

import importlib
import importlib.metadata
import inspect
from typing import Any

import pytest

from hyperpod_constructs.facts import eks
from hyperpod_constructs.local import ministack_functions
from hyperpod_constructs.local.aws_service import AwsError
from hyperpod_constructs.local.eks import access_entries

CLOUDFORMATION = "ministack.services.cloudformation"
EKS = "ministack.services.eks"
CLOUDWATCH, LOGS = "ministack.services.cloudwatch", "ministack.services.cloudwatch_logs"


def look_up(module: str, name: str) -> Any:
    return getattr(importlib.import_module(module), name)


def test_version() -> None:
    assert importlib.metadata.version("ministack") == "1.5.33"


@pytest.mark.parametrize(
    ("module", "name", "parameters"),
    [
        ("ministack.app", "app", ["scope", "receive", "send"]),
        ("ministack.app", "_reset_all_state", []),
        (
            "ministack.app",
            "_dispatch_service_request",
            ["method", "path", "headers", "body", "query_params", "request_id"],
        ),
        ("ministack.app", "_routing_params", ["method", "path", "headers", "body", "query_params"]),
        ("ministack.app", "_handle_pre_body_request", ["method", "path", "headers", "query_params", "request_id"]),
        ("ministack.app", "_handle_post_body_shortcuts", ["method", "path", "headers", "body", "query_params", "request_id"]),
        (
            "ministack.app",
            "_handle_special_data_plane_request",
            [
                *("method", "path", "headers", "body", "query_params", "request_id"),
                *("raw_path", "raw_query_string", "client_ip"),
            ],
        ),
        ("ministack.core.concurrency", "run_reentrant", ["fn", "args", "thread_name"]),
        (
            "ministack.core.iam_actions",
            "extract_iam_action",
            ["service", "method", "path", "headers", "body", "query_params"],
        ),
        (
            "ministack.core.iam_actions",
            "extract_resource_arn",
            ["service", "method", "path", "headers", "body", "query_params", "region", "account_id"],
        ),
        ("ministack.core.lambda_runtime", "reset", []),
        ("ministack.core.responses", "get_account_id", []),
        ("ministack.core.responses", "get_region", []),
        (f"{CLOUDFORMATION}.handlers", "_capabilities_enforced", []),
        (f"{CLOUDFORMATION}.helpers", "_p", None),
        (f"{CLOUDFORMATION}.helpers", "_error", None),
        (f"{CLOUDFORMATION}.helpers", "_resolve_template", ["params"]),
        (f"{CLOUDFORMATION}.stacks", "_runs_on_worker_thread", ["resource_type"]),
        (f"{CLOUDFORMATION}.stacks", "now_iso", []),
        (f"{CLOUDFORMATION}.engine", "_evaluate_conditions", ["template", "params"]),
        (
            f"{CLOUDFORMATION}.engine",
            "_resolve_refs",
            ["value", "resources", "params", "conditions", "mappings", "stack_name", "stack_id"],
        ),
        (
            f"{CLOUDFORMATION}.changesets",
            "_diff_resources",
            ["old_template", "new_template", "resources", "template", "changed_params", "retag"],
        ),
        (f"{CLOUDFORMATION}.changesets", "_resolve_props_for_diff", ["template", "params", "stack_name", "stack_id"]),
        (f"{CLOUDFORMATION}.custom_resource", "register_token", ["token"]),
        (f"{CLOUDFORMATION}.custom_resource", "deliver_response", ["token", "response"]),
        ("ministack.services.lambda_svc", "_execute_function_with_config_scope", ["func", "event"]),
        ("ministack.services.scheduler", "_create_schedule", ["name", "body"]),
        ("ministack.services.iam", "_lookup_policy", ["arn"]),
        ("ministack.services.iam", "_make_aws_managed_record", ["name", "document", "description"]),
        ("ministack.services.iam", "policy_known", ["arn", "account_id"]),
        ("ministack.services.iam", "_error", None),
        ("ministack.services.iam", "_trust_policy_not_principal_error", ["doc"]),
        ("ministack.services.iam", "store_policy", ["arn", "name", "path", "document", "description", "tags"]),
        ("ministack.core.iam_evaluator", "validate_policy_document", ["doc"]),
        ("ministack.services.s3", "_resolve_sse_write_headers", ["headers", "bucket_name"]),
        ("ministack.services.s3", "_verify_presigned_sigv4", None),
        (f"{CLOUDFORMATION}.engine", "_topological_sort", ["resources", "conditions"]),
        (f"{CLOUDFORMATION}.engine", "_extract_deps", ["resource_def", "all_resource_names"]),
        (f"{CLOUDFORMATION}.stacks", "_provision_keeping_seed", ["args"]),
        (f"{CLOUDFORMATION}.stacks", "_deploy_stack_async", None),
        (f"{CLOUDFORMATION}.stacks", "_fail_property_validation", None),
        (
            f"{CLOUDFORMATION}.stacks",
            "_add_event",
            ["stack_id", "stack_name", "logical_id", "resource_type", "status", "reason", "physical_id", "detailed_status"],
        ),
        (
            f"{CLOUDFORMATION}.stacks",
            "_with_stack_tags",
            ["resource_type", "props", "stack_tags", "stack_name", "stack_id", "logical_id"],
        ),
        (
            f"{CLOUDFORMATION}.stacks",
            "_validation_errors",
            [
                "resources_defs",
                "ordered",
                "param_values",
                "conditions",
                "mappings",
                "stack_name",
                "stack_id",
                "owned_buckets",
            ],
        ),
        (f"{CLOUDFORMATION}.stacks", "_resolve_dynamic_references", None),
        ("ministack.services.sts", "register_session", ["access_key", "session"]),
        ("ministack.app", "_credential_failure", ["service", "iam_action", "request_id", "denied", "headers"]),
        ("ministack.core.iam_evaluator", "is_root_access_key", ["access_key_id"]),
        ("ministack.core.iam_evaluator", "find_iam_access_key_account", ["access_key_id"]),
        ("ministack.core.iam_evaluator", "resolve_credential", ["access_key_id", "account_id", "session_token"]),
        ("ministack.core.iam_evaluator", "AuthError", ["code", "message", "details"]),
        ("ministack.core.iam_evaluator", "CredentialResolutionError", ["code", "message"]),
        ("ministack.core.iam_evaluator", "AmbiguousAccessKeyError", None),
        ("ministack.core.lambda_runtime", "execution_credentials", None),
        ("ministack.services.lambda_svc", "execution_credentials", None),
        ("ministack.core.lambda_runtime", "_account_region_from_function_config", ["config"]),
        ("ministack.core.responses", "_account_from_sts_session", ["access_key_id"]),
        ("ministack.core.router", "detect_service", ["method", "path", "headers", "query_params"]),
        ("ministack.core.router", "extract_access_key_id", ["headers", "query_params"]),
        (f"{CLOUDFORMATION}.wait_conditions", "has_handle", ["token"]),
        ("ministack.core.router", "extract_region", ["headers", "query_params"]),
        ("ministack.core.iam_evaluator", "resolve_caller_identity", None),
        (
            "ministack.core.iam_evaluator",
            "enforce",
            ["access_key_id", "iam_action", "service", "region", "resource_arn", "service_context"],
        ),
        ("ministack.core.iam_evaluator", "_first_match", ["ctx", "stmts", "effect"]),
        ("ministack.core.iam_evaluator", "_resolve_condition_key", ["key", "ctx"]),
        (
            "ministack.core.iam_evaluator",
            "ParsedStatement",
            ["sid", "effect", "actions", "not_actions", "resources", "not_resources", "conditions"],
        ),
        ("ministack.core.iam_actions", "identity_denial_message", ["action", "principal_arn", "resource", "explicit_deny"]),
        (
            "ministack.core.iam_actions",
            "access_denied_response",
            [
                *("service", "action", "principal_arn", "request_id", "error_code", "message"),
                *("headers", "resource_arn", "explicit_deny", "resource_policy_arn"),
            ],
        ),
        (CLOUDWATCH, "_evaluate_alarm", ["alarm"]),
        (CLOUDWATCH, "_evaluate_all_alarms", []),
        (CLOUDWATCH, "_dims_key", ["dims"]),
        (CLOUDWATCH, "_dims_from_list", ["dimensions"]),
        (CLOUDWATCH, "_calc_stats", ["points"]),
        (CLOUDWATCH, "_stat_value", ["stats", "stat_name", "points"]),
        (CLOUDWATCH, "_set_alarm_state", ["params", "cbor_data", "is_cbor", "is_json"]),
        (CLOUDWATCH, "_dispatch_alarm_actions", ["alarm", "old_state", "new_state", "reason"]),
        (CLOUDWATCH, "record_metric", ["namespace", "metric_name", "value", "unit", "dimensions"]),
        (LOGS, "_fanout_to_subscription_filters", ["group_name", "stream_name", "events"]),
        (LOGS, "_subscription_pattern_matches", ["pattern", "message"]),
        (LOGS, "_compile_filter_pattern", ["raw"]),
        ("ministack.services.eventbridge", "_put_events", ["data", "allow_aws_source"]),
        ("ministack.services.eventbridge", "_invoke_target", ["target", "event", "rule", "view"]),
        ("ministack.core.responses", "request_scope", ["account_id", "region"]),
        (EKS, "_get_docker", []),
        (EKS, "_verify_eks_token", ["token", "cluster_name"]),
        (EKS, "_authenticate_token_review", ["cluster_name", "account_id", "region", "review", "auth_token"]),
        (EKS, "_token_review_response", None),
        (EKS, "_ae_key", ["cluster_name", "principal_arn"]),
        (EKS, "_ap_key", ["cluster_name", "principal_arn", "policy_arn"]),
        (EKS, "_reconcile_access_policy_rbac", ["cluster_name", "account_id", "region"]),
        (EKS, "_schedule_access_policy_reconcile", ["cluster_name", "account_id", "region"]),
        (EKS, "_stop_access_policy_reconciler", ["cluster_name", "account_id", "region"]),
        (EKS, "_binding_key", ["obj"]),
        (EKS, "_role_arn_from_assumed_role", ["arn"]),
        (EKS, "_account_from_sts_session", ["access_key_id"]),
    ],
)
def test_function(module: str, name: str, parameters: list[str] | None) -> None:
    function = look_up(module, name)
    assert callable(function)
    if parameters is not None:
        assert list(inspect.signature(function).parameters) == parameters


@pytest.mark.parametrize(
    ("module", "name", "key"),
    [
        ("ministack.app", "SERVICE_HANDLERS", "cloudformation"),
        ("ministack.core.router", "SERVICE_PATTERNS", "ec2"),
        ("ministack.core.iam_actions", "SERVICE_TO_IAM_NAMESPACE", "ec2"),
        (f"{CLOUDFORMATION}.provisioners", "_RESOURCE_HANDLERS", "AWS::S3::Bucket"),
        (f"{CLOUDFORMATION}.provisioners", "_RESOURCE_HANDLERS", "AWS::Lambda::Function"),
        (f"{CLOUDFORMATION}.provisioners", "_RESOURCE_HANDLERS", "AWS::SNS::Topic"),
        (f"{CLOUDFORMATION}.provisioners", "_RESOURCE_HANDLERS", "AWS::CloudWatch::Dashboard"),
        (f"{CLOUDFORMATION}.provisioners", "_REPLACING_PROPERTIES", "AWS::IAM::Role"),
        (f"{CLOUDFORMATION}.provisioners", "_CONDITIONALLY_REPLACING_PROPERTIES", None),
        (f"{CLOUDFORMATION}.provisioners", "_STACK_TAG_PROPERTY", "AWS::EC2::VPC"),
        ("ministack.services.iam", "_aws_managed_policies", "arn:aws:iam::aws:policy/AdministratorAccess"),
        (f"{CLOUDFORMATION}.custom_resource", "_pending", None),
        ("ministack.services.sts", "_sessions", None),
    ],
)
def test_table(module: str, name: str, key: str | None) -> None:
    table = look_up(module, name)
    assert isinstance(table, dict)
    assert key is None or key in table


def test_the_lambda_client_of_node_takes_any_answer() -> None:
    assert look_up("ministack.core.lambda_runtime", "_NODEJS_WORKER_SCRIPT").count(ministack_functions.ANSWER) == 1


def test_functions_by_name_with_their_configuration() -> None:
    functions = look_up("ministack.services.lambda_svc", "_functions")
    assert {"__getitem__", "__setitem__"} <= set(dir(functions))


def test_access_keys() -> None:
    keys = look_up("ministack.services.iam", "_access_keys")
    assert hasattr(keys, "pop")
    assert hasattr(keys, "__setitem__")


def test_stacks_by_name_and_by_id() -> None:
    stacks = look_up(CLOUDFORMATION, "_stacks")
    assert hasattr(stacks, "get")
    assert hasattr(stacks, "__setitem__")


def test_update_marker() -> None:
    assert look_up(f"{CLOUDFORMATION}.provisioners", "_DEFERRED_PREDECESSOR_DELETES").get() is None


@pytest.mark.parametrize("module", ["engine", "stacks", "handlers", "changesets"])
def test_conditions_are_evaluated_by_one_function(module: str) -> None:
    own = look_up(f"{CLOUDFORMATION}.{module}", "_evaluate_conditions")
    assert own.__name__ in ("_evaluate_conditions", "evaluate")


def test_handlers_have_the_shape_that_the_audit_wraps() -> None:
    table = look_up(f"{CLOUDFORMATION}.provisioners", "_RESOURCE_HANDLERS")
    for type_name in ("AWS::Lambda::Function", "AWS::SNS::Topic", "AWS::Logs::LogGroup"):
        handler = table[type_name]
        assert list(inspect.signature(handler["create"]).parameters)[:3] == ["logical_id", "props", "stack_name"]
        assert list(inspect.signature(handler["update"]).parameters)[:4] == ["physical_id", "old_props", "new_props", "stack_name"]
        assert list(inspect.signature(handler["delete"]).parameters)[:2] == ["physical_id", "props"]


def test_tags_are_declared_as_property_and_shape() -> None:
    assert look_up(f"{CLOUDFORMATION}.provisioners", "_STACK_TAG_PROPERTY")["AWS::EC2::VPC"] == ("Tags", "list")


def test_paths_whose_last_part_is_a_secret() -> None:
    assert look_up(f"{CLOUDFORMATION}.wait_conditions", "SIGNAL_PATH") == "/_ministack/cfn-signal/"
    url = look_up(f"{CLOUDFORMATION}.custom_resource", "_response_url")("token")
    assert url.endswith("/_ministack/cfn-response/token")


@pytest.mark.parametrize("name", ["_clusters", "_access_entries", "_access_policies"])
def test_records_of_eks_by_account_and_region(name: str) -> None:
    store = type(look_up(EKS, name))()
    store.set_scoped("1", "us-west-2", "key", {"a": 1})
    assert store.get_scoped("1", "us-west-2", "key") == {"a": 1}
    assert list(store.all_items()) == [(("1", "us-west-2", "key"), {"a": 1})]
    store.pop_scoped("1", "us-west-2", "key", None)
    assert list(store.all_items()) == []


@pytest.mark.parametrize(
    ("module", "name"),
    [
        (CLOUDWATCH, "_metrics"),
        (CLOUDWATCH, "_alarms"),
        (LOGS, "_metric_filters"),
        (LOGS, "_log_groups"),
        (CLOUDWATCH, "_dashboards"),
    ],
)
def test_records_of_monitoring_by_account_and_region(module: str, name: str) -> None:
    store = type(look_up(module, name))()
    store["key"] = {"a": 1}
    assert store.get("key") == {"a": 1}
    assert list(store.items()) == [("key", {"a": 1})]
    ((key, _),) = store.all_items()
    assert len(key[0]) == 12
    assert len(key) == 3


@pytest.mark.parametrize(("module", "name"), [("ministack.services.sns", "_topics"), (CLOUDWATCH, "_resource_tags")])
def test_records_of_monitoring_by_arn(module: str, name: str) -> None:
    assert {"__getitem__", "__setitem__"} <= set(dir(look_up(module, name)))


def test_keys_of_entries_and_policies_begin_with_the_cluster() -> None:
    assert look_up(EKS, "_ae_key")("demo", "one").startswith("demo\x00one")
    assert look_up(EKS, "_ap_key")("demo", "one", "view").startswith("demo\x00one\x00")


def test_groups_of_policies_begin_with_a_name_that_no_entry_may_give() -> None:
    group = look_up(EKS, "_access_policy_group")("demo", "one", "view")
    with pytest.raises(AwsError, match="cannot start with"):
        access_entries._check_names(eks.STANDARD, {"kubernetesGroups": [group]})


def test_bindings_of_policies_have_a_label() -> None:
    assert isinstance(look_up(EKS, "_ACCESS_POLICY_BINDING_LABEL"), str)


def test_the_switch_of_policy_evaluation() -> None:
    assert isinstance(look_up("ministack.app", "AUTH"), bool)


def test_layers_are_extracted_by_the_zipfile_of_the_module() -> None:
    worker = inspect.getsource(look_up("ministack.core.lambda_runtime", "Worker"))
    assert "zipfile.ZipFile(lzip) as lzf" in worker
    assert "lzf.extractall(layer_dir)" in worker
