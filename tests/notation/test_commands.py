"""What is a command in a comment, and what merely looks like one."""

import unicodedata

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from bot.model.command import COMMANDS, NAMES, STARTING, Command
from bot.notation.commands import read_commands
from bot.notation.quoting import code_block, quote, quote_line
from tests.growth import growth


def names(body, prefix="cf"):
    return [command.name for command in read_commands(body, prefix)]


def only(body):
    (command,) = read_commands(body)
    return command


@pytest.mark.parametrize(
    "body",
    [
        "/cf stop because the schema is wrong",
        "/CF Stop.",
        "  /cf stop",
        "/cf STOP!",
        "/cf stop, please",
        "/cf stop: wrong issue",
        "/cf stop --now",
        "/cf stop `--engine x`",
        "/cf\tstop",
        "/cf\u00a0stop",
        "- /cf stop",
        "1. /cf stop",
        "# /cf stop",
        "I quote:\n> /cf run\n/cf stop",
    ],
)
def test_cmd_07_stop_always_stops(body):
    assert names(body) == ["stop"]
    assert only(body).problem == ""


@pytest.mark.parametrize(
    ("body", "flags"),
    [
        ("/cf stop --force", ["force"]),
        ("/cf stop --FORCE.", ["force"]),
        ("/cf stop now, --all and \u2014force", ["force", "all"]),
        ("/cf stop --forced", []),
        ("/cf stop force", []),
    ],
)
def test_flags_of_stop_count_anywhere_behind_it(body, flags):
    assert [name for name, _ in only(body).options] == flags


@pytest.mark.parametrize("name", sorted(STARTING - {"approve"}))
def test_cmd_07_words_behind_a_starting_command_are_a_problem(name):
    said = only(f"/cf {name} please")
    assert said.name == name
    assert "`please`" in said.problem


def test_cmd_09_separators():
    """A line end, a tab and two blanks part words; what follows on the next line is no argument."""
    assert only("/cf run\nplease") == Command("run")
    assert only("/cf run\r\nplease") == Command("run")
    assert only("/cf run\rplease") == Command("run")
    assert only("/cf  run") == Command("run")
    numbered = only("/cf run\t#5")
    assert (numbered.name, numbered.arguments) == ("run", ("#5",))


@pytest.mark.parametrize(
    "body",
    [
        "> /cf run",
        "use `/cf run` to start",
        "`/cf run`",
        "```\n/cf run\n```",
        "```\n/cf run",
        "~~~ text\n/cf run\n~~~",
        "````\n```\n/cf run\n````",
        "- ```\n  /cf run\n  ```",
        "    /cf run",
        "\t/cf run",
        "<!-- /cf run -->",
        "<!--\n/cf run\n-->",
        "<!--\n\n/cf run",
        "text <!--\n/cf run",
        "<pre>\n/cf run\n</pre>",
        "<blockquote>\n/cf run\n</blockquote>",
        "~~/cf run~~",
        "~~so\n/cf run\nthen~~",
        "<del>\n/cf run\n</del>",
        ">> /cf run\n> > /cf run",
        "- /cf run",
        "* [ ] /cf run",
        "## /cf run",
        "please /cf run",
        "**/cf run**",
        "\\/cf run",
        "&#47;cf run",
        "/cfrun",
        "/cf-run",
        "cf run",
        "/ cf run",
        "https://example.com/cf run",
        "",
        None,
    ],
)
def test_cmd_02_quoted_and_code_text_holds_no_command(body):
    assert read_commands(body) == ()


def test_options_have_values_and_flags_have_none():
    said = only("/cf run --engine codex --model=gpt-5 --timeout 30m --dry-run")
    assert said.problem == ""
    assert said.options == (("engine", "codex"), ("model", "gpt-5"), ("timeout", "30m"), ("dry-run", ""))
    assert (said.value("engine"), said.has("dry-run"), said.value("colour")) == ("codex", True, "")


@pytest.mark.parametrize(
    ("body", "problem"),
    [
        (
            "/cf run --engin codex",
            "`--engin` is no option of run; it has `--engine`, `--model`, `--timeout`, `--dry-run`",
        ),
        ("/cf run --engine", "`--engine` needs a value: `--engine NAME`"),
        ("/cf run --engine --dry-run", "`--engine` needs a value"),
        ("/cf run --engine a --engine b", "`--engine` stands there twice"),
        ("/cf run --dry-run=yes", "`--dry-run` takes no value"),
        ("/cf run --timeout soon", "`--timeout`: 'soon' is no duration; write a duration with units"),
        ("/cf run --timeout 30s", "`--timeout` must be from 1m to 350m"),
        ("/cf run --timeout 7h", "`--timeout` must be from 1m to 350m"),
        ("/cf run --engine `rm -rf`", "the value of `--engine` must stand there plainly"),
        ("/cf run `--dry-run`", "there is `code`"),
        ("/cf retry --force", "`--force` is no option of retry; it has none"),
        ("/cf answer", "it holds no answer"),
        ("/cf", "it names no command; `/cf help` lists them"),
        ("/cf rnu", "`rnu` is no command; did you mean `/cf run`?"),
        ("/cf run.", "`run.` is no command; did you mean `/cf run`?"),
        ("/cf stopp", "did you mean `/cf stop`?"),
        ("/cf frobnicate", "`frobnicate` is no command; `/cf help` lists them all"),
        ("/cf <!--run", "it names no command"),
    ],
)
def test_what_cannot_be_carried_out_says_why(body, problem):
    assert problem in only(body).problem


def test_an_answer_is_all_that_follows_up_to_the_next_command():
    first, second = read_commands("hm\n/cf answer use sqlite\n```\nPRAGMA x;\n```\n> no\n\n/cf status")
    assert first == Command("answer", text="use sqlite\n```\nPRAGMA x;\n```")
    assert second.name == "status"
    assert only("/cf answer\nuse sqlite").text == "use sqlite"


def test_commands_stand_in_the_order_written():
    assert names("/cf approve\nwords\n/cf run\r\n/cf stop") == ["approve", "run", "stop"]


def test_the_configured_prefix_is_the_word_to_use():
    assert names("/bot run\n/cf run", "bot") == ["run"]
    assert "`/bot help` lists them" in read_commands("/bot", "bot")[0].problem


def test_two_words_in_quotes_are_one_argument():
    said = only('/cf approve label:"good first issue" except 3, #4')
    assert (said.arguments, said.problem) == (("label:good first issue", "except", "3,", "#4"), "")


def test_words_of_the_comment_in_a_problem_are_harmless():
    said = only("/cf <img/src=x>@wendy`<!--")
    assert "<img" not in said.problem
    assert "@wendy" not in said.problem
    assert "`<!" not in said.problem


PIECES = ["/cf", "/cf run", "/cf stop", " ", "\n", "\r\n", "\t", "`", "```", "~~", "~~~", ">", "- ", "<!--", "-->", "--", '"',
          "<pre>", "answer", "On 2 Mar <a@b.c> wrote:", "From: a\nTo: b\nSent: c", "\u200b", "\ufffc", "x", "=", "#5"]  # fmt: skip


@given(st.lists(st.sampled_from(PIECES), max_size=25).map("".join))
@example("/cf stop\n/cf run")
def test_quoting_takes_every_command_away(body):
    """Whatever is in a comment: quoted, as code or on one line in a list, it orders nothing."""
    assert read_commands(quote(body)) == ()
    assert read_commands(code_block(body)) == ()
    assert read_commands(f"| {quote_line(body)} |") == ()


@given(st.lists(st.sampled_from(PIECES), max_size=25).map("".join))
@example("/cf /cf\u200b/cf")
def test_a_command_is_always_visible_in_the_text(body):
    """Nothing is ordered that people do not see there, and what cannot be carried out has words for it."""
    seen = "".join(char for char in body if unicodedata.category(char) != "Cf").casefold()
    for command in read_commands(body):
        assert command.name in seen
        assert (command.name in NAMES) or command.problem


SIZE = 8_000


@pytest.mark.parametrize(
    "unit",
    ["/cf run\n", "/cf answer x\n", "/cf answer `\n", '/cf approve "', "/cf x", "On 2 Mar a\n", "<a@b>1:\n",
     "On 2 Mar <a@b> wrote:\n> a\n\n", "From: a\n", "/cf stop --force ", "/cf run --engine ", "> /cf stop\n", "/cf ~~", "-- \n", "on 1 @<", "***@***"],
)  # fmt: skip
def test_reading_takes_time_in_proportion_to_the_text(unit):
    """Four times the text is about four times the work; if work grew with the square, it would be sixteen times."""
    small, large = (f"/cf status\n{unit * (size // len(unit))}" for size in (SIZE, 4 * SIZE))

    assert growth(lambda: read_commands(small), lambda: read_commands(large)) < 8


def test_thousands_of_options_are_one_problem():
    (command,) = read_commands("/cf run" + " --engine a" * 5_000)
    assert "`--engine` stands there twice" in command.problem


def test_the_table_is_whole():
    """Each command stands once at each place, and starting ones say from where."""
    rows = [(row.name, row.place) for row in COMMANDS]
    assert len(rows) == len(set(rows))
    assert set(NAMES) >= STARTING
    assert COMMANDS[0].usage("cf") == "/cf run [--engine NAME] [--model NAME] [--timeout 30m] [--dry-run]"


def test_an_unknown_command_has_the_nearest_name_and_is_shown_cut():
    (command,) = read_commands(f"/cf stattus {'x' * 9}")
    assert (command.name, command.nearest, command.text) == ("stattus", "status", "x" * 9)
    assert command.problem == "`stattus` is no command; did you mean `/cf status`?"
    (command,) = read_commands(f"/cf {'y' * 80}")
    assert command.problem == f"`{'y' * 60} … (cut)` is no command; `/cf help` lists them all"
    assert (command.name, command.nearest) == ("y" * 30, "")
