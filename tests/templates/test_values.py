"""Values that stand for what only a deployment knows."""

from __future__ import annotations

from collections.abc import Mapping
from fnmatch import fnmatchcase
from itertools import product

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from hyperpod_constructs.templates.globs import matches
from hyperpod_constructs.templates.model import resource_of
from hyperpod_constructs.templates.parameters import parameter_value
from hyperpod_constructs.templates.values import (
    ABSENT,
    UNKNOWN,
    Either,
    Reference,
    Text,
    Value,
    as_bool,
    as_float,
    as_int,
    as_items,
    as_str,
    at,
    either,
    is_known,
    joined,
    shown,
)
from tests.templates.models import by_id, model_of

MODEL = model_of("Resources: {A: {Type: 'T::A'}, B: {Type: 'T::B'}}")
A, B = (Reference(by_id(MODEL, name)) for name in "AB")


def test_unknown_is_equal_to_nothing() -> None:
    unknown: object = UNKNOWN
    assert not unknown
    assert unknown != UNKNOWN
    assert Text(("a", UNKNOWN)) != Text(("a", UNKNOWN))
    assert Text(("a", A)) == Text(("a", A))
    assert len({A, Reference(A.resource), B}) == 2


@pytest.mark.parametrize(
    ("value", "number"),
    [
        ("443", 443),
        (443, 443),
        (443.0, 443),
        ("4.5", None),
        (True, None),
        ("nan", None),
        ("1e999", None),
        ("many", None),
        (UNKNOWN, None),
        (ABSENT, None),
        (Either((443, "443")), 443),
        (Either((443, 444)), None),
    ],
)
def test_numbers_are_read_from_strings(value: Value, number: int | None) -> None:
    assert as_int(value) == number


def test_other_readings() -> None:
    assert as_float("0.5") == 0.5
    assert (as_bool("True"), as_bool(False), as_bool("no"), as_bool(1)) == (True, False, None, None)
    assert (as_str(True), as_str(5), as_str(A), as_str(None)) == ("true", "5", None, None)
    assert (as_items(ABSENT), as_items((1,)), as_items("a"), as_items(UNKNOWN)) == ((), (1,), None, None)
    assert resource_of(A) is A.resource
    assert resource_of(A, "T::A", "T::C") is A.resource
    assert resource_of(A, "T::B") is None
    assert resource_of("a") is None


def test_a_path_ends_where_nothing_is_and_where_nothing_is_known() -> None:
    value: Value = {"a": ({"b": 1}, UNKNOWN), "c": None, "e": Either(({"b": 1}, {"b": 2})), "s": "text"}
    assert at(value, "a", 0, "b") == 1
    assert at(value, "a", 1, "b") is UNKNOWN
    assert at(value, "a", 7) is ABSENT
    assert at(value, "c", "d") is ABSENT
    assert at(value, "x", "y") is ABSENT
    assert at(value, "e", "b") == Either((1, 2))
    assert at(value, "e", "x") is ABSENT
    assert at(value, "s", "b") is UNKNOWN
    assert at(value, "a", "b") is UNKNOWN


def test_alternatives_collapse() -> None:
    assert either([1, 1]) == 1
    assert either([1, True]) == Either((1, True))
    assert either([1, Either((2, 1))]) == Either((1, 2))
    assert either([1, UNKNOWN]) is UNKNOWN
    assert either(range(9)) is UNKNOWN


def test_strings_are_joined() -> None:
    assert joined(["a", "b"]) == "ab"
    assert joined(["", A]) == A
    assert joined(["a", "", UNKNOWN, UNKNOWN, "b"]).__repr__() == "a${?}b"
    assert joined([]) == ""
    assert joined(["a" * 40_000, A, "a" * 40_000]) is UNKNOWN


def test_a_text_knows_its_ends() -> None:
    text = Text(("s3://", A, "/x"))
    assert (text.prefix, text.suffix, text.references, text.known) == ("s3://", "/x", (A,), True)
    assert (text.startswith("s3:"), text.startswith("s3://a"), text.startswith("http")) == (True, None, False)
    assert (text.endswith("/x"), text.endswith("a/x"), text.endswith("/y")) == (True, None, False)
    assert (text.matches("s3://*/x"), text.matches("*/y"), text.matches("s3://a*")) == (True, False, None)
    assert not Text((A, UNKNOWN)).known
    assert (Text((A, "x")).prefix, Text(("x", A)).suffix) == ("", "")


def test_values_are_shown_as_json() -> None:
    value: Value = {"a": (A, Reference(A.resource, "Arn"), UNKNOWN), "b": Text(("x", UNKNOWN)), "c": Either((1, ABSENT))}
    assert shown(value) == {"a": ["${A}", "${A.Arn}", "${?}"], "b": "x${?}", "c": {"either": [1, None]}}
    assert not is_known(value)
    assert is_known({"a": (A, Text(("x", A)))})


@pytest.mark.parametrize(
    ("pattern", "text", "answer"),
    [
        (("abc",), ("abc",), True),
        (("a*c",), ("abbc",), True),
        (("a?c",), ("abbc",), False),
        (("a.c",), ("abc",), False),
        (("*",), (UNKNOWN,), True),
        (("a*",), ("a", UNKNOWN), True),
        (("a*",), (UNKNOWN,), None),
        (("a*",), ("b", UNKNOWN), False),
        (("a", UNKNOWN), ("abc",), None),
        (("a", UNKNOWN), ("b",), False),
        (("a", UNKNOWN), ("a",), None),
        ((A, "/*"), (A, "/key"), True),
        ((A, "/*"), (B, "/key"), False),
        ((A, "/*"), ("name/key",), None),
        ((A, "/*"), ("name",), False),
        (("name/*",), (A, "/key"), None),
        (("*/key",), (A, "/key"), True),
        (("*/key",), (A, "/other"), False),
        ((A,), (A,), True),
        ((A, "*"), (A,), True),
        ((A,), (A, "x"), False),
        (("a?",), ("a", A), None),
        ((A, "x"), (A, "y"), False),
        ((UNKNOWN, A, "x"), (UNKNOWN, A, "y"), False),
    ],
)
def test_patterns_against_partly_known_text(pattern: tuple[object, ...], text: tuple[object, ...], answer: bool | None) -> None:
    assert matches(pattern, text) is answer


TOKENS = st.sampled_from(("a", "b", A, B, UNKNOWN))
FILLED: list[Mapping[object, str]] = [{A: a, B: b} for a, b in (("a", "b"), ("b", "a"), ("cc", "dd"))]


def filled(parts: list[object], named: Mapping[object, str]) -> list[str]:
    """The texts that some parts may be."""
    choices = [("", "a", "bb") if part is UNKNOWN else (named.get(part, part),) for part in parts]
    return ["".join(map(str, chosen)) for chosen in product(*choices)]


@settings(deadline=None, database=None, suppress_health_check=[HealthCheck.too_slow])
@given(st.lists(TOKENS | st.sampled_from("*?"), max_size=5), st.lists(TOKENS, max_size=5))
def test_answers_hold_for_every_text_of_the_parts(pattern: list[object], text: list[object]) -> None:
    answer = matches(pattern, text)
    pairs = [pair for named in FILLED for pair in product(filled(pattern, named), filled(text, named))]
    # What a part stands for is no wildcard, and none of these texts has one.
    found = {fnmatchcase(whole, mask) for mask, whole in pairs}
    assert answer is None or found == {answer}


@pytest.mark.parametrize(
    ("value", "items"),
    [
        (A, (A,)),
        (Text((A, ", ", B)), (A, B)),
        (Text(("one,", A, "-two,three")), ("one", Text((A, "-two")), "three")),
        ("", ()),
        ((A, B), (A, B)),
    ],
)
def test_a_text_with_commas_is_a_list_where_a_parameter_takes_one(value: Value, items: Value) -> None:
    for kind in ("CommaDelimitedList", "List<AWS::EC2::Subnet::Id>"):
        assert parameter_value({"Type": kind}, value) == items
    assert parameter_value({"Type": "CommaDelimitedList"}, Text((A, UNKNOWN))) is UNKNOWN
