"""Texts that scripts of a shell write into files, however they do so."""

from __future__ import annotations

import pytest

from hyperpod_constructs.analysis.shell import NO_FILES, run_of
from hyperpod_constructs.analysis.written_texts import WrittenText, texts_written, whole_files
from tests.work import calls


def written(text: str) -> list[WrittenText]:
    run = run_of((text,), {"1": "one"}, {}, NO_FILES)
    assert run is not None
    return list(texts_written(run))


@pytest.mark.parametrize(
    ("text", "files"),
    [
        ("echo a  b > /a", [("/a", "a b\n")]),
        ("echo -n a > /a", [("/a", "a")]),
        (r'echo -ne "a\tb\\n" > /a', [("/a", "a\tb\n")]),
        (r'echo "a\tb" > /a', [("/a", "a\\tb\n")]),
        (r"printf 'a\n%%' > /a", [("/a", "a\n%")]),
        (r"printf '%s=%d\n' a 1 b 2 >> /a", [("/a", "a=1\nb=2\n")]),
        (r"printf '%s=%s\n' a 1 b >> /a", [("/a", "a=1\nb=\n")]),
        (r'printf "a=$A\n%5s" b > /a', [("/a", "a=?\n?")]),
        ("printf > /a", []),
        (r"printf -- 'a\n' > /a", [("/a", "a\n")]),
        ("cat <<A > /a; cat <<B > /b\none\nA\ntwo\nB\n", [("/a", "one\n"), ("/b", "two\n")]),
        ("cat <<-A > /a\n\t[Unit]\n\t b\n\tA\n", [("/a", "[Unit]\n b\n")]),
        ("cat - > /a <<< $1", [("/a", "one\n")]),
        ("cat head - > /a <<A\nb\nA\n", []),
        ("cat < a > /a", []),
        ("cat <<A | sudo tee -i /a /b > /dev/null\nb\nA\n", [("/a", "b\n"), ("/b", "b\n")]),
        ("echo a | tee /a | tee -a /b", [("/a", "a\n"), ("/b", "a\n")]),
        ("echo a | sed s/a/b/ | tee /a", []),
        ("echo a; tee /a", []),
        ("echo a | cat > /a", [("/a", "a\n")]),
        ("echo a 2> /log | tee /a", [("/a", "a\n")]),
        ("echo a 1> /a >&2", [("/a", "a\n")]),
        ("sudo install -Dm 644 /dev/stdin /etc/a <<A\nb\nA\n", [("/etc/a", "b\n")]),
        ("install -t /etc a.txt <<< b", []),
        ("jq . /dev/stdin > /a <<< b", []),
        ('f() { echo "$1" >> "$2"; }\nf a /a\nf b /b', [("/a", "a\n"), ("/b", "b\n")]),
        ("sudo sh -c \"echo '$1 b' >> /a && echo c > /b\"", [("/a", "one b\n"), ("/b", "c\n")]),
        ("bash -euo pipefail -c 'echo $A $2 > /a' _ a b", [("/a", "? b\n")]),
        ("sh -c \"sh -c 'echo a > /a'\"", [("/a", "a\n")]),
        ("bash a.sh > /a; sh -c", []),
    ],
)
def test_texts_are_those_that_the_shell_writes(text: str, files: list[tuple[str, str]]) -> None:
    assert [(one.place, one.text) for one in written(text)] == files


def test_texts_say_where_and_how_they_are_written() -> None:
    text = "true\ncat <<'A' | tee -a /a\n$1\nA\nsh -c 'true\necho b | tee --append /b'\ncat > /c <<A\n$1\nA\n"
    found = [(one.place, one.line, one.numbers, one.adds, one.literal) for one in written(text)]
    assert found == [("/a", 3, (2,), True, True), ("/b", 6, (3, 2), True, False), ("/c", 8, (4,), False, False)]


def test_files_are_whole_with_what_is_added() -> None:
    text = 'echo a > /a; echo b >> /b; echo c | tee -a /a; echo d > /a; echo e >> /a; echo f > "$F"; echo g >> "$G"'
    found = [(one.place, one.text) for one in whole_files(written(text))]
    assert found == [("/a", "a\nc\n"), ("/b", "b\n"), ("/a", "d\ne\n"), ("?", "f\n"), ("?", "g\n")]


@pytest.mark.parametrize(
    "text",
    [
        "echo a >> /a\n",
        "cat <<A >> /a; ",
        "sh -c 'sh -c \"echo a > /a\"'\n",
        "printf '" + "%s" * 1000 + "' " + "a " * 10000 + "> /a\n",
        'f() { printf "' + "%s" * 2000 + '" "$1" > /a; }\n' + "f a\n" * 400,
        'f() { sh -c "$1 $1"; }\n' + f"f '{'echo a > /a; ' * 50}'\n" * 40,
    ],
)
def test_no_text_takes_long(text: str) -> None:
    assert calls(lambda: whole_files(written(text * (60_000 // len(text) or 1)))) < 4_000_000
