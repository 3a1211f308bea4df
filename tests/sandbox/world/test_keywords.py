"""Words that close an issue."""

import pytest

from bot.sandbox.world.keywords import closed_by


@pytest.mark.parametrize(
    ("text", "numbers"),
    [
        ("Closes #1", (1,)),
        ("fixed: #2, resolves acme/shop#3 and CLOSE ACME/SHOP#4", (2, 3, 4)),
        ("closes https://github.com/acme/shop/issues/5", (5,)),
        ("closes other/place#6", ()),
        ("encloses #7, prefixes#8, closes#9, closes #10th", ()),
        ("`closes #11` and <!-- closes #12 -->\n```\ncloses #13\n```", ()),
        ("closes #14 closes #14", (14,)),
        ("closes #15, #16", (15,)),
    ],
)
def test_closing_keywords(text, numbers):
    assert closed_by(text, "acme/shop") == numbers
