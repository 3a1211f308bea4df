"""Commands in comments, read by one strict reader for every place.

A command stands on a line of its own that begins with `/cf`, outside of code, quotes, HTML comments, struck-out text, lists,
headings and whatever a mail program carried along. `stop` is read leniently, because a stop that is overlooked costs more than
one too many: it also counts in a list or heading, and whatever follows it. All others are carried out as written or not at all.
"""

from collections.abc import Iterator, Mapping, Sequence
from datetime import timedelta

from bot.model.command import NAMES, Command, options_of, words_of
from bot.notation.duration import DurationError, read_duration
from bot.notation.own_words import own_lines, said_in
from bot.notation.quoting import quote_line
from bot.notation.text import CODE, STRUCK, Kind, Line

_DASHES = ("\u2013", "\u2014")  # what phones make of two hyphens
_LONGEST_NAME = 30
_SHOWN = 60
_SHORTEST, _LONGEST = timedelta(minutes=1), timedelta(minutes=350)  # as the configuration allows


def read_commands(body: str | None, prefix: str = "cf") -> tuple[Command, ...]:
    """Every command of a comment, in order; one that cannot be carried out says why in `problem`. Linear in the text."""
    if not body or f"/{prefix}".casefold() not in body.casefold():
        return ()
    lines = own_lines(body)
    found = [(at, words) for at, line in enumerate(lines) if (words := _order(line, prefix)) is not None]
    ends = [*(at for at, _ in found[1:]), len(lines)]
    return tuple(_read(words, lines[at:end], prefix) for (at, words), end in zip(found, ends, strict=False))


def is_order(line: str, prefix: str = "cf") -> bool:
    """Whether a line, stripped of its Markdown marks, is addressed to us, be it a command or not."""
    words = line.split(None, 1)
    return bool(words) and words[0].casefold() == f"/{prefix}".casefold()


def _order(line: Line, prefix: str) -> list[str] | None:
    """The words behind `/cf`: the name and the rest, as far as there are any; None if the line is no order."""
    if not line.live or not is_order(line.text, prefix):
        return None
    words = line.text.split(None, 2)[1:]
    # What stands right above a signature's `--` is a heading to Markdown, and plain words to its author.
    marked = line.kind is Kind.HEADING and line.raw.lstrip().startswith("#")
    plain = line.kind in (Kind.TEXT, Kind.HEADING) and not marked and line.depth == 0
    return words if plain or (words and _is_stop(words[0])) else None


def _is_stop(word: str) -> bool:
    name, rest = word[:4].casefold(), word[4:5]
    return name == "stop" and not (rest.isalnum() or rest == "_")


def _read(words: Sequence[str], lines: Sequence[Line], prefix: str) -> Command:
    if not words:
        return Command("", problem=f"it names no command; `/{prefix} help` lists them", nearest="help")
    name, rest = words[0].casefold(), words[1] if len(words) > 1 else ""
    if _is_stop(name):
        return Command(
            "stop", options=tuple((flag, "") for flag in _flags(f"{words[0][4:]} {rest}")), text=rest
        )
    if name not in NAMES:
        return _unknown(words[0], rest, prefix)
    if name == "answer":
        text = "\n".join(_answer(lines))
        return Command(name, text=text, problem="" if text else "it holds no answer")
    return _strict(name, rest, prefix)


def _flags(rest: str) -> Iterator[str]:
    """The flags of `stop` that stand anywhere behind it."""
    said = {_dashed(word).rstrip(".,;:!?").casefold() for word in rest.split()}
    return (flag for flag in options_of("stop") if f"--{flag}" in said)


def _dashed(word: str) -> str:
    return f"--{word[1:]}" if word.startswith(_DASHES) else word


def _unknown(word: str, rest: str, prefix: str) -> Command:
    from difflib import get_close_matches  # only a mistake needs it

    name = word[:_LONGEST_NAME].casefold()
    nearest = next(iter(get_close_matches(name.strip(".,;:!?"), NAMES, 1)), "")
    guess = f"did you mean `/{prefix} {nearest}`?" if nearest else f"`/{prefix} help` lists them all"
    return Command(name, text=rest, problem=f"{_show(word)} is no command; {guess}", nearest=nearest)


def _answer(lines: Sequence[Line]) -> Iterator[str]:
    """What stands behind the two words `/cf answer`, up to the next command."""
    first = True
    for said in said_in("\n".join(line.raw for line in lines)):
        if first:
            words = said.words.split(None, 2)[2:]
            yield from words
        else:
            yield said.words
        first = False


def _strict(name: str, rest: str, prefix: str) -> Command:
    """A command that is carried out as written or not at all."""
    known = options_of(name)
    arguments: list[str] = []
    options: list[tuple[str, str]] = []
    taken: set[str] = set()
    problems: list[str] = []
    waiting = [_dashed(word) for word in _words(rest)][::-1]
    while waiting:
        word = waiting.pop()
        if not word.startswith("--"):
            arguments.append(word)
            continue
        option, equals, value = word[2:].partition("=")
        option = option.casefold()
        if option not in known:
            problems.append(_no_option(name, word, known))
            continue
        if known[option] and not equals:
            value = waiting.pop() if waiting and not waiting[-1].startswith("--") else ""
        problems += _misused(option, value, known[option], taken)
        options.append((option, value))
        taken.add(option)
    if arguments and not words_of(name):
        said = " ".join(arguments)
        problems.append(f"nothing may follow `/{prefix} {name}` but its options, and there is {_show(said)}")
    return Command(name, tuple(arguments), tuple(options), rest, "; ".join(problems))


def _words(rest: str) -> Iterator[str]:
    """Words parted by blanks; what stands in double quotes stays together: `label:"good first issue"`."""
    word: list[str] = []
    inside = False
    for letter in f"{rest} ":
        if letter == '"':
            inside = not inside
        elif letter.isspace() and not inside:
            if word:
                yield "".join(word)
            word.clear()
        else:
            word.append(letter)
    if word:
        yield "".join(word).rstrip()


def _no_option(name: str, word: str, known: Mapping[str, str]) -> str:
    names = ", ".join(f"`--{option}`" for option in known)
    return f"{_show(word)} is no option of {name}; it has {names or 'none'}"


def _misused(option: str, value: str, wanted: str, taken: set[str]) -> Iterator[str]:
    if option in taken:
        yield f"`--{option}` stands there twice"
    if wanted and not value:
        yield f"`--{option}` needs a value: `--{option} {wanted}`"
    if not wanted and value:
        yield f"`--{option}` takes no value"
    if value and (CODE in value or STRUCK in value):
        yield f"the value of `--{option}` must stand there plainly, not as code"
    elif option == "timeout" and value:
        try:
            if not _SHORTEST <= read_duration(value) <= _LONGEST:
                yield "`--timeout` must be from 1m to 350m"
        except DurationError as error:
            yield f"`--timeout`: {quote_line(str(error))}"


def _show(word: str) -> str:
    """Words of the comment inside a problem: short, harmless, and without the marks that stand for code."""
    plain = quote_line(
        word.replace(CODE, "code").replace(STRUCK, "struck-out text").replace("`", "'"), _SHOWN
    )
    return f"`{plain}`"
