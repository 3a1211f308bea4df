"""Markdown of people, as the pages show it."""

import pytest

from bot.sandbox.http.pages.markdown import to_html


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("seen <!-- cf:record 1 {} --> seen", "<p>seen  seen</p>\n"),
        ("<!-- hidden -->", ""),
        (
            "<details><summary>more</summary>\n\nfolded\n\n</details>",
            "<details><summary>more</summary>\n<p>folded</p>\n</details>",
        ),
        ("see #12 and a#13", '<p>see <a href="/acme/shop/issues/12">#12</a> and a#13</p>\n'),
        ("`#12 <b>`", "<p><code>#12 &lt;b&gt;</code></p>\n"),
        ('![a](http://x/"y)', None),
    ],
)
def test_markdown(text, shown):
    rendered = to_html(text, "acme/shop")
    if shown is None:
        assert "<img" not in rendered
    else:
        assert rendered == shown
