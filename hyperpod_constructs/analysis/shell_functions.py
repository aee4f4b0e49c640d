"""The own functions of a shell's script: what they run at each call, with the words of the call in the place of their arguments.

Source: https://www.gnu.org/software/bash/manual/bash.html#Shell-Functions
"""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Iterator, Mapping, Sequence

from hyperpod_constructs.analysis.shell_words import ALL_ARGUMENTS, Command, Piece, Variable, Word, assigned_by, plain, unwrapped

_DEEPEST_CALL, _MOST_CALLED = 3, 500
_MOST_WORDS, _MOST_PIECES, _LONGEST_WORD = 200, 50, 4096
"""Most words of a command, and most pieces and characters of a word, in which others stand."""


def called(commands: Sequence[Command]) -> tuple[Command, ...]:
    """The commands with those of the script's own functions at each call, in which their arguments stand.

    Those of a function that no command names stand at the end, with arguments that are not known.
    """
    bodies: dict[str, list[Command]] = {}
    for one in commands:
        bodies.setdefault(one.function, []).append(one)
    outside = bodies.pop("", [])
    named = {one.name for one in commands}
    found = list(itertools.islice(_called(outside, bodies, 0), _MOST_CALLED + len(outside)))
    named.update(one.name for one in found)
    return (*found, *(one for name, some in bodies.items() if name not in named for one in some))


def _called(commands: Iterable[Command], bodies: Mapping[str, Sequence[Command]], depth: int) -> Iterator[Command]:
    for one in commands:
        yield one
        if one.name in bodies and depth < _DEEPEST_CALL:
            yield from _called(_filled(bodies[one.name], one), bodies, depth + 1)


def _filled(body: Sequence[Command], call: Command) -> Iterator[Command]:
    """The commands of a function for a call, with its words, and those of its own variables, in the place of these."""
    given = _known(call.arguments)
    own: dict[str, Word] = {}
    for one in body:
        words = {**own, **_numbered(given)}
        lacking: Word = (None,) if (None,) in given else ()
        filled = one._replace(
            words=unwrapped([part for word in one.words for part in _parts(word, words, lacking, given)][:_MOST_WORDS]),
            given=tuple((name, _with(word, words, lacking)) for name, word in one.given),
            redirected=tuple(place._replace(place=_with(place.place, words, lacking)) for place in one.redirected),
            line=call.line,
            alone=call.alone and one.steady,
            guarded=call.guarded or one.guarded,
        )
        yield filled
        given = _moved(given, one)
        for name, word in assigned_by(filled):
            own[name] = (None,) if name in own else word


def _known(arguments: Sequence[Word]) -> tuple[Word, ...]:
    """The arguments up to the first that only the run knows, which may be any number of words."""
    known = next((place for place, word in enumerate(arguments) if any(map(_is_open, word))), len(arguments))
    return (*arguments[:known], *(((None,),) if known < len(arguments) else ()))


def _is_open(piece: Piece) -> bool:
    """Whether a part of a word may be several words."""
    return piece is None or (isinstance(piece, Variable) and piece.name in ALL_ARGUMENTS)


def _numbered(given: Sequence[Word]) -> dict[str, Word]:
    found = {str(place): word for place, word in enumerate(given, 1) if word != (None,)}
    return {**found, **dict.fromkeys(ALL_ARGUMENTS, (None,))}


def _moved(given: tuple[Word, ...], command: Command) -> tuple[Word, ...]:
    """The arguments behind `shift` and `set`."""
    if command.name == "set" and any(not plain(word).startswith(("-", "+")) or plain(word) == "--" for word in command.arguments):
        return ((None,),)
    if command.name != "shift":
        return given
    count = plain(command.arguments[0]) if command.arguments else "1"
    return given[int(count) :] if command.steady and count.isdigit() and len(count) < 3 and (None,) not in given else ((None,),)


def _parts(word: Word, words: Mapping[str, Word], lacking: Word, given: Sequence[Word]) -> Iterable[Word]:
    """A word with others in the place of its variables, or all arguments."""
    is_all = len(word) == 1 and isinstance(word[0], Variable) and word[0].own and word[0].name in ALL_ARGUMENTS
    return given if is_all else (_with(word, words, lacking),)


def _with(word: Word, words: Mapping[str, Word], lacking: Word) -> Word:
    """A word with others in the place of its variables.

    :param lacking: what stands for an argument that a call does not give.
    """
    found: list[Piece] = []
    for one in word:
        other = words.get(one.name, lacking if one.own else None) if isinstance(one, Variable) else None
        if not isinstance(one, Variable) or other is None:
            found.append(one)
        else:
            found += (None,) if one.changed or (not one.plain and not other) else other
    is_short = len(found) <= _MOST_PIECES and sum(len(one) for one in found if isinstance(one, str)) <= _LONGEST_WORD
    return tuple(found) if is_short or word == tuple(found) else (None,)
