"""Scripts of a shell are read in time that their length bears, whatever is in them."""

from __future__ import annotations

import pytest

from hyperpod_constructs.analysis.shell import commands_of, variables_read
from hyperpod_constructs.analysis.shell_words import plain
from tests.work import calls


def test_commands_are_told_apart() -> None:
    found = commands_of('if test -d "$A"; then B=1 sudo aws s3 cp a b 2>&1 || true; fi # end\n(c <<< "$D") | e > "${F%/*}"\n') or ()
    assert [one.name for one in found] == ["test", "aws", "true", "c", "e"]
    assert [plain(word) for word in found[1].words] == ["aws", "s3", "cp", "a", "b"]
    assert [one.guarded for one in found] == [False, True, False, False, False]
    assert {one.name for one in variables_read(found)} == {"A", "D", "F"}


@pytest.mark.parametrize("text", ['a "', "a '", "a `b", "a $(b", "a ${b", "cat <<END\nb"])
def test_a_script_that_is_not_understood_has_no_commands(text: str) -> None:
    assert commands_of(text) is None


@pytest.mark.parametrize("text", ['"a$b ', "cat <<A\n$(cat <<A\n", "x=$((", "$(", "${", "`", "#\n", ";", "a\\\n", "<<a "])
def test_no_script_takes_long(text: str) -> None:
    assert calls(lambda: commands_of(text * (60_000 // len(text)))) < 2_000_000
