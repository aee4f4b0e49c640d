"""The forms of texts that reach root's files on nodes; `lifecycle/node_setup` checks them once more."""

from __future__ import annotations

import re

from hyperpod_constructs._support.tokens import is_unknown

USER_NAME = re.compile(r"[a-z_][a-z0-9_-]{0,31}")
GROUP_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_.-]{0,31}")
PATH = re.compile(r"(/[A-Za-z0-9_.@+-]+)+")
HOST = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.:-]*")
DATABASE_NAME = re.compile(r"[A-Za-z0-9_$][A-Za-z0-9_$-]*")
PUBLIC_KEY = re.compile(r"(.*\s)?(ssh|ecdsa|sk-ssh|sk-ecdsa)-\S+\s+\S+(\s.*)?")
KEY_FILE = re.compile(r"[~.]{0,2}/\S+|\S+\.pub")
RESERVED = """
_apt adm backup bin daemon dbus disk docker ec2-user games gnats irc kmem kvm list lp lxd mail man messagebus munge mysql news
nobody nogroup polkitd proxy root shadow slurm slurmrestd sshd sssd staff sudo sync sys syslog tape tty ubuntu users uucp uuidd
wheel www-data"""


def check_user_name(name: str) -> None:
    if is_unknown(name):
        return
    if not USER_NAME.fullmatch(name):
        raise ValueError(
            f"NodeUser {name!r}: an account's name is a lowercase letter or _, then up to 31 letters, digits, - and _; "
            'write name="alice"'
        )
    if name in RESERVED.split() or name.startswith("systemd-"):
        raise ValueError(f"NodeUser {name!r}: systems keep this name for an account or group of their own; choose another")


def check_public_key(where: str, key: str) -> None:
    """One line of `authorized_keys`, with or without options before the key and a comment after it."""
    if is_unknown(key):
        return
    if "PRIVATE KEY" in key:
        raise ValueError(f"{where}: ssh_keys holds a private key; write the line of the .pub file beside it")
    if KEY_FILE.fullmatch(key):
        raise ValueError(
            f"{where}: ssh_keys has {key!r}, the path of a file; write its content: Path({key!r}).expanduser().read_text().strip()"
        )
    if not key.isprintable() or not PUBLIC_KEY.fullmatch(key):
        raise ValueError(
            f"{where}: ssh_keys has {key!r}, which is not one line with a public key; write the line of the .pub file, "
            'such as "ssh-ed25519 AAAA... alice@laptop", and a list item for each key'
        )


def check_path(where: str, name: str, path: str) -> None:
    if is_unknown(path):
        return
    if not PATH.fullmatch(path) or {".", ".."} & {*path.split("/")}:
        raise ValueError(
            f"{where}: {name} is {path!r}; allowed: an absolute path of letters, digits and _.@+- without . and .. in it and "
            f'without / at its end; write {name}="/fsx"'
        )


def check_word(where: str, name: str, value: str, pattern: re.Pattern[str], example: str) -> None:
    if not is_unknown(value) and not pattern.fullmatch(value):
        raise ValueError(f"{where}: {name} has {value!r}; allowed: {pattern.pattern}; write {example!r}")


def check_lines(where: str, name: str, text: str) -> None:
    if not is_unknown(text) and not re.sub(r"[\n\t]", "", text).isprintable():
        raise ValueError(f"{where}: {name} holds a control character; allowed: text, line feeds and tabs")
