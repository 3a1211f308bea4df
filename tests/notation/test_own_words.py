"""What the author of a comment says, and what a mail program carried along."""

import pytest

from bot.notation.commands import read_commands
from bot.notation.own_words import Said, own_lines, said_in


def names(body, prefix="cf"):
    return [command.name for command in read_commands(body, prefix)]


MAILS = {
    "gmail": "On Mon, Mar 2, 2026 at 12:00 PM Wendy ***@***.***> wrote:\n\n{old}",
    "gmail broken in two": "On Mon, Mar 2, 2026 at 12:00 PM Wendy Writer\n<wendy@example.com> wrote:\n{old}",
    "without an address": "On 2 March 2026, Wendy wrote:\n{old}",
    "german": "Am 02.03.2026 um 12:00 schrieb Wendy <wendy@example.com>:\n{old}",
    "french": "Le lun. 2 mars 2026 à 12:00, Wendy <wendy@example.com> a écrit :\n{old}",
    "dated address": "2026-03-02 12:00 GMT+01:00 Wendy <wendy@example.com>:\n{old}",
    "outlook": "From: Wendy <wendy@example.com>\nSent: Monday\nTo: acme/shop\nSubject: Re: it\n\n{old}",
    "outlook in bold": "**From:** Wendy\n**Sent:** Monday\n**To:** acme/shop\n\n{old}",
    "outlook in german": "Von: Wendy\nGesendet: Montag\nAn: acme/shop\nBetreff: AW: it\n\n{old}",
    "original message": "-----Original Message-----\n{old}",
    "forwarded": "---------- Forwarded message ---------\n{old}",
    "signature": "-- \n{old}",
    "signature that lost its blank": "--\n{old}",
    "phone": "Sent from my iPhone\n\n{old}",
    "outlook for phones": "Get Outlook for iOS\n{old}",
    "our own footer": "Reply to this email directly, view it on GitHub\n{old}",
}


@pytest.mark.parametrize("mail", MAILS)
def test_a_mail_acts_only_by_its_new_text(mail):
    """Whatever a mail program carries along is somebody else's, or old."""
    carried = MAILS[mail].format(old="/cf run\n\n/cf retry\n/cf stop")
    assert names(carried) == []
    assert names(f"/cf status\n\n{carried}") == ["status"]
    assert names(f"/cf status\n{carried}") == ["status"]


def test_words_below_a_marked_quote_are_new():
    """Who answers at the end of a mail is heard; a quoted line that was broken in two is still quoted."""
    head = "On 2 March 2026, Wendy wrote:\n> please\n> use the command\n"
    assert names(f"{head}\n/cf stop") == ["stop"]
    assert names(f"{head}/cf run\n\n/cf stop") == ["stop"]


@pytest.mark.parametrize(
    "body",
    [
        "On reflection, as Bob wrote:\n/cf stop",
        "From: here\nto there\n/cf stop",
        "Sent the wrong file\n/cf stop",
        "a -- b\n/cf stop",
        "---\n/cf stop",
        "```\n-- a comment in SQL\n-- \n```\n/cf stop",
        "@bob, three things:\n/cf stop",
        "On line 3 I would not\n/cf stop\nas bob wrote:",
    ],
)
def test_what_only_looks_like_mail_hides_nothing(body):
    assert names(body) == ["stop"]


def test_inert_lines_are_still_among_ones_own():
    """Whoever reads them tells code and quotes from words; only what came with the mail is gone."""
    body = "```\ncode\n```\n> quoted\n\nwords\n-- \nWendy"
    assert [line.raw for line in own_lines(body)] == ["```", "code", "```", "> quoted", "", "words"]


def test_what_is_said_keeps_code_and_drops_quotes_and_what_was_struck_out():
    body = "- use `pip`\n> or poetry?\n~~not this~~ but that\n```\nmake\n```\n\nSent from my iPhone\n/cf stop"
    assert [said.words for said in said_in(body) if said.words] == [
        "- use `pip`",
        "but that",
        "```",
        "make",
        "```",
    ]
    assert Said("make", "make", in_code=True) in list(said_in(body))


def test_a_line_that_is_too_long_is_no_footer_and_no_attribution():
    long = f"Sent from my {'x' * 300}"
    assert [line.raw for line in own_lines(f"A\n{long}\nB")] == ["A", long, "B"]
    short = f"Sent from my {'x' * 200}"
    assert [line.raw for line in own_lines(f"A\n{short}\nB")] == ["A"]
    wrote = f"On 2 March {'x' * 300} wrote:"
    assert [line.raw for line in own_lines(f"A\n{wrote}\n> q")] == ["A", wrote, "> q"]


def test_a_quote_ends_with_the_first_unmarked_line_behind_a_blank_one():
    mail = "On 2 March wendy wrote:\n> one\nbroken off\n\n> two\n\nMine\n"
    assert [line.raw for line in own_lines(mail)] == ["Mine", ""]
    assert own_lines("On 2 March wendy wrote:\n\n> one\nbroken off") == ()
    assert [line.raw for line in own_lines("On 2 March wendy wrote:\n> one\n\nMine")] == ["Mine"]


def test_struck_out_words_and_code_beside_them_are_taken_back():
    assert [line.words for line in said_in("A ~~B~~ `C` D")] == ["A   D"]
