"""The folder of a shell's script in its own words, such as `$(cd "$(dirname "$0")" && pwd)`: a dot stands for it.

Source: https://www.gnu.org/software/coreutils/manual/html_node/dirname-invocation.html
"""

from __future__ import annotations

import re

_SCRIPT = r'"?\$(?:0|BASH_SOURCE|\{(?:0|BASH_SOURCE(?:\[0\])?)\})"?'
_RESOLVED = rf'(?:{_SCRIPT}|"?\$\([ \t]*(?:readlink[ \t]+-[ef]|realpath)[ \t]+(?:--[ \t]+)?{_SCRIPT}[ \t]*\)"?)'
_FOLDER = rf"(?:\$\([ \t]*dirname[ \t]+(?:--[ \t]+)?{_RESOLVED}[ \t]*\)|\$\{{(?:0|BASH_SOURCE(?:\[0\])?)%/\*\}})"
_QUIET = r"(?:&?>[ \t]*/dev/null[ \t]*(?:2>&1[ \t]*)?)?"
_ENTERED = rf'\$\([ \t]*cd[ \t]+(?:-P[ \t]+)?(?:--[ \t]+)?"?{_FOLDER}"?[ \t]*{_QUIET}&&[ \t]*pwd(?:[ \t]+-P)?[ \t]*\)'
_NAMED = rf'\$\([ \t]*(?:readlink[ \t]+-[ef]|realpath)[ \t]+"?{_FOLDER}"?[ \t]*\)'
_OWN_FOLDER = re.compile(rf"{_ENTERED}|{_NAMED}|{_FOLDER}")
HERE = "."
"""What stands for the folder."""


def with_own_folder(text: str) -> str:
    """A script with a dot for its own folder."""
    return _OWN_FOLDER.sub(HERE, text) if "$0" in text or "${0" in text or "BASH_SOURCE" in text else text
