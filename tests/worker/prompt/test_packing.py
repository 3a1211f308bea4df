"""Packing within a budget: what is cut, where, and what is named instead."""

from bot.worker.prompt.packing import Cut, Packer, Part, Piece, bounded


def test_a_part_without_room_is_named_instead():
    packer = Packer(10)

    assert packer.add(Part("a", "comments", [Piece("x" * 99)], 100, 100)) == ""
    assert packer.left_out == ["the comments"]


def test_a_log_keeps_its_end_and_a_text_its_beginning():
    assert bounded("abcdef" * 40, 40) == ("abcdef" * 16 + "\n\n(the rest is left out)", True)
    assert bounded("abcdef" * 40, 40, Cut.BEGINNING)[0].endswith("f")
    assert bounded("short", 2) == ("short", False)
