"""Secrets with a telling form, in any surroundings."""

from __future__ import annotations

import re
from collections.abc import Callable, MutableMapping
from typing import NamedTuple

MASK = "***"

Counts = MutableMapping[str, int]
"""The number of masked secrets, by their class."""


class Form(NamedTuple):
    """A form of secrets: its class, its pattern, and what takes its place."""

    kind: str
    pattern: re.Pattern[str]
    replacement: str | Callable[[re.Match[str]], str]

    def without(self, text: str, counts: Counts | None) -> str:
        """The text with the mask in place of every secret of this form."""
        if counts is None:
            return self.pattern.sub(self.replacement, text)

        def counted(found: re.Match[str]) -> str:
            masked = self.replacement(found) if callable(self.replacement) else found.expand(self.replacement)
            count(counts, self.kind, masked.count(MASK) - found.group().count(MASK))
            return masked

        return self.pattern.sub(counted, text)


_QUOTED = r"""(?:'(?:[^'\\\n]|\\.|'')*+'?|"(?:[^"\\\n]|\\.|"")*+"?)"""

# From the first line to the last, or to the end of the text. In JSON, its line feeds are written as `\n`.
_PRIVATE_KEY = re.compile(
    r"-----BEGIN [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?-----(?:[^-]|-(?!----END ))*+(?:-----END [A-Z0-9 ]{0,40}-----)?"
)

# The last line of a key without its beginning.
_END_OF_KEY = re.compile(r"(?<![\w+/=])[\w+/=]++(?:\s|\\[nr])++(?=[^\n]{0,80}-----END [A-Z0-9 ]{0,40}PRIVATE KEY)")

_SQL = re.compile(
    r"(?i)(?<![\w])(IDENTIFIED[ \t]++(?:WITH[ \t]++[^\s]++[ \t]++)?(?:BY|AS|USING)[ \t]++(?:PASSWORD[ \t]++)?"
    rf"|PASSWORD[ \t]*+\([ \t]*+|SET[ \t]++PASSWORD[ \t]++FOR[ \t]++[^\s]++[ \t]*+=[ \t]*+)\\?{_QUOTED}"
)

_PRESIGNED = re.compile(r"""(?i)(?:(?<=[?&])|(?=x-amz-(?:signature|security-token|credential)(?:%3D|=)))x-amz-[^\s"'<>\\]++""")

_SIGNED = re.compile(r"""(?i)(?<=[?&])(?:AWSAccessKeyId|Signature|Key-Pair-Id|sig)=[^\s"'<>\\&]++""")

# The word after the name of a scheme; prose such as `Bearer token missing` has neither digits nor capitals.
_SCHEME = re.compile(r"(?i:(?<![\w-])(Bearer|Basic)[ \t]++)(?=[a-z_.~+/-]*+[A-Z0-9=])[\w.~+/=-]{6,}+")

_NETRC = re.compile(r"(?<!\w)(login[ \t]++[^\s]++[ \t]++password[ \t]++)[^\s]++")
_SSHPASS = re.compile(r"(?<!\w)(sshpass[ \t]++-p[ \t]*+)[^\s]++")

# Whole lines of programs that accept a password without a name, and its position.
_CLIENT = re.compile(r"(?<![\w-])(?:(?:mysql|mariadb)(?:-?dump|admin)?|curl)[ \t][^\n]*+")
_CLIENT_PASSWORD = re.compile(r"((?<=[ \t]-p)|(?:(?<=[ \t]-u)|(?<=[ \t]--user))[ \t=]*+[^\s:]++:)[^\s]++")

_URL = re.compile(
    r"""(?<![\w+.-])(?P<scheme>[A-Za-z][\w+.-]*+)://"""
    r"""(?P<user>[^\s"'<>/?#]{0,1000}|[^\s"'<>/?#:]{0,100}:(?!\d{0,5}(?:[/?#]))[^\s"'<>]{0,1000})@"""
)

_DATA_SOURCE = re.compile(r"""(?<![^\s"'=])([^\s:@"'/=]{1,100}+):[^\s"']{1,200}(?=@(?:tcp|unix)?\()""")

_NAMED_TOKENS = re.compile(
    r"(?<![A-Za-z0-9_-])(?:"
    r"(?:hf_|gh[oprsu]_|npm_|dop_v1_|glpat-|nvapi-|sk-|pypi-|AIza|api_org_)(?=[A-Za-z_-]{0,60}[0-9A-Z])[A-Za-z0-9_-]{16,}+"
    r"|(?:github_pat_|dckr_pat_|wandb_v1_|xox[a-z]-|xapp-)[A-Za-z0-9_-]++"
    r"|eyJ[A-Za-z0-9_-]++(?:\.[A-Za-z0-9_-]*+){0,4}"
    r")"
)

_ACCESS_KEY = re.compile(r"(?<![A-Za-z0-9])(?:AKIA|ASIA|ABIA|ACCA)[A-Z0-9]{12,}+")

# 40 hexadecimal digits are a key of Weights & Biases, unless a word before them says commit.
_HEX = re.compile(
    r"(?<![0-9A-Za-z])(?<!commit )(?<!commit=)(?<!revision )(?<!sha1:)(?<!sha )(?<!HEAD )(?<!@)[0-9a-f]{40}(?![0-9A-Za-z])"
)

_RUN = re.compile(r"(?<![\w+/.-])[A-Za-z0-9+/]++={0,2}(?![\w.-])")

_SECRET_KEY_LENGTH = 40
_LINE_OF_KEY = 60


def without_known_forms(text: str, counts: Counts | None = None) -> str:
    """The text with the mask in place of every secret with a telling form."""
    for form in FORMS:
        text = form.without(text, counts)
    return text


def count(counts: Counts, kind: str, masks: int) -> None:
    """Count new masks. A secret that another one encloses has been counted in its own class."""
    if masks > 0:
        counts[kind] = counts.get(kind, 0) + masks


def _userinfo(found: re.Match[str]) -> str:
    """Masks the user in `scheme://user:password@host`. A password may contain `/`, `?` and `@`; a port never does."""
    only_a_name = ":" not in found["user"] and found["scheme"].lower() in ("ssh", "git", "sftp")
    return found.group() if only_a_name else f"{found['scheme']}://{MASK}@"


def _run(found: re.Match[str]) -> str:
    """Masks a secret access key or a line of a longer secret: too mixed for a word, a path or a hexadecimal digest."""
    run = found.group()
    mixed = sum(map(str.isupper, run)) >= 4 and sum(map(str.islower, run)) >= 4 and any(map(str.isdigit, run))
    path = run.startswith("/") or run.count("/") * 8 > len(run)
    long = len(run) == _SECRET_KEY_LENGTH or len(run) >= _LINE_OF_KEY
    return MASK if long and mixed and not path else run


def _client(found: re.Match[str]) -> str:
    return _CLIENT_PASSWORD.sub(rf"\1{MASK}", found.group())


FORMS = (
    Form("private key", _PRIVATE_KEY, MASK),
    Form("private key", _END_OF_KEY, MASK + "\n"),
    Form("signed address", _PRESIGNED, MASK),
    Form("signed address", _SIGNED, MASK),
    Form("user in an address", _URL, _userinfo),
    Form("user in an address", _DATA_SOURCE, rf"\1:{MASK}"),
    Form("password in SQL", _SQL, rf"\1'{MASK}'"),
    Form("credentials of HTTP", _SCHEME, rf"\1{MASK}"),
    Form("password of a program", _NETRC, rf"\1{MASK}"),
    Form("password of a program", _SSHPASS, rf"\1{MASK}"),
    Form("password of a program", _CLIENT, _client),
    Form("token of a service", _NAMED_TOKENS, MASK),
    Form("access key of AWS", _ACCESS_KEY, MASK),
    Form("random text", _HEX, MASK),
    Form("random text", _RUN, _run),
)
