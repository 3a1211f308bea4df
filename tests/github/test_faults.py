"""What GitHub says of an error, in our own few words."""

from bot.github.faults import clean


def test_words_of_githubs_are_one_short_line():
    assert clean("a\x1b[31m\nb\u2028c") == "a [31m b c"
    assert len(clean("x" * 1000)) == 300
