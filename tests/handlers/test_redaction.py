"""Redaction: masked texts, unchanged texts, and a single pass over each text."""

from __future__ import annotations

import re
import string
from collections.abc import Iterator
from typing import Any

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from hyperpod_constructs.custom_resources.handlers.redaction import MASK, REACH, assignments, forms, one_line, redact
from hyperpod_constructs.custom_resources.handlers.redaction.assignments import PLAIN, Scan
from hyperpod_constructs.custom_resources.handlers.redaction.forms import FORMS

UNTIMED = settings(deadline=None, derandomize=True, suppress_health_check=[HealthCheck.too_slow])
HUNTER = "hunter2"
PEM = "MIIEvQIBADANBgkqhkiG9w0BAQEFAASCBKcwggSjAgEAAoIBAQC7VJTUt9Us8cKj"
SESSION = "IQoJb3JpZ2luX2VjEPT4sAc7" * 6

SECRETS = [
    "MYSQL_PWD=hunter2",
    "export PGPASSWORD='hunter2'",
    "REDISCLI_AUTH=hunter2",
    "DB_PASSWORD=hunter2",
    "StoragePass=hunter2",
    "storagepass = hunter2",
    "password: hunter2",
    "password: hunter2 and more hunter2",
    "pass=hunter2",
    "dbpassword=hunter2",
    "user[password]=hunter2",
    "passwd : hunter2",
    "password => 'hunter2'",
    "password := hunter2",
    "password%3Dhunter2",
    "password=hun\\ hunter2",
    "invalid password 'hunter2'",
    '"secretKey": "hunter2"',
    '{"user":"bob","password":"two words, hunter2","n":1}',
    '{"user":"bob","password":"it\\"s hunter2"}',
    '{"SecretString":"{\\"user\\":\\"bob\\",\\"password\\":\\"hunter2\\"}"}',
    "{'token': 'hunter2'}",
    "--password hunter2",
    "--db-password=hunter2",
    "-api-key hunter2",
    "--token 'two words hunter2'",
    "'--password=two words hunter2'",
    "client_secret=hunter2",
    "AccessKeyId=hunter2",
    "Secret access key: hunter2",
    "API key: hunter2",
    "auth=hunter2",
    "token: hunter2",
    "credentials=hunter2",
    "CREATE USER a IDENTIFIED BY 'hunter2'",
    "ALTER USER a IDENTIFIED WITH mysql_native_password BY \"it''s hunter2\"",
    "IDENTIFIED BY PASSWORD '*hunter2'",
    "SELECT PASSWORD('hunter2')",
    "SET PASSWORD FOR a = 'hunter2'",
    "postgres://bob:hunter2@db.example:5432/x",
    "mysql+pymysql://bob:hun/ter2?hunter2@db/x",
    "https://hunter2@git.example/x",
    "bob:hunter2@tcp(10.0.0.1:3306)/x",
    "Authorization: Bearer hunter2 hunter2",
    'Authorization: Digest username="bob", response="hunter2"',
    "curl -H 'Authorization: Bearer hunter2' https://x.example",
    "sent Bearer hunter2",
    "Cookie: a=b; session=hunter2",
    "X-Amz-Security-Token: hunter2",
    "AWS4-HMAC-SHA256 Credential=hunter2/20261122/us-west-2, Signature=hunter2",
    "https://b.s3.example/k?X-Amz-Signature=hunter2&X-Amz-Credential=hunter2",
    "https://b.s3.example/k?AWSAccessKeyId=hunter2&Signature=hunter2",
    "mysql -uroot -phunter2 -e 'SELECT 1'",
    "sshpass -p hunter2 ssh a",
    "curl -u bob:hunter2 https://x.example",
    "machine a login bob password hunter2",
    *(
        f"before {secret} after"
        for secret in (
            "AKIAIOSFODNN7EXAMPLE",
            "ASIAIOSFODNN7EXAMPLE",
            "wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY",
            SESSION,
            PEM,
            "hf_abcdefghijABCDEFGHIJ0123456789abcd",
            "ghp_abcdefghijABCDEFGHIJ0123456789abcd",
            "github_pat_11ABC_def",
            "xoxb-123-abc",
            "eyJhbGciOi.eyJzdWIi.c2ln",
            "0123456789abcdef0123456789abcdef01234567",
        )
    ),
]

ORDINARY = [
    "Lifecycle script on_create.sh exited with status 7: tokenizer missing, see https://docs.example/a?b=c",
    "arn:aws:secretsmanager:us-west-2:123456789012:secret:prod/db-AbCdEf cannot be read",
    "secret_arn=arn:aws:secretsmanager:us-west-2:123456789012:secret:prod/db-AbCdEf",
    "secret: arn:aws-cn:secretsmanager:cn-north-1:123456789012:secret:prod/db-AbCdEf",
    "KeyId=arn:aws:kms:us-west-2:123456789012:key/1234abcd-12ab-34cd-56ef-1234567890ab",
    "GetSecretValue: AccessDenied: User: arn:aws:sts::123456789012:assumed-role/x/y is not authorized to perform: "
    "secretsmanager:GetSecretValue on resource: arn:aws:secretsmanager:us-west-2:123456789012:secret:a",
    "ExpiredToken: The security token included in the request is expired",
    "InvalidClientTokenId: The security token included in the request is invalid",
    "NoSuchKey: The specified key does not exist. (Key=lifecycle/mine/on_create.sh)",
    "AuthFailure: AWS was not able to validate the provided access credentials",
    "ERROR 1045 (28000): Access denied for user 'slurm'@'localhost' (using password: YES)",
    "max_tokens=512 tokens: 4096, tokens=[1, 2, 3] num_tokens: 12",
    "AuthType=auth/munge, credentials: /root/.aws/credentials",
    "/home/bob/.ssh/authorized_keys: authorized_keys: 3 keys",
    "PWD=/root OLDPWD=/home/bob",
    "PasswordAuthentication no; password_file=/etc/slurm/password",
    "node i-0123456789abcdef0 of workers: Failure; Key=i-0123456789abcdef0",
    "KeyError: 'InstanceGroups'",
    "primary_key=node-12, object_key: a12b34",
    "https://example.com:8080/a@b and https://x.example/?email=a@b.c and git clone ssh://git@git.example/x",
    "image: 1234.dkr.ecr.example/a:tag@sha256:" + "0123456789abcdef" * 4,
    "commit 0123456789abcdef0123456789abcdef01234567",
    "pam_unix(sshd:session): session opened for user root(uid=0)",
    "bypass=1 compass: north, pass: 12 fail: 0",
    "hf_transfer and hf_hub_download_with_progress are missing; Bearer authentication required",
    "2026-11-22T04:05:06Z node_setup start: mounts\n10.0.0.1@tcp:/abcdef on /fsx type lustre (rw,lazystatfs)",
    "log group /aws/sagemaker/Clusters/demo/abcdefabcdef LifecycleConfig/workers/i-0123456789abcdef0",
    "--password --user bob",
    "-----BEGIN CERTIFICATE-----",
]


def unmasked(text: str) -> list[str]:
    tokens = (
        HUNTER,
        "ter2",
        PEM,
        SESSION,
        "AKIA",
        "ASIA",
        "wJalr",
        "hf_a",
        "ghp_",
        "github_pat_",
        "xoxb",
        "eyJ",
        "0123456789abcdef0123",
    )
    return [token for token in tokens if token in text]


@pytest.mark.parametrize("text", SECRETS)
def test_secrets_are_masked(text: str) -> None:
    masked = redact(text)
    assert "***" in masked
    assert unmasked(masked) == []
    assert "X-Amz-S" not in masked or "X-Amz-Security-Token: ***" in masked


@pytest.mark.parametrize("text", ORDINARY)
def test_ordinary_lines_stay(text: str) -> None:
    assert redact(text) == text


@pytest.mark.parametrize("text", [*SECRETS, *ORDINARY])
def test_a_redacted_text_stays_the_same(text: str) -> None:
    assert redact(redact(text)) == redact(text)


BEGIN, END = "-----BEGIN RSA PRIVATE KEY-----", "-----END RSA PRIVATE KEY-----"


@pytest.mark.parametrize(
    "text",
    [
        f"{BEGIN}\n{PEM}\n{PEM}\nc2hvcnQ=\n{END}",
        f"{BEGIN}\n{PEM}\nc2hvcnQ=",
        f"{PEM}\nc2hvcnQ=\n{END}",
        f"{PEM}\n",
        f"12:00 {PEM}\n12:00 c2hvcnQ=\n12:00 {END}",
        f'{{"key": "{BEGIN}\\n{PEM}\\nc2hvcnQ=\\n{END}\\n"}}',
    ],
)
def test_private_keys_are_masked_whole_or_cut(text: str) -> None:
    masked = redact(f"before\n{text}\nafter")
    assert masked.startswith("before")
    assert not [part for part in ("c2hvcnQ", "MIIE", "VJTU") if part in masked]


@pytest.mark.parametrize(
    "hidden", ["pass\u200bword=hunter2", "pass\x00word=hunter2", "pass\x1b[1mword\x1b[0m=hunter2", "password\xa0=\u2003hunter2"]
)
def test_invisible_characters_hide_no_secret(hidden: str) -> None:
    assert HUNTER not in redact(hidden)


COMMON = [
    "node",
    "workers",
    "Running",
    "mount",
    "12",
    "i-0123456789abcdef0",
    "of:",
    "=",
    "10.0.0.1",
    "failed,",
    "a=b",
    "{x}",
    "'y'",
]

NAMES = st.sampled_from(
    ["DB_PASSWORD", "MYSQL_PWD", "StoragePass", "apiKey", "client-secret", "auth_token", "aws_secret_access_key"]
)
FORMATS = st.sampled_from(
    [
        "{0}={1}",
        "{0}: {1}",
        '"{0}": "{1}"',
        "{0} = '{1}'",
        "--{0} {1}",
        "--{0}={1}",
        "x {0}:={1} y",
        '{{\\"{0}\\":\\"{1}\\"}}',
        "a;{0}={1}",
    ]
)
# Without harmless words, and without quotes, which end a secret.
VALUES = st.text(string.ascii_letters + string.digits + "!#$%&*+-./:;=?@^_|~ä€", min_size=4, max_size=40).filter(
    lambda value: value.lower() not in ("none", "null", "true", "false") and not value.startswith(("--", "***"))
)


@settings(UNTIMED, max_examples=100)
@given(NAMES, FORMATS, VALUES, st.sampled_from(["", "step 3: ", "a=1 ", "x=", "log: ", "12:00 "]))
def test_no_named_secret_survives(name: str, form: str, value: str, before: str) -> None:
    masked = redact(f"{before}{form.format(name, f'ß{value}Z')} after")
    assert "ß" not in masked
    assert f"{value}Z" not in masked


@settings(UNTIMED, max_examples=100)
@given(
    st.text(string.ascii_letters + string.digits + "-_.~!*", min_size=1, max_size=30),
    st.sampled_from(["https", "postgres", "amqp+ssl"]),
)
def test_no_password_of_an_address_survives(password: str, scheme: str) -> None:
    masked = redact(f"see {scheme}://bob:Q{password}Q@host.example/x?y=z for more")
    assert masked == f"see {scheme}://***@host.example/x?y=z for more"


@settings(UNTIMED, max_examples=100)
@given(st.lists(st.sampled_from(COMMON)))
def test_text_without_secrets_is_unchanged(words: list[str]) -> None:
    assert redact(" ".join(words)) == " ".join(words)


@settings(UNTIMED, max_examples=150)
@given(
    st.lists(
        st.sampled_from(
            [
                *SECRETS,
                *ORDINARY,
                '"',
                "'",
                "\\",
                "\n",
                " ",
                "=",
                ":",
                "://",
                "@",
                "token",
                "password",
                "\x1b[",
                "\ud800",
                BEGIN,
                END,
            ]
        )
    ).map("".join)
)
@example("password='password=\\'")
@example("\x1b\x1b[31m[31m")
def test_redaction_is_idempotent_whatever_comes(text: str) -> None:
    once = redact(text)
    once.encode()
    assert redact(once) == once


# Counts


@pytest.mark.parametrize("text", [*SECRETS, *ORDINARY])
def test_counting_changes_nothing(text: str) -> None:
    counts: dict[str, int] = {}
    assert redact(text, counts) == redact(text)
    assert sum(counts.values()) == redact(text).count(MASK)


def test_each_class_is_counted() -> None:
    counts: dict[str, int] = {}
    redact("\n".join(("password=hunter2 token=hunter2", "curl -u bob:hunter2 https://bob:hunter2@x", f"{SESSION} {BEGIN}")), counts)
    assert counts == {
        "value with a secret's name": 2,
        "user in an address": 1,
        "password of a program": 1,
        "random text": 1,
        "private key": 1,
    }


def test_a_secret_in_another_is_counted_in_its_own_class() -> None:
    counts: dict[str, int] = {}
    assert redact("Authorization: Bearer hunter2", counts) == "Authorization: ***"
    assert counts == {"credentials of HTTP": 1}


# One pass


def _backtracking(parsed: Any) -> Iterator[tuple[int, Any]]:
    """Repeats that may backtrack, by their longest match."""
    for operation, argument in parsed:
        if str(operation) in ("MAX_REPEAT", "MIN_REPEAT") and argument[1] > 1:
            yield argument[1], argument
        yield from _within(argument)


def _within(argument: Any) -> Iterator[tuple[int, Any]]:
    if isinstance(argument, re._parser.SubPattern):  # type: ignore[attr-defined]
        yield from _backtracking(argument)
    elif isinstance(argument, tuple | list):
        for part in argument:
            yield from _within(part)


def _starts(parsed: Any) -> Iterator[tuple[str, Any]]:
    operation, argument = parsed[0]
    name = str(operation)
    if name == "SUBPATTERN":
        yield from _starts(argument[3])
    elif name == "BRANCH":
        for branch in argument[1]:
            yield from _starts(branch)
    else:
        yield name, argument


PATTERNS = [
    *(form.pattern for form in FORMS),
    *(value for module in (forms, assignments) for value in vars(module).values() if isinstance(value, re.Pattern)),
]


@pytest.mark.parametrize("pattern", PATTERNS, ids=lambda pattern: pattern.pattern[:30])
def test_every_repeat_is_possessive_or_short_and_starts_behind_a_word(pattern: re.Pattern[str]) -> None:
    parsed = re._parser.parse(pattern.pattern, pattern.flags)  # type: ignore[attr-defined]
    assert [longest for longest, _ in _backtracking(parsed) if longest > 1000] == []
    if pattern is not PLAIN:  # which is matched at one place only
        free = [name for name, argument in _starts(parsed) if name.endswith("REPEAT") and argument[1] > 1]
        assert free == [] or "_HARMLESS" in _name(pattern)


def _name(pattern: re.Pattern[str]) -> str:
    return next((name for module in (forms, assignments) for name, value in vars(module).items() if value is pattern), "")


@pytest.mark.parametrize(
    "text", ["9", "a", "a=", "password=", "password='", "token: ", '"', "\\", " ", "\n", "://", "a://", "-----BEGIN ", "x-amz-"]
)
def test_a_scan_never_goes_back(text: str) -> None:
    scan = Scan(text * 2000)
    positions = [scan.position for _ in scan.pieces()]
    assert positions == sorted(positions)
    assert len(positions) <= 2001


@pytest.mark.parametrize("text", ["x", "9", "password=", "a b ", "\n"])
def test_a_huge_text_is_bounded_before_anything_is_searched(text: str) -> None:
    assert len(redact(text * (10**7 // len(text)))) <= 2 * REACH + 10


@pytest.mark.parametrize("where", [REACH - 30, REACH - 12, REACH - 8, REACH - 1])
def test_the_bound_cuts_no_secret_open(where: int) -> None:
    start = "x " * (where // 2)
    end = " y" * 25_000 + "\n" + "z " * 10
    assert "hunter" not in redact(f"{start}password=hunter2hunter2{end}")
    assert "hunter" not in redact(end[::-1] + f"password=hunter2hunter2 {'y ' * (where // 2)}")


def test_one_line_is_redacted_before_it_is_cut() -> None:
    line = one_line("first\nsecond\r\n::error password='" + "hunter2 " * 100 + "' end " + "x" * 500, 60)
    assert line.startswith("first second ::error password='***' end")
    assert len(line) <= 60
