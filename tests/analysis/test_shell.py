"""Scripts of a shell are read in time that their length bears, whatever is in them."""

from __future__ import annotations

import pytest

from hyperpod_constructs.analysis.shell import NO_FILES, Beside, commands_of, exported, run_of, variables_read
from hyperpod_constructs.analysis.shell_reader import read_script
from hyperpod_constructs.analysis.shell_words import plain
from hyperpod_constructs.templates.values import UNKNOWN, shown
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


@pytest.mark.parametrize(
    ("text", "values"),
    [
        ('echo "$1" "${2}"', ["a", "b"]),
        ("echo '$1' $0 ${10}", ["$1", "${?}", "${?}"]),
        ('echo "${1:-x}" "${1:?no}" "${1%%b}" "${#1}" "${1:+x}"', ["a", "a", "${?}", "${?}", "${?}"]),
        ('A="$1"\necho "$A"', ["a"]),
        ('A="$1"\nshift\necho "$A" "$1"', ["a", "${?}"]),
        ('while true; do A="$1"; shift; done\necho "$A"', ["${?}"]),
        ('set -- c "$@"\necho "$1"', ["${?}"]),
        ('set -euo pipefail\necho "$1"', ["a"]),
        ('f() { echo "$1"; }', ["${?}"]),
        ('f () { shift; }\necho "$1"', ["a"]),
        ('function f { echo "$1"; }', ["${?}"]),
        ('f() {\n  cat <<END\n$1\nEND\n}\necho "$1"', ["a"]),
    ],
)
def test_arguments_of_a_script_are_known_outside_of_functions(text: str, values: list[str]) -> None:
    run = run_of((text,), {"1": "a", "2": "b"}, {}, NO_FILES)
    assert run is not None
    (*_, last) = [one for one in run.commands if one.name == "echo"]
    assert [shown(run.value(word)) for word in last.arguments] == values


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ('f() { mount "$1" /x; }\nf a\nf b', [["a", "/x"], ["b", "/x"]]),
        ('f() { local a="$1"; mount "$a/b"; }\nf a', [["a/b"]]),
        ('g() { mount "$2$1"; }\nf() { g "$2" "$1"; }\nf a b', [["ab"]]),
        ('f() { mount "$2"; }\nf a', [[""]]),
        ('f() { mount "$2"; }\nf "$@" a', [[None]]),
        ('f() { shift; mount "$1"; }\nf a b', [["b"]]),
        ('f() { shift 2; mount "$1" "$2"; }\nf a b c', [["c", ""]]),
        ('f() { if true; then shift; fi; mount "$1"; }\nf a b', [[None]]),
        ('f() { shift "$N"; mount "$1"; }\nf a b', [[None]]),
        ('f() { set -- c; mount "$1"; }\nf a b', [[None]]),
        ('f() { mount "$1"; }\ntry f a', [[None]]),
        ('f() { echo "$*"; "$@"; }\nf mount a b', [["a", "b"]]),
        ("f() { shift; sudo timeout -k 5 60 $@; }\nf 3 nice -n 5 mount a", [["a"]]),
        ('f() { mount "$@"; }\nf a "$(b)" c', [["a", None]]),
        ('f() { mount "$@"; }\nf', [[]]),
        ('g() { "$@"; }\nf() { g mount "$@"; }\nf a b', [["a", "b"]]),
        ('f() { f "$1$1"; mount "$1"; }\nf a', [["aaaa"], ["aa"], ["a"]]),
    ],
)
def test_a_call_of_an_own_function_gives_it_its_arguments(text: str, words: list[list[str | None]]) -> None:
    run = run_of((text,), {}, {}, NO_FILES)
    assert run is not None
    found = [one for one in run.called if one.name == "mount"]
    known = [[None if shown(run.value(word)) == "${?}" else run.value(word) for word in one.arguments] for one in found]
    assert known == words


@pytest.mark.parametrize(
    ("text", "alone"),
    [
        ("mount a", True),
        ("[[ -d /a ]] && mount a", False),
        ('f() { "$@"; }\nf mount a', True),
        ('f() { true; mount "$1"; }\nif true; then f a; fi', False),
        ('f() { if true; then mount "$1"; fi; }\nf a', False),
        ('f() { for one in a b; do "$@"; done; }\nf mount a', False),
        ('f() { true || "$@"; }\nf mount a', False),
    ],
)
def test_a_command_of_a_function_runs_with_its_call(text: str, alone: bool) -> None:
    run = run_of((text,), {}, {}, NO_FILES)
    assert run is not None
    (found,) = (one for one in run.called if one.name == "mount")
    assert found.alone is alone


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("mount a", ["mount"]),
        ("timeout -k 5 60 mount a", ["mount"]),
        ("sudo -u root nice -n 5 ionice -c 3 mount a", ["mount"]),
        ("env -u A B=c stdbuf -oL mount a", ["mount"]),
        ("command -v mount > /dev/null", [""]),
    ],
)
def test_programs_that_start_another_one_are_not_its_name(text: str, names: list[str]) -> None:
    assert [one.name for one in commands_of(text) or ()] == names


SITE = Beside("export A=a\nB=b\nC=c$1\n", {})


@pytest.mark.parametrize(
    ("text", "values", "names"),
    [
        ("source ./site.sh", {"A": "a", "B": "b", "C": "c${?}"}, ["A"]),
        (". /opt/x/site.sh\nexport B", {"A": "a", "B": "b"}, ["A", "B"]),
        ("A=x\nsource site.sh", {"A": "${?}"}, ["A"]),
        ("A=a\nsource site.sh", {"A": "a"}, ["A"]),
        ("D=d\ndeclare -x E=e\nset -a", {"D": "d", "E": "e"}, ["E", "*"]),
        ("set -euo pipefail\nD=d", {"D": "d"}, []),
        ("set -o allexport; source site.sh", {"B": "b"}, ["*", "A"]),
        ("source other.sh", {"A": "${?}"}, []),
    ],
)
def test_a_script_has_and_exports_what_it_reads(text: str, values: dict[str, str], names: list[str]) -> None:
    run = run_of((text,), {}, {}, {"site.sh": SITE})
    assert run is not None
    assert {name: shown(run.values.get(name, UNKNOWN)) for name in values} == values
    assert [*exported(run.commands, {"site.sh": SITE})] == names


def test_places_are_read_emptied_or_written_behind_their_end() -> None:
    (found,) = commands_of("a < b > c >> d 2>&1 2> e &> f <<< g") or ()
    assert [(one.operator, plain(one.place), one.empties, one.writes) for one in found.redirected] == [
        ("<", "b", False, False),
        (">", "c", True, True),
        (">>", "d", False, True),
        (">&", "1", False, False),
        (">", "e", True, True),
        ("&>", "f", True, True),
        ("<<<", "g", False, False),
    ]


CASE = """case "$1" in
  a | b) one; two || exit 1 ;;
  (c) if three; then exit 1; fi
    ;;
  d) ;&
  *) exit 2
esac
case x in y) four;; esac
five
"""


def test_blocks_of_case_are_read_with_their_parts() -> None:
    found = read_script(CASE)
    names = [one.name for one in found.commands or ()]
    assert names == ["one", "two", "exit", "three", "exit", "exit", "four", "five"]
    assert [
        ([plain(word) for word in arm.patterns], [names[place] for place in arm.commands], [one.name for one in arm.sure])
        for case in found.cases
        for arm in case.arms
    ] == [
        (["a", "b"], ["one", "two", "exit"], ["one"]),
        (["c"], ["three", "exit"], []),
        (["d"], [], []),
        (["*"], ["exit"], ["exit"]),
        (["y"], ["four"], ["four"]),
    ]
    assert [(one.alone, one.line) for one in found.cases] == [(True, 1), (True, 8)]
    assert found.unended is None


def test_calls_of_functions_take_not_long() -> None:
    text = "f() { " + 'f "' + "$1" * 500 + '"; ' * 50 + "}\nf " + "a" * 1000
    assert calls(lambda: run_of((text,), {}, {})) < 2_000_000


@pytest.mark.parametrize(
    "folder",
    [
        '$(dirname "$0")',
        "$(dirname -- ${BASH_SOURCE[0]})",
        '$(dirname "$(readlink -f "${BASH_SOURCE[0]}")")',
        '$(cd "$(dirname "$0")" && pwd)',
        '$(cd -- "$(dirname -- "${BASH_SOURCE[0]}")" &> /dev/null && pwd -P)',
        '$(realpath "$(dirname "$0")")',
        "${BASH_SOURCE[0]%/*}",
    ],
)
def test_the_folder_of_a_script_is_a_dot(folder: str) -> None:
    run = run_of((f'here="{folder}"\nbash "$here/a.sh"\nbash "{folder}/b.sh"',), {}, {}, NO_FILES)
    assert run is not None
    assert [shown(run.value(one.words[1])) for one in run.commands if one.name == "bash"] == ["./a.sh", "./b.sh"]


@pytest.mark.parametrize("folder", ['$(dirname "$1")', '$(dirname "$LOG")', "$(cd /opt && pwd)", "${A%/*}"])
def test_another_folder_is_not_known(folder: str) -> None:
    run = run_of((f'bash "{folder}/b.sh"',), {}, {}, NO_FILES)
    assert run is not None
    assert [shown(run.value(one.words[1])) for one in run.commands if one.name == "bash"] == ["${?}/b.sh"]
