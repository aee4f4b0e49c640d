"""Tells secrets by their names: `MYSQL_PWD` and `storagePass` are secrets, `KeyId` and `max_tokens` are not."""

from __future__ import annotations

import re
from enum import Enum

_WORD = re.compile(r"[A-Z]++(?![a-z])|[A-Z]?[a-z]++|[A-Z]")


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


# Whole words, or ends of compounds (`dbpassword`, `PGPASSWORD`).
_ENDINGS = (
    *("password", "passwords", "passwd", "passphrase", "passcode", "pass", "pwd", "secret", "secrets"),
    *("token", "credential", "credentials", "creds", "apikey", "accesskey", "authkey", "privatekey", "secretkey"),
)
_ALONE = frozenset({"pw", "pswd", "jwt", "cred", "cookie", "authorization"})
_WEAK = frozenset({"auth", "bearer", "credential", "credentials", "sig", "signature", "token", "tokens"})
_PROSE = frozenset({"key", "keys", "otp", "pass", "pin", "session"})
_HARMLESS = frozenset({"bypass", "compass", "encompass", "surpass", "trespass", "overpass", "underpass"})

# Endings of names that describe a secret without being one: `secret_name`, `KeyId`, `password_file`, `PasswordAuthentication`.
_DESCRIPTIONS = _words(
    """
    age agent algorithm alias arn arns at authentication base change check checks class count counts created date
    default dir directory disabled enabled endpoint error exception exists expiration expired expires expiry failed
    failure field file files folder format found host id ids index info invalid kind len length level lifetime limit
    limits manager max method min mismatch missing mode name names not number pair pairs path paths per policy port
    provider rate required reuse rotation seconds server service set size source spec state status store time timeout
    ttl type types updated uri url usage used user username users valid validation version violation
    """
)

# Keys that are not secret: `public_key`, `object_key`, `partition_key`.
_OPEN_KEYS = _words(
    """
    authorized cache composite config dict foreign group hash host image index json known lookup map object partition
    primary public range registry routing row s shard sharding sort source tag target unique
    """
)

# First words of error codes and operations: `ExpiredToken: The security token ...`, `GetSecretValue: AccessDenied: ...`.
_CODES = _words(
    """
    assume bad change create delete denied describe expired generate get incorrect invalid list malformed missing no put
    reset rotate unknown unsupported update wrong
    """
)


class Level(Enum):
    """The certainty that the value of a name is a secret."""

    NONE = 0
    PROSE = 1  # `key`, `pass`: only a value that looks random
    WEAK = 2  # `token`, `auth`: no number, no path, no state
    STRONG = 3


def level(name: str) -> Level:
    """The certainty for a name such as `--db-password`, `StoragePass` or `secret access key`."""
    words = [word.lower() for word in _WORD.findall(name)]
    if {"access", "key", "id"} <= set(words):
        return Level.STRONG
    if not words or _is_description(words, name):
        return Level.NONE
    last, alone = words[-1], len(words) == 1
    if alone and last in _WEAK | _PROSE:
        return Level.WEAK if last in _WEAK else Level.PROSE
    if any(word in _ALONE or (word.endswith(_ENDINGS) and word not in _HARMLESS) for word in words):
        return Level.STRONG
    if last == "key":
        return Level.NONE if words[-2] in _OPEN_KEYS else Level.STRONG
    return Level.WEAK if last in _WEAK else Level.NONE


def is_header(name: str) -> bool:
    """Whether the value reaches to the end of the line, as for `Authorization` and `Cookie`."""
    return name.lower().endswith(("authorization", "cookie"))


def is_folder(name: str) -> bool:
    """Whether the name is a shell variable for a folder, such as `PWD=/root`."""
    return name in ("PWD", "OLDPWD")


def _is_description(words: list[str], name: str) -> bool:
    code = words[0] in _CODES and name[:1].isupper() and name.isalnum()
    return words[-1] in _DESCRIPTIONS or code
